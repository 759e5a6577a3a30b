import { afterEach, describe, expect, it } from "vitest";

import { createSystemClock } from "../../../src/base/time.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { parseExposition, seriesValue } from "../../support/exposition-parser.ts";
import { eventually, promtool, readText } from "../../support/program/program.ts";

const clock = createSystemClock();
const slugs = ["acme", "globex", "initech", "hooli", "umbrella", "stark"];

interface ReceiverState {
  readonly waiting: number | null;
  readonly underWay: number | null;
  readonly isPaused: boolean;
}

/** What an answer of /metrics says of each receiver. */
function statesIn(exposition: string): Readonly<Record<string, ReceiverState>> {
  const metrics = parseExposition(exposition, "text");
  const states = ["hanging", "busy", "good"].map((receiver) => {
    const value = (name: string): number | null => seriesValue(metrics, name, { receiver });
    const pausedUntilSeconds = value("flatline_receiver_paused_until_timestamp_seconds") ?? Number.NaN;
    const waiting = value("flatline_outbox_pending");
    const underWay = value("flatline_receiver_attempts_under_way");
    return [receiver, { waiting, underWay, isPaused: pausedUntilSeconds * 1_000 > clock.nowMs() }] as const;
  });
  return Object.fromEntries(states);
}

let folder: DaemonFolder;
let sinks: HttpSink[];

afterEach(async () => {
  for (const sink of sinks) await sink.close();
  await folder.close();
});

describe("a receiver that hangs for a minute on each request, and one that answers 429", () => {
  it("leave the third its messages within a second", async () => {
    folder = await makeDaemonFolder();
    const arrived: string[] = [];
    const hanging = await startHttpSink((response) => {
      setTimeout(() => response.end(), 60_000).unref();
    });
    const busy = await startHttpSink((response) => response.writeHead(429, { "retry-after": "60" }).end());
    const good = await startHttpSink((response, { body }) => {
      const payload = JSON.parse(body) as { generatedAt: string; alerts: { slug: string }[] };
      arrived.push(...payload.alerts.map(({ slug }) => slug));
      response.end();
    });
    sinks = [hanging, busy, good];
    await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers:
  - { name: hanging, type: webhook, url: "${hanging.url}", timeout: 1m }
  - { name: busy, type: webhook, url: "${busy.url}" }
  - { name: good, type: webhook, url: "${good.url}" }
server: { listen: "127.0.0.1:0", token: token-of-the-tests, drainTimeout: 100ms }
storage: { path: flatline.db }
`);
    const app = await folder.start();
    const url = app.address()?.url;

    // One after the other, so that each is a notification of its own, and the places of the hanging receiver are all taken.
    for (const slug of slugs) {
      await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
      const headers = { authorization: "Bearer token-of-the-tests" };
      await fetch(`${url}/api/v1/checks/dead-asset-spike/${slug}/run`, { method: "POST", headers });
      await eventually(() => arrived.includes(slug));
    }

    // What the good one has answered is recorded a moment later.
    const exposition = await eventually(async () => {
      const text = await readText(`${url}/metrics`);
      return statesIn(text)["good"]?.waiting === 0 ? text : null;
    });

    // Though the hanging one has answered nothing.
    expect(arrived.toSorted()).toEqual(slugs.toSorted());
    expect(hanging.requests).toHaveLength(4);
    // Retry-After holds for the whole receiver.
    expect(busy.requests).toHaveLength(1);
    // Each looks different to a Prometheus.
    expect(statesIn(exposition)).toEqual({
      hanging: { waiting: 6, underWay: 4, isPaused: false },
      busy: { waiting: 6, underWay: 0, isPaused: true },
      good: { waiting: 0, underWay: 0, isPaused: false },
    });
    if (promtool.skipReason === null) expect(promtool.complaints(exposition)).toBe("");
  });
});
