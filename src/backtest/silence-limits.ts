import { autoSilenceMs, silenceDaysMs, unnoticedGapMs, type EventFlowLimits } from "../checks/event-flow/evaluate.ts";

/** How long a recorded stream may be silent, at one instant after the other; instants must ascend. */
export class SilenceLimits {
  readonly #firstMs: number;
  /** The gaps that the limit may depend on, in the order of time. */
  readonly #gaps: readonly { readonly fromMs: number; readonly toMs: number }[];
  #passed = 0;

  constructor(seenAtMs: Float64Array) {
    this.#firstMs = seenAtMs[0] ?? Number.POSITIVE_INFINITY;
    const gaps = [];
    for (let index = 1; index < seenAtMs.length; index++) {
      const [fromMs = 0, toMs = 0] = seenAtMs.subarray(index - 1, index + 1);
      if (toMs - fromMs > unnoticedGapMs) gaps.push({ fromMs, toMs });
    }
    this.#gaps = gaps;
  }

  /** Milliseconds, as the daemon would have taken them then (checks/event-flow/silence-limit.ts). */
  at(nowMs: number, maxSilenceMs: EventFlowLimits["maxSilenceMs"]): number {
    if (maxSilenceMs !== "auto") return maxSilenceMs;
    const afterMs = nowMs - silenceDaysMs;
    if (this.#firstMs > afterMs) return autoSilenceMs(null);
    while ((this.#gaps[this.#passed]?.toMs ?? Number.POSITIVE_INFINITY) <= afterMs) this.#passed++;
    let longestMs = 0;
    for (let index = this.#passed; (this.#gaps[index]?.toMs ?? Number.POSITIVE_INFINITY) <= nowMs; index++) {
      const { fromMs, toMs } = this.#gaps[index] ?? { fromMs: nowMs, toMs: nowMs };
      longestMs = Math.max(longestMs, toMs - Math.max(fromMs, afterMs));
    }
    return autoSilenceMs(longestMs);
  }
}
