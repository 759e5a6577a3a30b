import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createSystemClock, minuteMs, secondMs } from "../../../src/base/time.ts";
import { writeBulkCsv } from "../../support/store/event-files.ts";
import { parseExposition, type ParsedFamily } from "../../support/exposition-parser.ts";
import { flipThresholds } from "../../support/store/flip-load.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon, startProgram, type Daemon } from "../../support/program/program.ts";

const rows = 5_000_000;
const longMs = 10 * minuteMs;
const token = "a-token-of-the-tests";
const clock = createSystemClock();
const counted = Array.from({ length: 20 }, (_, index) => `organization-${index}`);
const checked = [...counted, "acme"];

function configText(hook: string): string {
  const organizations = checked.map((slug) => `  - ${slug}\n`).join("");
  return `
source: { type: embedded }
defaults: { schedule: "* * * * * *", thresholds: ${flipThresholds}, alert: { repeatInterval: 3s }, whenNoEvents: ok }
organizations:
${organizations}
alerting: { groupWait: 0s, groupInterval: 1s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${hook}", match: { slug: acme } }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`;
}

async function metricsOf(daemon: Daemon): Promise<Map<string, ParsedFamily>> {
  return parseExposition(await readText(`${daemon.url}/metrics`), "text");
}

/** Posts one death. */
function post(daemon: Daemon): Promise<Response> {
  return fetch(`${daemon.url}/api/v1/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify([{ at: clock.nowMs(), slug: "acme" }]),
  });
}

/** Runs that started within a second of their time, and all. */
function lagOf(metrics: ReadonlyMap<string, ParsedFamily>): { readonly within1s: number; readonly all: number } {
  const samples = metrics.get("flatline_scheduler_lag_seconds")?.samples ?? [];
  const valueOf = (name: string, le?: string): number =>
    samples.find((sample) => sample.name === `flatline_scheduler_lag_seconds_${name}` && sample.labels["le"] === le)
      ?.value ?? Number.NaN;
  return { within1s: valueOf("bucket", "1"), all: valueOf("count") };
}

/** Asks again and again until told to stop; answers which statuses came. */
function pollHealth(daemon: Daemon): {
  stop(): Promise<{ readonly statuses: ReadonlySet<number>; readonly count: number }>;
} {
  const stopping = new AbortController();
  const statuses = new Set<number>();
  let count = 0;
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const response = await fetch(`${daemon.url}/-/healthy`, { signal: AbortSignal.timeout(secondMs) });
      await response.arrayBuffer();
      statuses.add(response.status);
      count++;
      await clock.sleep(50, stopping.signal);
    }
  }
  const ended = run();
  ended.catch(() => undefined);
  return {
    stop: async () => {
      stopping.abort();
      await ended;
      return { statuses, count };
    },
  };
}

describe("rows imported beside a daemon that checks every second", () => {
  it(
    `make no run late by more than a second, stop no delivery and leave /-/healthy at 200: ${rows}`,
    { timeout: longMs },
    async () => {
      const sink = await startHttpSink((response) => response.end("ok"));
      await using folder = await makeProgramFolder(configText(sink.url));
      const file = join(folder.path, "events.csv");
      await writeBulkCsv(file, { rows, slugs: counted, untilMs: clock.nowMs(), idPrefix: "a" });
      await using daemon = await startDaemon([], { cwd: folder.path });
      await eventually(async () => lagOf(await metricsOf(daemon)).all >= checked.length);
      // An alert that fires, and whose reminders go out meanwhile.
      expect((await post(daemon)).status).toBe(200);
      await eventually(() => sink.requests.length > 0);

      const before = lagOf(await metricsOf(daemon));
      const delivered = sink.requests.length;
      const startedAtMs = clock.monotonicMs();
      const health = pollHealth(daemon);
      await using importing = startProgram(["import", "events", file, "--json"], { cwd: folder.path });
      const { exitCode, stdout } = await importing.ended(longMs);
      const tookMs = clock.monotonicMs() - startedAtMs;
      const deliveredMeanwhile = sink.requests.length - delivered;
      // A short import may fall between two deliveries.
      await eventually(() => sink.requests.length > delivered);
      const { statuses, count } = await health.stop();
      const after = lagOf(await metricsOf(daemon));

      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ received: rows, stored: rows, duplicates: 0 });
      expect([...statuses]).toEqual([200]);
      expect(count).toBeGreaterThan(tookMs / 500);
      expect(after.all - after.within1s, "runs later than a second").toBe(before.all - before.within1s);
      // Some ticks may fall between two looks at the clock; none of many seconds is missing.
      expect(after.all - before.all).toBeGreaterThan(checked.length * (Math.floor(tookMs / secondMs) - 1));
      expect(deliveredMeanwhile).toBeGreaterThanOrEqual(Math.floor(tookMs / (10 * secondMs)));
      const metrics = await metricsOf(daemon);
      const errors = metrics.get("flatline_check_errors_total")?.samples ?? [];
      expect(errors.filter(({ value }) => value > 0)).toEqual([]);
      await sink.close();
    },
  );
});
