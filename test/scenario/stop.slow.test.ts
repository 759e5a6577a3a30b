import type { ServerResponse } from "node:http";
import { loadConfig } from "../../src/config/load.ts";
import { join } from "node:path";

import type { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";

import { actor } from "../../src/contract/actor.ts";
import { createHttpDispatcher, type HttpDispatcher } from "../../src/base/http-dispatcher.ts";
import { secondMs } from "../../src/base/time.ts";
import type { Stopped } from "../../src/daemon/stop-sequence.ts";
import { openStore } from "../../src/store/open.ts";
import { sampleHealthcheck } from "../support/far-side/api-samples.ts";
import { createFaultyStore, type FaultyStore, type StoreFault } from "../support/store/faulty.ts";
import { startHttpSink } from "../support/far-side/http-sink.ts";
import { makeProgramFolder } from "../support/program/program-folder.ts";
import { startScriptedUpstream } from "../support/far-side/scripted-upstream.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { createTestApp } from "../support/program/test-app.ts";

const drainMs = secondMs;
const answers: Readonly<Record<string, number>> = { "/accepts": 204, "/refuses": 400, "/is-busy": 503 };

interface StopRun {
  readonly outcome: Stopped;
  readonly tookMs: number;
  /** Of the store, from the signal on. */
  readonly calls: readonly string[];
}

/**
 * Stops a daemon in the middle of everything that a stop can meet: a check that ends within the drain and one that hangs,
 * deliveries that are accepted, refused, put off and that hang, a reload. One call of the store has the fault.
 */
async function stopWithFault(number: number, fault: StoreFault): Promise<StopRun> {
  const release = Promise.withResolvers<void>();
  const upstream = await startScriptedUpstream();
  upstream.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    if (slug === "globex") return { kind: "hang" };
    const healthcheck = sampleHealthcheck({ scope: { slug }, severity: "fail", ok: false });
    return { kind: "answer", body: healthcheck, ...(slug === "acme" ? {} : { after: release.promise }) };
  });
  const waiting = new Map<string, ServerResponse>();
  const sink = await startHttpSink((response, { path }) => waiting.set(path, response));
  const receivers = ["accepts", "refuses", "is-busy", "hangs"].map(
    (name) => `{ name: ${name}, type: webhook, url: "${sink.url}/${name}" }`,
  );
  await using folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key, timeout: 60s }
defaults: { schedule: "@yearly" }
organizations: [acme, globex, initech]
receivers: [${receivers.join(", ")}]
alerting: { groupWait: 0s }
server: { listen: "127.0.0.1:0", drainTimeout: ${drainMs}ms }
storage: { path: flatline.db }
`);
  const load = { path: join(folder.path, "flatline.yaml"), cwd: folder.path, env: {} };
  const clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 22, 12) });
  let faulty: FaultyStore | null = null;
  const network = createHttpDispatcher({ env: {} });
  let ended = 0;
  const dispatcher: HttpDispatcher = {
    dispatch: (options, handler) =>
      network.dispatch(
        options,
        noting(handler, () => ended++),
      ),
    close: () => network.close(),
    destroy: () => network.destroy(),
  };
  let whenRead = (): void => undefined;
  const app = await createTestApp(folder.path, {
    clock,
    dispatcher,
    openStore: async (options) => {
      faulty = createFaultyStore(await openStore(options));
      return faulty.store;
    },
    readConfig: async () => {
      const next = await loadConfig(load);
      whenRead();
      return next;
    },
  });
  await app.start();
  await clock.advanceUntil(() => upstream.requests.length === 3 && waiting.size === 4);

  await clock.settleUntil(() => ended >= 1);

  let isStopping = false;
  let outcome: Stopped | null = null;
  let startedMs = 0;
  // From within a reload, so that the rest of it is under way.
  whenRead = () => {
    faulty?.arm(number, fault);
    startedMs = clock.monotonicMs();
    isStopping = true;
    void app.stop().then((how) => (outcome = how));
    release.resolve();
    for (const [path, response] of waiting) {
      const status = answers[path];
      if (status !== undefined) response.writeHead(status).end();
    }
  };
  void app.reload(actor("signal", "config")).catch(() => undefined);
  await clock.settleUntil(() => isStopping);
  // What was answered is to be heard before the drain is over: of acme and initech, and by three receivers.
  await clock.settleUntil(() => ended >= 5);
  for (let turn = 0; turn < 20; turn++) await clock.settle();
  await clock.advanceUntil(
    async () => {
      // Virtual time would not wait for the disk.
      await clock.settleUntil(() => !process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq")));
      return outcome !== null;
    },
    drainMs + 2 * secondMs,
  );
  const tookMs = clock.monotonicMs() - startedMs;
  await Promise.all([upstream.close(), sink.close()]);
  if (outcome === null || faulty === null) throw new Error("has not stopped");
  return { outcome, tookMs, calls: [...(faulty as FaultyStore).calls()] };
}

/** Calls `onEnd` once the handler has heard the end of a response, or that there is none. */
function noting(handler: Dispatcher.DispatchHandler, onEnd: () => void): Dispatcher.DispatchHandler {
  return {
    ...handler,
    onResponseEnd: (...args) => {
      handler.onResponseEnd?.(...args);
      onEnd();
    },
    onResponseError: (...args) => {
      handler.onResponseError?.(...args);
      onEnd();
    },
  };
}

/** What every stop tries, whatever else fails. */
const always = ["owners.leave", "outbox.releaseLeases", "close"];
/** What has no answer to what was under way, or a lease, stored when it fails. An answer of a receiver is stored at the next try; the rest is the reload's. */
const stores = /^(?:transaction: (?:runs|notices\.append)|owners\.leave|outbox\.(?!deadLetterUnknown)|.*releaseLeases)/;

// Enough for the wait for one to be the work of another.
const atOnce = 4;

describe("a stop in the middle of everything", () => {
  it("gives back and stores what it holds when nothing fails", async () => {
    const { outcome, calls } = await stopWithFault(Number.MAX_SAFE_INTEGER, "rejects");

    expect(outcome).toEqual({ isStored: true });
    expect(calls).toEqual(
      expect.arrayContaining([...always, "runs.addChecks", "transaction: runs.commit", "transaction: outbox.settle"]),
    );
  });

  it.each(["rejects", "hangs"] as const)("ends in time whichever call of the store %s", async (fault) => {
    const faulted = new Set<string>();
    for (let first = 0, isOver = false; !isOver; first += atOnce) {
      const numbers = Array.from({ length: atOnce }, (_, index) => first + index);
      const runs = await Promise.all(
        numbers.map(async (number) => ({ number, ...(await stopWithFault(number, fault)) })),
      );
      for (const { number, outcome, tookMs, calls } of runs) {
        const name = calls[number];
        isOver ||= name === undefined;
        if (name === undefined) continue;
        faulted.add(name);
        expect(tookMs, name).toBeLessThanOrEqual(drainMs + 1.2 * secondMs);
        expect(calls, name).toEqual(expect.arrayContaining(always));
        if (stores.test(name)) expect(outcome, name).toEqual({ isStored: false });
      }
    }

    expect([...faulted]).toEqual(expect.arrayContaining(always));
  });
});
