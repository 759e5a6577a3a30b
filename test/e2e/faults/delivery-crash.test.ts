import type { ServerResponse } from "node:http";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../../src/base/time.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink, type ReceivedRequest } from "../../support/far-side/http-sink.ts";
import { eventually, startDaemon, type Daemon } from "../../support/program/program.ts";

const bearer = { authorization: "Bearer token-of-the-tests" };

interface Payload {
  readonly id: string;
  readonly generatedAt: string;
  readonly alerts: readonly { readonly id: string; readonly slug: string; readonly event: string }[];
}

type Answer = (response: ServerResponse, request: ReceivedRequest, index: number) => void;

const accept: Answer = (response) => response.end("ok");

let folder: DaemonFolder;
let sink: HttpSink;
let answer: Answer;
let daemon: Daemon;

async function begin(): Promise<void> {
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly", alert: { repeatInterval: 0s } }
organizations: [acme, globex]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}", timeout: 1s }]
server: { listen: "127.0.0.1:0", token: token-of-the-tests }
storage: { path: flatline.db }
`);
  daemon = await startDaemon([], { cwd: folder.path });
}

beforeEach(async () => {
  folder = await makeDaemonFolder();
  answer = accept;
  sink = await startHttpSink((response, request, index) => answer(response, request, index));
});
afterEach(async () => {
  await daemon.kill();
  await sink.close();
  await folder.close();
});

async function restart(): Promise<void> {
  await daemon.kill();
  daemon = await startDaemon([], { cwd: folder.path });
}

async function post(path: string, body?: unknown): Promise<number> {
  const headers = { ...bearer, "content-type": "application/json" };
  const sent = body === undefined ? { headers: bearer } : { headers, body: JSON.stringify(body) };
  return (await fetch(`${daemon.url}${path}`, { method: "POST", ...sent })).status;
}

/** Breaks or mends the organization's checker, and has the daemon look. False: it was killed, or does not know the outcome. */
async function look(slug: string, isBroken: boolean): Promise<boolean> {
  const nowMs = Date.now();
  const days = Array.from({ length: 7 }, (_, day) => ({
    slug,
    at: nowMs - (day + 1) * 24 * hourMs - hourMs,
    count: 3,
  }));
  const events = [...days, { slug, at: nowMs - minuteMs, count: isBroken ? 90 : 3 }];
  try {
    await post(`/api/v1/organizations/${slug}/forget`, { events: true });
    await post("/api/v1/events", events);
    return (await post(`/api/v1/checks/dead-asset-spike/${slug}/run`)) === 200;
  } catch {
    return false;
  }
}

const payloads = (): Payload[] => sink.requests.map(({ body }) => JSON.parse(body) as Payload);

/** What a receiver that drops repeats has: the first of each id, whose repeats must say the same. */
function dropRepeats(): Payload[] {
  const first = new Map<string, Payload>();
  for (const [index, payload] of payloads().entries()) {
    expect(sink.requests[index]?.headers["webhook-id"]).toBe(payload.id);
    expect(payload).toEqual(first.get(payload.id) ?? payload);
    if (!first.has(payload.id)) first.set(payload.id, payload);
  }
  return [...first.values()];
}

const told = (): string[] => dropRepeats().flatMap(({ alerts }) => alerts.map(({ event, slug }) => `${event} ${slug}`));

function outboxIsEmpty(): Promise<boolean> {
  return folder.withStore(async (store) => (await store.outbox.list()).length === 0);
}

describe("kill -9", () => {
  it("after the receiver's 200 and before the acknowledgement: again under its id, so that it can be dropped", async () => {
    await begin();
    answer = (response) => {
      // Stopped first: the 200 is on its way, and nobody will ever read it.
      daemon.signal("SIGSTOP");
      response.end("ok", () => void daemon.kill());
    };
    await look("acme", true);
    await daemon.ended();
    answer = accept;
    expect(sink.requests).toHaveLength(1);

    await restart();
    await eventually(async () => (await outboxIsEmpty()) && sink.requests.length > 1);
    await look("acme", false);
    await eventually(async () => told().includes("resolved acme") && (await outboxIsEmpty()));

    const ids = payloads().map(({ id }) => id);
    expect(ids).toEqual([ids[0], ids[0], ids[2]]);
    expect(told()).toEqual(["firing acme", "resolved acme"]);
  });
});
