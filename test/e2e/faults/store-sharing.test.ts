import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createSystemClock } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { startLineProcess } from "../../support/program/line-process.ts";

const nowMs = Date.parse("2026-11-02T08:00:00.000Z");
const check = "dead-asset-spike";
const organizations = 120;
const notifications = 120;

interface Sent {
  readonly id: number;
  readonly alerts: readonly string[];
  readonly claimedAt: bigint;
  readonly sentAt: bigint;
}

/** Checks of every organization, and notifications of which some share alerts with others. */
async function fill(path: string): Promise<void> {
  const store = await openStore({ path, clock: createSystemClock() });
  const slugs = Array.from({ length: organizations }, (_, index) => `org-${index}`);
  await store.runs.addChecks(slugs.map((slug) => ({ check, slug })));
  await store.transaction(async ({ outbox }) => {
    for (let index = 0; index < notifications; index++) {
      const subjects = [`alert-${index % 7}`, `alert-${7 + (index % 3)}`];
      const due = { createdAtMs: nowMs, notBeforeMs: nowMs };
      await outbox.enqueue({ id: String(index), receiver: "ops", ...due, subjects, payload: subjects.join(",") });
    }
  });
  await store.close();
}

describe("two processes on one store", () => {
  it("never get the same run or notification, and keep the order of each alert", async () => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-sharing-"));
    const path = join(folder, "flatline.db");
    await fill(path);
    const workers = ["a", "b"].map((name) => startLineProcess("store/sharing-worker.ts", [path, name, String(nowMs)]));
    for (const worker of workers) await worker.untilLines(1);

    for (const worker of workers) worker.tell("go");
    for (const worker of workers) await worker.untilLine("delivered");
    for (const worker of workers) worker.tell("go on");
    for (const worker of workers) await worker.ended();

    const told = workers.map(({ lines }) => lines.map((line) => line.split(" ")));
    const runs = told.map((lines) => lines.filter(([what]) => what === "run"));
    const sent = told.map((lines) =>
      lines
        .filter(([what]) => what === "sent")
        .map(([, id, alerts = "", claimedAt = "", sentAt = ""]): Sent => ({
          id: Number(id),
          alerts: alerts.split(","),
          claimedAt: BigInt(claimedAt),
          sentAt: BigInt(sentAt),
        })),
    );
    // Both had a share, or nothing was proved.
    for (const share of [...runs, ...sent]) expect(share.length).toBeGreaterThan(0);
    const allRuns = runs.flat();
    expect(new Set(allRuns.map(([, slug]) => slug)).size).toBe(organizations);
    expect(allRuns).toHaveLength(organizations);
    expect(allRuns.every(([, , appended]) => appended === "stored")).toBe(true);
    const all = sent.flat().toSorted((left, right) => left.id - right.id);
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: notifications }, (_, index) => index));
    const overtaken = all.flatMap((newer) =>
      all
        .filter((older) => older.id < newer.id && older.alerts.some((alert) => newer.alerts.includes(alert)))
        .filter((older) => older.sentAt > newer.claimedAt)
        .map((older) => `${newer.id} was claimed before ${older.id} was sent`),
    );
    expect(overtaken).toEqual([]);
    await rm(folder, { recursive: true });
  });
});
