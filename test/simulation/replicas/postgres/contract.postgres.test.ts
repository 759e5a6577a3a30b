import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";

import { FlatlineError } from "../../../../src/base/errors.ts";
import { CheckState } from "../../../../src/store/runs/check-state.ts";
import type { Owner } from "../../../../src/store/runs/owners.ts";
import { pointOf } from "../../../../src/store/runs/run-point.ts";
import type { Store } from "../../../../src/store/store.ts";
import { errorReport, resultReport } from "../../../support/check-reports.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/postgres.ts";
import { createChance, type Chance } from "../../chance.ts";
import { tables } from "./rows.ts";
import { createModelRig, createRealRig, type Rig } from "./rig.ts";
import { isLong } from "../../../support/tier.ts";

const processes = 3;
const steps = 300;
const leaseMs = 10_000;

let database: TestDatabase;
let rigs: { readonly model: Rig; readonly real: Rig };

beforeEach(async () => {
  database = await createDatabase();
  rigs = { model: await createModelRig(processes), real: await createRealRig(processes, database.url) };
});
afterEach(async () => {
  await Promise.all([rigs.model.close(), rigs.real.close()]);
  await database.drop();
});

/** What a process does next, on whichever store; the owners are those that were registered so far. */
type Operation = (store: Store, owners: readonly Owner[]) => Promise<unknown>;

const noOwner: Owner = { ownerId: 99, epoch: 1, seq: 0 };

/** Draws one of what replicas do to ownership, checks and history. */
function draw(chance: Chance, nowMs: number): { readonly name: string; readonly work: Operation } {
  const [which, other, number] = [chance.next(), chance.next(), chance.between(1, 4)];
  // The latest ones, so that processes meet.
  const ownerOf = (owners: readonly Owner[]): Owner => {
    const few = owners.slice(-4);
    return few[Math.floor(which * few.length)] ?? noOwner;
  };
  const lease = { nowMs, leaseUntilMs: nowMs + leaseMs };
  const key = { check: "dead-asset-spike", slug: `org-${number}` } as const;
  const point = pointOf(resultReport({ finishedAtMs: nowMs }));
  const operations: Record<string, Operation> = {
    register: (store) => store.owners.register(lease),
    renew: (store, owners) => store.owners.renew(ownerOf(owners), lease),
    balance: (store, owners) =>
      store.owners.balance(ownerOf(owners), { nowMs, isAlone: other < 0.1, renewedUntilMs: nowMs + leaseMs / 2 }),
    release: (store, owners) => store.owners.release(ownerOf(owners), [number, number + 1, number * 10]),
    leave: (store, owners) => store.owners.leave(ownerOf(owners)),
    commit: (store, owners) =>
      store.transaction(async (parts) => {
        const owner = ownerOf(owners);
        const ids = await parts.runs.addChecks([key]);
        const run = { ownerId: owner.ownerId, seq: number, dueAtMs: nowMs, isAsked: other < 0.5 };
        const times = { slug: key.slug, finishedAtMs: Math.floor(other * 1_000) };
        const report = other < 0.5 ? resultReport(times) : errorReport(times);
        const state = CheckState.after(null, report, run);
        const committed = await parts.runs.commit(
          owner,
          number,
          [...ids.values()].map((checkId) => ({ checkId, report, state })),
        );
        await parts.alerts.liveOf([key]);
        return committed;
      }),
    follow: (store, owners) =>
      store.runs.checksAfter(new Map(owners.map(({ ownerId }) => [ownerId, ownerId % 2 === 0 ? number : 0])), 1),
    load: (store) => store.runs.load(),
    name: (store) => store.runs.addChecks([key, { ...key, slug: "org-1" }]),
    hours: (store) =>
      store.runs.mergeHours([
        { checkId: number, hour: 7, points: [point] },
        { checkId: 1, hour: Math.floor(other * 2), points: [point] },
      ]),
    fold: (store) => store.runs.foldRuns(Math.floor(other * 2), 500),
    ended: (store) => store.owners.deleteEnded(),
    forget: (store) => store.runs.forget([number, 4]),
    request: (store) => store.runs.request(key, nowMs),
    requests: async (store) => store.runs.endRequests((await store.runs.requests()).map(({ requestId }) => requestId)),
    exclusively: (store) => store.exclusively("fold of runs", () => store.runs.requests()),
  };
  const often = ["commit", "commit", "commit", "renew", "renew", "balance", "leave", "fold", "hours"];
  const name = chance.pick(["name", ...Object.keys(operations), ...often]);
  return { name, work: operations[name] as Operation };
}

/** A result as it can be compared: bytes as text, maps as sorted lists. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_key, one: unknown) => {
      // In the order in which rows came.
      if (one instanceof Map) return [...one].map(String).toSorted();
      if (one instanceof Uint8Array) return Buffer.from(one).toString("hex");
      // Buffer's own form.
      if (typeof one === "object" && one !== null && "type" in one && one.type === "Buffer" && "data" in one)
        return Buffer.from(one.data as number[]).toString("hex");
      return typeof one === "bigint" ? String(one) : one;
    }),
  ) as unknown;
}

/** Rows in an order that does not matter where the statement asks for none. */
function sorted(rows: unknown): readonly string[] {
  return (plain(rows) as readonly object[]).map((row) => Object.values(row).map(String).join(" ")).toSorted();
}

/** Plays the same interleaving on both, and compares everything after each step. */
async function play(seed: number): Promise<{ blocked: number; refused: number }> {
  const chance = createChance(seed);
  const both = Object.values(rigs);
  const counts = { blocked: 0, refused: 0 };
  const owners: Owner[] = [];
  /** By process: what it does, and what has come of it on each. */
  const running = Array.from({ length: processes }, () => ({ name: "", results: null as string[] | null, left: 0 }));
  const isIdle = (index: number): boolean => running[index]?.left === 0;
  let story = "";

  function begin(index: number, nowMs: number): void {
    const { name, work } = draw(chance, nowMs);
    const known = [...owners];
    const one = { name, results: [] as string[], left: both.length };
    running[index] = one;
    for (const [at, rig] of both.entries()) {
      const store = rig.stores[index] as Store;
      const run = async (): Promise<void> => {
        one.results[at] = await work(store, known).then(
          (result) => JSON.stringify(plain(result)),
          (error: unknown) => `failed: ${error instanceof FlatlineError ? error.code : String(error)}`,
        );
        one.left--;
      };
      void run();
    }
  }

  function end(index: number): void {
    const { name, results } = running[index] as (typeof running)[number];
    if (results === null) return;
    if (name !== "load" && name !== "follow") expect(results[0], story).toEqual(results[1]);
    const made = name === "register" ? (JSON.parse(results[0] ?? "null") as Owner) : null;
    // An owner's epoch is raised by others; both are tried.
    if (made !== null) owners.push(made, { ...made, epoch: 2 });
    running[index] = { name: "", results: null, left: 0 };
  }

  async function step(index: number): Promise<void> {
    const asked = both.map((rig) => rig.waiting(index));
    expect(plain(asked[0]), story).toEqual(plain(asked[1]));
    story = `seed ${seed}, ${running[index]?.name ?? ""}: ${asked[0]?.text ?? ""}`;
    for (const rig of both) rig.pass(index);
    for (const rig of both) await rig.settle((one) => rigDone(rig, one));
    for (let one = 0; one < processes; one++) {
      const [model = [], real = []] = both.map((rig) => rig.outcomes(one).map(comparable));
      expect(model, `${story} (process ${one})`).toEqual(real);
      counts.refused += model.filter((outcome) => "code" in outcome).length;
      expect(rigs.model.isBlocked(one), `${story}: process ${one} waits`).toBe(rigs.real.isBlocked(one));
      if (rigs.real.isBlocked(one)) counts.blocked++;
      if (isIdle(one)) end(one);
    }
  }

  function rigDone(rig: Rig, index: number): boolean {
    const { results } = running[index] as (typeof running)[number];
    return results === null || results[both.indexOf(rig)] !== undefined;
  }

  for (let done = 0; done < steps; done++) {
    for (let index = 0; index < processes; index++) {
      if (running[index]?.results === null) begin(index, done * 700);
    }
    for (const rig of both) await rig.settle((one) => rigDone(rig, one));
    const ready = Array.from({ length: processes }, (_, index) => index).filter(
      (index) => rigs.model.waiting(index) !== null,
    );
    const [first, ...others] = ready;
    // All wait for each other.
    if (first === undefined) break;
    await step(chance.pick([first, ...others]));
  }
  for (const table of Object.keys(tables)) {
    const [model, real] = await Promise.all(both.map((rig) => rig.rows(table)));
    expect(sorted(model), `${story}: ${table}`).toEqual(sorted(real));
  }
  return counts;
}

function comparable(outcome: ReturnType<Rig["outcomes"]>[number]): object {
  return "code" in outcome ? outcome : { count: outcome.count, rows: sorted(outcome.rows) };
}

describe("the model of PostgreSQL", () => {
  const all = { blocked: 0, refused: 0 };
  // In some interleavings no statement meets another one's lock; together they must, or nothing was shown of locks.
  afterAll(() => {
    expect(all.blocked).toBeGreaterThan(0);
    expect(all.refused).toBeGreaterThan(0);
  });

  it.each(isLong ? Array.from({ length: 40 }, (_, index) => index + 1) : [1, 2, 3, 4])(
    "answers, blocks and refuses what replicas send as a real one does, interleaving %i",
    async (seed) => {
      const counts = await play(seed);
      all.blocked += counts.blocked;
      all.refused += counts.refused;
    },
  );
});
