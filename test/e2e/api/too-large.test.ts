import { afterEach, describe, expect, it } from "vitest";

import type { App } from "../../../src/daemon/app.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const slugs = Array.from({ length: 12 }, (_, index) => `org-${index}`);
const token = "token-of-the-tests";

interface Payload {
  readonly id: string;
  readonly alerts: readonly {
    readonly slug: string;
    readonly result: { readonly findings: readonly unknown[]; readonly isTruncated?: boolean };
  }[];
}

let folder: DaemonFolder;
let sink: HttpSink;

afterEach(async () => {
  await sink.close();
  await folder.close();
});

/** A daemon whose one receiver takes bodies of at most so many bytes, with an alert of each organization that fires. */
async function fireAt(mostBytes: number): Promise<App> {
  folder = await makeDaemonFolder();
  sink = await startHttpSink((response, { body }) =>
    response.writeHead(Buffer.byteLength(body) > mostBytes ? 413 : 200).end("said"),
  );
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 2s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}" }]
server: { listen: "127.0.0.1:0", token: ${token}, drainTimeout: 100ms }
storage: { path: flatline.db }
`);
  for (const slug of slugs) await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
  return folder.start();
}

describe("a receiver that answers 413", () => {
  it("is sent the group once more with less, under the same id, and has it delivered", async () => {
    await fireAt(14_000);
    await eventually(async () => (await folder.withStore((store) => store.deliveries.last("ops", true))) !== null);

    const [whole, less, ...others] = sink.requests.map(({ body }) => JSON.parse(body) as Payload);
    expect(others).toEqual([]);
    expect(less?.id).toBe(whole?.id);
    expect(sink.requests.map(({ headers }) => headers["webhook-id"])).toEqual([whole?.id, whole?.id]);
    expect(less?.alerts.map(({ slug }) => slug)).toEqual(whole?.alerts.map(({ slug }) => slug));
    expect(less?.alerts).toHaveLength(slugs.length);
    for (const { result } of less?.alerts ?? []) expect(result).toMatchObject({ findings: [], isTruncated: true });
    for (const { result } of whole?.alerts ?? []) expect(result).not.toHaveProperty("isTruncated");
    expect(await folder.withStore((store) => store.outbox.list())).toEqual([]);
    expect(await folder.withStore((store) => store.deliveries.last("ops", true))).toMatchObject({
      detail: "HTTP 200: said; shortened after HTTP 413: said",
    });
  });
});
