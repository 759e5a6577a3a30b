import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { createFastStore, type FastStore } from "../../test/support/store/fast.ts";
import { createRunProcess, type RunProcess } from "../../test/support/program/run-process.ts";
import { quietSettings } from "../../test/support/quiet-settings.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import type { Store } from "../store/store.ts";
import type { RecordRequest } from "./finished-run.ts";
import type { AlertingSettings } from "./settings.ts";

const startMs = Date.UTC(2026, 10, 22, 12, 10);
const clock = createVirtualClock({ startMs });
const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 3, repeatIntervalMs: 0, minBaselineCoverage: 0 };
const settings: AlertingSettings = {
  ...quietSettings,
  targetOf: () => ({ policy, receivers: [], labels: {}, url: null }),
};
const check = "dead-asset-spike";

let backend: FastStore;
let store: Store;
beforeEach(async () => {
  backend = await createFastStore();
  store = await backend.connect();
});
afterEach(() => backend.remove());

const processOn = (of: Store): Promise<RunProcess> => createRunProcess(of, clock, { settings: () => settings });
const liveSeverities = async (): Promise<string[]> => (await store.alerts.allLive()).map(({ severity }) => severity);

function requestOf({ owner }: RunProcess, slug: string, severity: "ok" | "fail"): RecordRequest {
  const run = { check, slug, dueAtMs: startMs, isAsked: false, owner } as const;
  return { run, report: resultReport({ slug, severity, finishedAtMs: startMs }), nextDueAtMs: startMs + 300_000 };
}

describe("the recorder", () => {
  it("stores runs that ended together in one commit, with what follows from each", async () => {
    const own = await processOn(store);

    const recorded = await own.recorder.record([requestOf(own, "acme", "ok"), requestOf(own, "globex", "fail")]);

    expect(recorded).toMatchObject([
      { status: "fulfilled", value: { changes: [] } },
      { status: "fulfilled", value: { changes: [{ event: "firing" }] } },
    ]);
    expect([...(await store.runs.load()).seqs.values()]).toEqual([1]);
  });

  it("loses none of the runs that ended together by the fault of one", async () => {
    const faulty: Store = {
      ...store,
      transaction: (work) =>
        store.transaction((parts) =>
          work({
            ...parts,
            alerts: {
              ...parts.alerts,
              liveOf: (keys) =>
                keys.some(({ slug }) => slug === "globex")
                  ? Promise.reject(new Error("odd"))
                  : parts.alerts.liveOf(keys),
            },
          }),
        ),
    };
    const own = await processOn(faulty);
    const requests = ["acme", "globex", "initech"].map((slug) => requestOf(own, slug, "ok"));

    const recorded = await own.recorder.record(requests);

    expect(recorded.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(own.board.states().map(({ slug }) => slug)).toEqual(["acme", "initech"]);
  });

  it("rejects all when the store cannot be used, without asking it again for each", async () => {
    let asked = 0;
    const away: Store = {
      ...store,
      transaction: () => {
        asked++;
        throw new FlatlineError("store_unusable", "gone");
      },
    };
    const own = await processOn(away);

    const recorded = await own.recorder.record([requestOf(own, "acme", "ok"), requestOf(own, "globex", "ok")]);

    expect(recorded.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(asked).toBe(1);
  });

  it("ends the alert that another process began, once the check is its own again", async () => {
    const [own, other] = [await processOn(store), await processOn(store)];
    await own.recorder.record([requestOf(own, "acme", "ok")]);
    await other.recorder.record([requestOf(other, "acme", "fail")]);
    expect(await liveSeverities()).toEqual(["fail"]);

    own.recorder.shardsChanged();
    const [recorded] = await own.recorder.record([requestOf(own, "acme", "ok")]);

    expect(recorded).toMatchObject({ value: { changes: [{ event: "resolved" }] } });
    expect(await liveSeverities()).toEqual([]);
  });

  it("begins and ends alerts of a check however often it was ok before", async () => {
    const own = await processOn(store);
    const events: unknown[] = [];
    for (const severity of ["ok", "ok", "fail", "ok", "ok", "fail", "fail", "ok"] as const) {
      const [recorded] = await own.recorder.record([requestOf(own, "acme", severity)]);
      events.push(recorded?.status === "fulfilled" ? recorded.value.changes.map(({ event }) => event) : null);
    }

    expect(events).toEqual([[], [], ["firing"], ["resolved"], [], ["firing"], [], ["resolved"]]);
  });

  describe("on a store whose commits are costly", () => {
    /** Both checks were ok in the last commit, which was just now; `stop` ends the pause. */
    async function paused() {
      const stopping = new AbortController();
      const slow: Store = { ...store, commitPauseMs: 100 };
      const over = { store: slow, settings: () => settings, stopping: stopping.signal };
      const own = await createRunProcess(slow, clock, over);
      await own.recorder.record([requestOf(own, "acme", "ok"), requestOf(own, "globex", "ok")]);
      const waiting = own.recorder.record([requestOf(own, "acme", "ok")]);
      await clock.settle();
      const commits = async (): Promise<number> => (await store.runs.load()).seqs.get(own.owner.ownerId) ?? 0;
      expect(await commits()).toBe(1);
      return { own, waiting, commits, stop: () => stopping.abort() };
    }

    it("lets a run whose verdict stays the same wait for others", async () => {
      const { own, waiting, commits } = await paused();
      const another = own.recorder.record([requestOf(own, "globex", "ok")]);
      await clock.advance(100);
      await Promise.all([waiting, another]);

      expect(await commits()).toBe(2);
    });

    it.each([
      { rule: "changed its verdict", slug: "globex", severity: "fail", isAsked: false },
      { rule: "was asked for", slug: "globex", severity: "ok", isAsked: true },
      { rule: "is the first of its check", slug: "initech", severity: "ok", isAsked: false },
    ] as const)("stores a run at once that $rule, with those that wait", async ({ slug, severity, isAsked }) => {
      const { own, waiting, commits } = await paused();
      const { run, ...request } = requestOf(own, slug, severity);
      await own.recorder.record([{ ...request, run: { ...run, isAsked } }]);
      await waiting;

      expect(await commits()).toBe(2);
    });

    it("stores what waits at once when the daemon stops", async () => {
      const { own, waiting, commits, stop } = await paused();
      stop();
      await waiting;
      await own.recorder.record([requestOf(own, "globex", "ok")]);

      expect(await commits()).toBe(3);
    });
  });
});
