import { countsAt } from "../../src/backtest/event-record.ts";
import { hourMs } from "../../src/base/time.ts";
import { apiRule } from "../../src/spike/evaluate.ts";
import { defaultThresholds, evaluateSpike } from "../../src/spike/spike.ts";
import { readRecords } from "../detection/records.ts";
import { startServer, type Server } from "./server.ts";

/** The path of the healthcheck on the platform. */
export const healthcheckPath = "/api/v2/healthchecks/assets/dead-asset-spike";

/** A stretch of the records, epoch ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The healthcheck of API v2 over recorded events, at a time faster than the clock, with the default thresholds. */
export interface RecordedPlatform extends Server {
  readonly slugs: readonly string[];
  /** Lets the time run through a stretch and stop at its end. Returns when an instant of it comes, epoch ms. */
  play(stretch: Stretch): (atMs: number) => number;
}

/** Starts it; the time stands at `startMs` until something is played, and then an hour takes `hourTakesMs`. */
export async function startPlatform(startMs: number, hourTakesMs: number): Promise<RecordedPlatform> {
  const records = await readRecords();
  const speed = hourMs / hourTakesMs;
  let playing = { fromMs: startMs, toMs: startMs, startedAtMs: Date.now() };
  const bySlug = new Map(records.map((record) => [record.slug, record]));
  const counting = { thresholds: defaultThresholds, ...apiRule };
  const server = await startServer(({ path, body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    const elapsedMs = (Date.now() - playing.startedAtMs) * speed;
    const nowMs = Math.round(Math.min(playing.toMs, playing.fromMs + elapsedMs));
    const record = path === healthcheckPath ? bySlug.get(slug) : undefined;
    if (record === undefined) return null;
    const counts = countsAt(record, nowMs, counting);
    return { ...evaluateSpike({ slug, nowMs, ...counts }), generatedAt: new Date().toISOString() };
  });
  return {
    ...server,
    slugs: records.map(({ slug }) => slug),
    play: (stretch) => {
      const startedAtMs = Date.now();
      playing = { ...stretch, startedAtMs };
      return (atMs) => startedAtMs + (atMs - stretch.fromMs) / speed;
    },
  };
}
