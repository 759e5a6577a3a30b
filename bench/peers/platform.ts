import { SlidingCounts } from "../../src/backtest/sliding-counts.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { defaultThresholds, evaluateSpike, type SpikeResult } from "../../src/spike/spike.ts";
import { readRecords } from "../detection/records.ts";
import { startServer, type Server } from "./server.ts";

/** The path of the healthcheck on the platform. */
export const healthcheckPath = "/api/v2/healthchecks/assets/dead-asset-spike";

/** API v2's healthcheck, which evaluates with the default thresholds, whatever is asked for; `deathsOf` is null of a slug that it doesn't know. */
export function startPlatform(
  deathsOf: (
    slug: string,
  ) => { readonly nowMs: number; readonly currentCount: number; readonly baselineCount: number } | null,
): Promise<Server> {
  return startServer(({ path, body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    const deaths = path === healthcheckPath ? deathsOf(slug) : null;
    return deaths && { ...evaluateSpike({ slug, ...deaths }), generatedAt: new Date().toISOString() };
  });
}

/** A stretch of the records, epoch ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The platform over recorded events, at a time that moves faster than the clock. */
export interface RecordedPlatform extends Server {
  readonly slugs: readonly string[];
  /** Lets the time run through a stretch and stop at its end. Returns when that will be, epoch ms. */
  play(stretch: Stretch): number;
  /** Returns when the first organization is, or was, not ok in the stretch that is played, epoch ms; NaN: never. */
  brokenAtMs(): number;
}

/** Starts it; the time stands at `startMs` until something is played, and then an hour takes `hourTakesMs`. */
export async function startRecordedPlatform(startMs: number, hourTakesMs: number): Promise<RecordedPlatform> {
  const records = await readRecords();
  const speed = hourMs / hourTakesMs;
  let playing = { fromMs: startMs, toMs: startMs, startedAtMs: Date.now() };
  const newCounters = (): Map<string, SlidingCounts> =>
    new Map(records.map((record) => [record.slug, new SlidingCounts(record, defaultThresholds, "mean")]));
  const counters = newCounters();
  const server = await startPlatform((slug) => {
    const elapsedMs = (Date.now() - playing.startedAtMs) * speed;
    const nowMs = Math.round(Math.min(playing.toMs, playing.fromMs + elapsedMs));
    const counts = counters.get(slug)?.at(nowMs);
    return counts === undefined ? null : { nowMs, ...counts };
  });
  return {
    ...server,
    slugs: records.map(({ slug }) => slug),
    play: (stretch) => {
      playing = { ...stretch, startedAtMs: Date.now() };
      return playing.startedAtMs + (stretch.toMs - stretch.fromMs) / speed;
    },
    brokenAtMs: () => {
      const { fromMs, toMs, startedAtMs } = playing;
      // Counters of their own: those of the answers follow the time.
      const fresh = [...newCounters()];
      const isBroken = (nowMs: number): boolean =>
        fresh.some(([slug, counter]): boolean => !resultOf(slug, nowMs, counter).ok);
      for (let atMs = fromMs; atMs <= toMs; atMs += minuteMs)
        if (isBroken(atMs)) return startedAtMs + (atMs - fromMs) / speed;
      return Number.NaN;
    },
  };
}

function resultOf(slug: string, nowMs: number, counter: SlidingCounts): SpikeResult {
  return evaluateSpike({ slug, nowMs, ...counter.at(nowMs) });
}
