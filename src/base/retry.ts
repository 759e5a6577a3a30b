import type { Clock } from "./time.ts";

export interface RetryOptions {
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
  /** No attempt begins later than this after the first one. */
  readonly withinMs: number;
  /** The wait after the first failure; it doubles each time. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Returns whether another attempt may succeed. */
  readonly isPassing: (error: unknown) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Repeats `work` while its errors pass. @throws the error of the last attempt */
export async function retrying<Result>(work: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { clock, withinMs, firstMs, longestMs, isPassing, signal } = options;
  const deadlineMs = clock.monotonicMs() + withinMs;
  for (let waitMs = firstMs; ; waitMs = Math.min(2 * waitMs, longestMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || signal?.aborted === true || clock.monotonicMs() + waitMs > deadlineMs) throw error;
    }
    await clock.sleep(waitMs, signal);
  }
}
