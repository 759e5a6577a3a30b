import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import type { EventRecord } from "../../src/backtest/event-record.ts";
import { SlidingCounts } from "../../src/backtest/sliding-counts.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { readEventFiles } from "../../src/cli/replay/event-records.ts";
import { defaultThresholds, evaluateSpike, type SpikeResult } from "../../src/spike/spike.ts";

/** The path of the healthcheck on the platform. */
export const healthcheckPath = "/api/v2/healthchecks/assets/dead-asset-spike";

/** A stretch of the records, epoch ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The platform that is monitored: API v2's healthcheck over recorded events, at a time that moves faster than the clock. */
export interface Platform {
  readonly url: string;
  /** Number of healthchecks that were answered, by API key. */
  readonly requests: ReadonlyMap<string, number>;
  /** Lets the time run through a stretch and stop at its end. Returns when that will be, epoch ms. */
  play(stretch: Stretch): number;
  /** Returns when the first organization is, or was, not ok in the stretch that is played, epoch ms; null: never. */
  brokenAtMs(): number | null;
  close(): Promise<void>;
}

export interface PlatformOptions {
  readonly records: readonly EventRecord[];
  /** Where the time stands until something is played, epoch ms. */
  readonly startMs: number;
  /** How long a recorded hour takes. */
  readonly hourTakesMs: number;
  readonly nowMs: () => number;
}

/** Reads the recorded verdicts of the two lists in examples/records. */
export async function readRecords(): Promise<readonly EventRecord[]> {
  const records = await readEventFiles({
    files: ["lightswitch.csv.gz", "riskhosts.csv.gz"],
    cwd: fileURLToPath(new URL("../../examples/records", import.meta.url)),
    stdin: process.stdin,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  return [...records.values()];
}

/** Starts the platform on a port of its own. It evaluates with the API's default thresholds, whatever is asked for. */
export async function startPlatform({ records, startMs, hourTakesMs, nowMs }: PlatformOptions): Promise<Platform> {
  const speed = hourMs / hourTakesMs;
  let playing = { fromMs: startMs, toMs: startMs, startedAtMs: nowMs() };
  const requests = new Map<string, number>();
  const counters = new Map(
    records.map((record) => [record.slug, new SlidingCounts(record, defaultThresholds, "mean")]),
  );

  const recordedMs = (): number =>
    Math.round(Math.min(playing.toMs, playing.fromMs + (nowMs() - playing.startedAtMs) * speed));
  const evaluate = (slug: string, counter: SlidingCounts, atMs: number): SpikeResult => {
    const { currentCount, baselineCount } = counter.at(atMs);
    return evaluateSpike({ slug, nowMs: atMs, currentCount, baselineCount });
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const key = String(request.headers["x-api-key"]);
      requests.set(key, (requests.get(key) ?? 0) + 1);
      const { slug } = JSON.parse(body) as { slug: string };
      const counter = counters.get(slug);
      const isKnown = request.url === healthcheckPath && counter !== undefined;
      const answer = isKnown
        ? { ...evaluate(slug, counter, recordedMs()), generatedAt: new Date(nowMs()).toISOString() }
        : { message: `no such organization: ${slug}`, code: "BAD_REQUEST" };
      response.writeHead(isKnown ? 200 : 400, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play: (stretch) => {
      playing = { ...stretch, startedAtMs: nowMs() };
      return playing.startedAtMs + (stretch.toMs - stretch.fromMs) / speed;
    },
    brokenAtMs: () => {
      const { fromMs, toMs, startedAtMs } = playing;
      // Counters of their own: those of the answers follow the time.
      const fresh = records.map((record) => ({
        slug: record.slug,
        counter: new SlidingCounts(record, defaultThresholds, "mean"),
      }));
      for (let atMs = fromMs; atMs <= toMs; atMs += minuteMs)
        if (fresh.some(({ slug, counter }) => !evaluate(slug, counter, atMs).ok))
          return startedAtMs + (atMs - fromMs) / speed;
      return null;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
