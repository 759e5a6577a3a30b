import { afterEach, describe, expect, it } from "vitest";

import { createSystemClock } from "../../src/base/time.ts";
import { makeDaemonFolder, type DaemonFolder } from "../support/daemon.ts";
import { startHttpSink, type HttpSink } from "../support/http-sink.ts";
import { eventually } from "../support/program.ts";

const clock = createSystemClock();
const slugs = ["acme", "globex", "initech", "hooli", "umbrella", "stark"];

let folder: DaemonFolder;
let sinks: HttpSink[];

afterEach(async () => {
  for (const sink of sinks) await sink.close();
  await folder.close();
});

describe("a receiver that hangs for 10 s on each request, and one that answers 429", () => {
  it("leave the third its messages within a second", async () => {
    folder = await makeDaemonFolder();
    const arrivals: { readonly slugs: readonly string[]; readonly afterMs: number }[] = [];
    const hanging = await startHttpSink((response) => {
      setTimeout(() => response.end(), 10_000).unref();
    });
    const busy = await startHttpSink((response) => response.writeHead(429, { "retry-after": "60" }).end());
    const good = await startHttpSink((response, { body }) => {
      const payload = JSON.parse(body) as { generatedAt: string; alerts: { slug: string }[] };
      const afterMs = clock.nowMs() - Date.parse(payload.generatedAt);
      arrivals.push({ slugs: payload.alerts.map(({ slug }) => slug), afterMs });
      response.end();
    });
    sinks = [hanging, busy, good];
    await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers:
  - { name: hanging, type: webhook, url: "${hanging.url}", timeout: 10s }
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
      await eventually(() => arrivals.some((arrival) => arrival.slugs.includes(slug)));
    }

    expect(arrivals.flatMap((arrival) => arrival.slugs).toSorted()).toEqual(slugs.toSorted());
    for (const { afterMs } of arrivals) expect(afterMs).toBeLessThan(1_000);
    expect(hanging.requests).toHaveLength(4);
    // Retry-After holds for the whole receiver.
    expect(busy.requests).toHaveLength(1);
  });
});
