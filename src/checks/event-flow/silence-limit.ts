import type { LivenessStore } from "../../store/events/liveness.ts";
import { autoSilenceMs, silenceDaysMs, unnoticedGapMs, type EventFlowLimits } from "./evaluate.ts";

/** Whose silence is measured, and when. */
export interface SilenceAsk {
  readonly slug: string;
  readonly nowMs: number;
  readonly maxSilenceMs: EventFlowLimits["maxSilenceMs"];
}

export interface SilenceReads {
  readonly liveness: Pick<LivenessStore, "longestGapMs">;
  /** Instant of the organization's first stored event; null without one. */
  readonly firstEventAtMs: (slug: string) => Promise<number | null>;
}

/** Returns how long the organization's stream may be silent at that time, milliseconds. */
export async function silenceLimitMs(
  { slug, nowMs, maxSilenceMs }: SilenceAsk,
  { liveness, firstEventAtMs }: SilenceReads,
): Promise<number> {
  if (maxSilenceMs !== "auto") return maxSilenceMs;
  const afterMs = nowMs - silenceDaysMs;
  const firstMs = await firstEventAtMs(slug);
  if (firstMs === null || firstMs > afterMs) return autoSilenceMs(null);
  return autoSilenceMs(await liveness.longestGapMs(slug, { afterMs, untilMs: nowMs }, unnoticedGapMs));
}
