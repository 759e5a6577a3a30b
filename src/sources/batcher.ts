import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";

export interface BatcherOptions<Item, Answer> {
  /** Returns the answers of all items, in their order; an error among the answers fails only its own item. */
  readonly ask: (items: readonly Item[], signal: AbortSignal) => Promise<readonly (Answer | FlatlineError)[]>;
  readonly clock: Pick<Clock, "sleep" | "timeout">;
  /** How long the first item of a batch waits for others. */
  readonly waitMs: number;
  /** A batch of this size is sent at once. */
  readonly mostItems: number;
  /** Timeout of one batch. */
  readonly timeoutMs: number;
}

/** Collects items that arrive within a short time, and sends one query for them. */
export interface Batcher<Item, Answer> {
  /**
   * Returns the answer for one item.
   * @throws api_timeout or api_network when `signal` aborts; the rest of the batch continues
   */
  ask(item: Item, signal?: AbortSignal): Promise<Answer>;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: FlatlineError) => void;
}

/** Creates a {@link Batcher}; it has no timer while it is idle. */
export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  const { clock, waitMs, mostItems, timeoutMs } = options;
  let collecting: Batch<Item, Answer> | null = null;

  async function run(batch: Batch<Item, Answer>): Promise<void> {
    if (collecting === batch) collecting = null;
    if (batch.waiting.size === 0) return;
    const asked = [...batch.waiting];
    try {
      const answers = await options.ask(
        asked.map(({ item }) => item),
        clock.timeout(timeoutMs, batch.abandoned.signal),
      );
      for (const [index, { resolve, reject }] of asked.entries()) {
        const answer = answers[index];
        if (answer instanceof FlatlineError) reject(answer);
        else if (answer === undefined) reject(new FlatlineError("internal", "a batch has fewer answers than items"));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of asked) reject(asFlatlineError(error));
    }
  }

  function open(): Batch<Item, Answer> {
    const batch: Batch<Item, Answer> = {
      waiting: new Set(),
      abandoned: new AbortController(),
      full: new AbortController(),
    };
    collecting = batch;
    void clock.sleep(waitMs, batch.full.signal).then(() => run(batch));
    return batch;
  }

  return {
    ask: (item, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(stopped(signal));
        const batch = collecting ?? open();
        const leave = (): void => {
          batch.waiting.delete(waiting);
          if (batch.waiting.size === 0) batch.abandoned.abort(signal?.reason);
          if (signal !== undefined) reject(stopped(signal));
        };
        const settle = (): void => {
          batch.waiting.delete(waiting);
          signal?.removeEventListener("abort", leave);
        };
        const waiting: Waiting<Item, Answer> = {
          item,
          resolve: (answer) => {
            settle();
            resolve(answer);
          },
          reject: (error) => {
            settle();
            reject(error);
          },
        };
        batch.waiting.add(waiting);
        signal?.addEventListener("abort", leave, { once: true });
        if (batch.waiting.size < mostItems) return;
        collecting = null;
        batch.full.abort();
      }),
  };
}

interface Batch<Item, Answer> {
  readonly waiting: Set<Waiting<Item, Answer>>;
  /** Aborts when no caller waits for the batch. */
  readonly abandoned: AbortController;
  /** Ends the wait for further items. */
  readonly full: AbortController;
}

/** Creates the error of a call that was aborted. */
export function stopped(signal: AbortSignal): FlatlineError {
  const isTimeout = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return isTimeout
    ? new FlatlineError("api_timeout", "the source did not answer in time", { cause: signal.reason })
    : new FlatlineError("api_network", "the query was cancelled by its caller", {
        cause: signal.reason,
      });
}
