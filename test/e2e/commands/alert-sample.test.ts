import { afterEach, beforeEach, expect, it } from "vitest";

import { createSystemClock, dayMs, minuteMs } from "../../../src/base/time.ts";
import type { LivenessEvent } from "../../../src/store/events/events.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

interface Sampled {
  readonly asset: string;
  readonly assetType: string | null;
  readonly deadAt: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface Payload {
  readonly id: string;
  readonly fleet: { readonly sample: readonly Sampled[] } | null;
  readonly alerts: readonly { readonly slug: string; readonly event: string; readonly sample: readonly Sampled[] }[];
}

const clock = createSystemClock();
const names = ["one", "two", "quiet", "acme-only"] as const;

let folder: DaemonFolder;
let sinks: Record<(typeof names)[number], HttpSink>;
let failures: number;

beforeEach(async () => {
  folder = await makeDaemonFolder();
  failures = 0;
  const sink = () =>
    startHttpSink((response) => {
      response.statusCode = failures-- > 0 ? 503 : 200;
      response.end();
    });
  sinks = { one: await sink(), two: await sink(), quiet: await sink(), "acme-only": await sink() };
});
afterEach(async () => {
  await folder.close();
  for (const name of names) await sinks[name].close();
});

const configure = (alerting: string, more = ""): Promise<void> =>
  folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly", receivers: [one, two, quiet]${more} }
organizations:
  - { slug: acme, receivers: [one, two, quiet, acme-only] }
  - globex
alerting: { groupWait: 0s, groupInterval: 0s, ${alerting} }
receivers:
${names
  .map(
    (name) =>
      `  - { name: ${name}, type: webhook, url: "${sinks[name].url}"${name === "quiet" ? ", sample: false" : ""} }`,
  )
  .join("\n")}
server: { listen: "127.0.0.1:0", token: t }
storage: { path: flatline.db }
`);

const told = (name: (typeof names)[number]): Payload[] =>
  sinks[name].requests.map(({ body }) => JSON.parse(body) as Payload);

/** Deaths that spike: so many URLs, and later than those some mail addresses as on each day. */
function deathsOf(slug: string, urls: number): LivenessEvent[] {
  const nowMs = clock.nowMs();
  const one = { slug, status: "DETECTED_AS_DEAD", id: null, count: 1 };
  const emails = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((day) =>
    [1, 2, 3].map((index) => {
      const atMs = nowMs - day * dayMs - index * 1_000;
      return { ...one, atMs, assetType: "EMAIL", asset: `${index}-${day}@${slug}.example` };
    }),
  );
  const spike = Array.from({ length: urls }, (_, index) => ({
    ...one,
    atMs: nowMs - minuteMs - index * 1_000,
    assetType: "URL",
    asset: `https://${slug}-${index}.example/`,
    attributes: { checker: "eu-1" },
  }));
  return [...emails, ...spike];
}

const store = (events: readonly LivenessEvent[]): Promise<unknown> =>
  folder.withStore((opened) => opened.transaction((parts) => parts.events.add(events)));

it("names the newest assets of the types that carry the excess, the same ones to each receiver and at each attempt", async () => {
  await configure("fleet: false");
  await store([...deathsOf("acme", 30), ...deathsOf("globex", 0)]);
  failures = 1;

  await folder.start();
  await eventually(() => names.every((name) => told(name).length > 0) && told("one").length + told("two").length > 2);

  const all = names.flatMap((name) => told(name).map((payload) => ({ name, payload })));
  for (const { name, payload } of all) {
    const [alert] = payload.alerts;
    expect(alert).toMatchObject({ slug: "acme", event: "firing" });
    expect((alert?.sample ?? []).map(({ asset }) => asset)).toEqual(
      name === "quiet" ? [] : Array.from({ length: 10 }, (_, index) => `https://acme-${index}.example/`),
    );
  }
  expect(told("one")[0]?.alerts[0]?.sample[0]).toMatchObject({ assetType: "URL", attributes: { checker: "eu-1" } });
});
