import { FlatlineError } from "../../base/errors.ts";
import type { LivenessStore } from "../../store/events/liveness.ts";
import type { EventReads } from "../event-reads.ts";
import {
  autoSilenceMs,
  isSilent,
  leastAutoSilenceMs,
  silenceDaysMs,
  unnoticedGapMs,
  type EventFlowLimits,
} from "./evaluate.ts";

/** The organization and the instant of a question for its silence. */
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

/** Checks that the stream is not silent. @throws FlatlineError stream_silent when no event of any status came for longer than `maxSilenceMs` */
export async function refuseSilence({ slug, nowMs, maxSilenceMs }: SilenceAsk, events: EventReads): Promise<void> {
  const lastEventAtMs = await events.liveness.lastEventAtMs(slug, nowMs);
  // Most streams are not silent: the limit of `auto` is read for the others only.
  if (!isSilent(lastEventAtMs, nowMs, maxSilenceMs === "auto" ? leastAutoSilenceMs : maxSilenceMs)) return;
  const limitMs = await silenceLimitMs({ slug, nowMs, maxSilenceMs }, events);
  if (!isSilent(lastEventAtMs, nowMs, limitMs)) return;
  const since =
    lastEventAtMs === null
      ? `up to ${new Date(nowMs).toISOString()}`
      : `since ${new Date(lastEventAtMs).toISOString()}`;
  throw new FlatlineError(
    "stream_silent",
    `no liveness event ${since}: without any there are no deaths to count, see whether the liveness checker still runs`,
  );
}
