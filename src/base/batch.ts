import { FlatlineError } from "./errors.ts";
import { eventLoopTurn } from "./time.ts";

interface Waiting<Request, Answer> {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

// Hundreds of requests already share the cost of an fsync: more of them save next to nothing.
const largestGroup = 512;

/**
 * Creates a function whose calls share their work: what is asked for while a group runs is the next group. A transaction waits
 * for the disk, and with a hundred requests in it costs hardly more than with one. When a group fails, each request of it is
 * tried on its own, so that none is lost by another's fault, unless the store failed. `run` does all of a group or none, and returns
 * the answer of each, in order; two requests of one key are never in one group; `gather` is awaited before one is taken, for more to
 * join it: those that arrived in the same turn as the first one may not have been read yet.
 */
export function createBatch<Request, Answer>(
  run: (requests: readonly Request[]) => Promise<readonly Answer[]>,
  keyOf: (request: Request) => string,
  gather: () => Promise<void> = eventLoopTurn,
): (request: Request) => Promise<Answer> {
  const queue: Waiting<Request, Answer>[] = [];
  let isRunning = false;

  /** The longest front of the queue without a key twice. */
  function takeGroup(): Waiting<Request, Answer>[] {
    const keys = new Set<string>();
    const end = queue.findIndex(({ request }) => {
      const size = keys.size;
      return size === largestGroup || keys.add(keyOf(request)).size === size;
    });
    return queue.splice(0, end === -1 ? queue.length : end);
  }

  async function runGroup(group: readonly Waiting<Request, Answer>[]): Promise<void> {
    let answers: readonly Answer[];
    try {
      answers = await run(group.map(({ request }) => request));
    } catch (error) {
      if (group.length === 1 || isOfStore(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      for (const one of group) await runGroup([one]);
      return;
    }
    for (const [index, { resolve, reject }] of group.entries()) {
      const answer = answers[index];
      if (answer === undefined) reject(new FlatlineError("internal", "a group was answered in part"));
      else resolve(answer);
    }
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) {
      await gather();
      await runGroup(takeGroup());
    }
    isRunning = false;
  }

  return (request) =>
    new Promise((resolve, reject) => {
      queue.push({ request, resolve, reject });
      if (!isRunning) void runAll();
    });
}

/** Returns whether the store cannot be used or is busy: then no single request is at fault. */
export function isOfStore(error: unknown): boolean {
  return error instanceof FlatlineError && (error.code.startsWith("store_") || error.code === "unavailable");
}
