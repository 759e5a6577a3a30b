import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { createFastStore, type FastStore } from "../../test/support/store/fast.ts";
import { createRunProcess, type RunProcess } from "../../test/support/program/run-process.ts";
import { quietSettings } from "../../test/support/quiet-settings.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import type { Store } from "../store/store.ts";
import type { FinishedRun } from "./finished-run.ts";
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
let commits: number;
beforeEach(async () => {
  backend = await createFastStore();
  commits = 0;
  store = counted(await backend.connect());
});
afterEach(() => backend.remove());

function counted(of: Store): Store {
  const transaction: Store["transaction"] = (work) =>
    of.transaction((parts) => {
      const commit: typeof parts.runs.commit = (runs) => (commits++, parts.runs.commit(runs));
      return work({ ...parts, runs: { ...parts.runs, commit } });
    });
  return { ...of, transaction };
}

const processOn = (of: Store): Promise<RunProcess> => createRunProcess(of, clock, { settings: () => settings });

function requestOf(slug: string, severity: "ok" | "fail"): FinishedRun {
  const run = { check, slug, dueAtMs: startMs, isAsked: false } as const;
  return { run, report: resultReport({ slug, severity, finishedAtMs: startMs }), nextDueAtMs: startMs + 300_000 };
}

describe("the recorder", () => {
  it("stores runs that ended together in one commit, with what follows from each", async () => {
    const own = await processOn(store);

    const recorded = await own.recorder.record([requestOf("acme", "ok"), requestOf("globex", "fail")]);

    expect(recorded).toMatchObject([
      { status: "fulfilled", value: { changes: [] } },
      { status: "fulfilled", value: { changes: [{ event: "firing" }] } },
    ]);
    expect(commits).toBe(1);
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
    const requests = ["acme", "globex", "initech"].map((slug) => requestOf(slug, "ok"));

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

    const recorded = await own.recorder.record([requestOf("acme", "ok"), requestOf("globex", "ok")]);

    expect(recorded.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(asked).toBe(1);
  });

  it("does once what it repeats, when only the answer was lost", async () => {
    let isLost = true;
    const losing: Store = {
      ...store,
      transaction: async (work) => {
        const done = await store.transaction(work);
        if (!isLost) return done;
        isLost = false;
        throw new FlatlineError("store_busy", "the connection was lost");
      },
    };
    const own = await processOn(losing);

    const recording = own.recorder.record([requestOf("acme", "fail")]);
    await clock.advance(1_000);

    expect(await recording).toMatchObject([{ status: "fulfilled", value: { state: { severity: "fail" } } }]);
    expect(commits).toBe(1);
    expect(await store.alerts.allLive()).toHaveLength(1);
  });

  it("begins and ends alerts of a check however often it was ok before", async () => {
    const own = await processOn(store);
    const events: unknown[] = [];
    for (const severity of ["ok", "ok", "fail", "ok", "ok", "fail", "fail", "ok"] as const) {
      const [recorded] = await own.recorder.record([requestOf("acme", severity)]);
      events.push(recorded?.status === "fulfilled" ? recorded.value.changes.map(({ event }) => event) : null);
    }

    expect(events).toEqual([[], [], ["firing"], ["resolved"], [], ["firing"], [], ["resolved"]]);
  });
});
