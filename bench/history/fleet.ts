import { DatabaseSync } from "node:sqlite";

import type { RecordRequest } from "../../src/alerting/finished-run.ts";
import { hourMs } from "../../src/base/time.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import { openStore } from "../../src/store/open.ts";
import { resultReport } from "../../test/support/check-reports.ts";
import { createRunProcess } from "../../test/support/program/run-process.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";

/** A fleet that is checked for some virtual hours, by a recorder, a journal and an hourly fold. */
export interface Fleet {
  /** The database file. */
  readonly path: string;
  readonly source: "embedded" | "remote";
  readonly organizations: number;
  readonly everyMs: number;
  readonly hours: number;
  /** The last hour stays in the journal. */
  readonly isLastHourOpen: boolean;
}

const startMs = Date.UTC(2026, 5, 1);
// The thresholds of the reports.
const windowHours = 24;
const baselineDays = 7;
const failMultiplier = 4;
// Of a remote fleet: runs that end together.
const remoteTogether = 100;
const seldom = 20;
const often = 2;
// A spike of two hours in each thirty days.
const spikeHours = 2;
const spikeEveryHours = 720;

/** Fills a new store and returns the size of its state after each hour, in bytes, with nothing left in the log. */
export async function fillStore(fleet: Fleet): Promise<number[]> {
  const clock = createVirtualClock({ startMs });
  const store = await openStore({ path: fleet.path, clock });
  const own = await createRunProcess(store, clock);
  const sizes: number[] = [];
  for (let hour = 0; hour < fleet.hours; hour++) {
    for (let atMs = 0; atMs < hourMs; atMs += fleet.everyMs) {
      const requests = round(fleet, startMs + hour * hourMs + atMs).map((report): RecordRequest => ({
        run: { check: report.check, slug: report.slug, dueAtMs: clock.nowMs(), isAsked: false, journal: own.journal },
        report,
        nextDueAtMs: clock.nowMs() + fleet.everyMs,
      }));
      const together = fleet.source === "remote" ? remoteTogether : requests.length;
      for (let at = 0; at < requests.length; at += together) {
        const recorded = await own.recorder.record(requests.slice(at, at + together));
        const failed = recorded.find((one) => one.status === "rejected");
        if (failed !== undefined) throw failed.reason;
      }
      await clock.advance(fleet.everyMs);
    }
    if (hour < fleet.hours - 1 || !fleet.isLastHourOpen) await own.fold();
    sizes.push(stateBytes(fleet.path));
  }
  await store.close();
  return sizes;
}

function round(fleet: Fleet, dueAtMs: number): CheckReport[] {
  return Array.from({ length: fleet.organizations }, (_, organization) => report(fleet, organization, dueAtMs));
}

/**
 * Counts of an embedded fleet move three times an hour at one check a minute; of a remote one in every second run, and each
 * of its runs has times of its own.
 */
function report({ source, everyMs }: Fleet, organization: number, dueAtMs: number): CheckReport {
  const isRemote = source === "remote";
  const index = Math.floor(dueAtMs / everyMs);
  const moved = Math.floor((index + organization) / (isRemote ? often : seldom));
  const hour = Math.floor(dueAtMs / hourMs);
  const isSpike = (hour + organization) % spikeEveryHours < spikeHours;
  const baselineCount = 700 + (mixed(organization, moved) % 40);
  const expectedCount = (baselineCount * windowHours) / (baselineDays * windowHours);
  const normal = 80 + (mixed(moved, organization) % 30);
  const currentCount = isSpike ? normal * 2 * failMultiplier : normal;
  const tookMs = isRemote ? 40 + (mixed(organization, index) % 80) + (mixed(index, organization) % 80) : 0;
  const startedAtMs = dueAtMs + (isRemote ? Math.floor(organization / remoteTogether) * 50 : 0);
  const finishedAtMs = startedAtMs + tookMs;
  const counts = { currentCount, baselineCount, expectedCount, ratio: currentCount / expectedCount };
  const severity = isSpike ? "fail" : "ok";
  const result = {
    observed: counts,
    generatedAt: new Date(startedAtMs + Math.floor(tookMs / 2)).toISOString(),
  };
  const slug = `organization-${organization}`;
  return { ...resultReport({ slug, severity, finishedAtMs, counts, result }), startedAtMs };
}

/** Returns a number that looks like chance, from two. */
function mixed(left: number, right: number): number {
  return Math.imul(Math.imul(left + 1, 0x9e3779b1) ^ (right + 1), 0x85ebca6b) >>> 8;
}

/** Returns the bytes of all pages in use, those of the log included. */
function stateBytes(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const bytes = (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  database.close();
  return bytes;
}
