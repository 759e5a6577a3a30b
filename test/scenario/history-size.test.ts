import { DatabaseSync } from "node:sqlite";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { dayMs, minuteMs } from "../../src/base/time.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import { openStore } from "../../src/store/open.ts";
import { resultReport } from "../support/check-reports.ts";
import { createRunProcess } from "../support/program/run-process.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";

const startMs = Date.UTC(2026, 5, 1);
const intervalMs = 5 * minuteMs;
const runsADay = dayMs / intervalMs;
// As long as every report of a change is kept.
const wholeDays = 7;
// Numbers that move in each run, and ends that are spread.
const mostBytesARun = 24;
const retentionDays = 90;
const fleet = 1_000;
// What is really written: enough organizations and days for the pages to be as full as they are in a large file.
const measured = { organizations: 10, days: 9 };

interface World {
  readonly name: string;
  readonly report: (index: number, atMs: number) => CheckReport;
}

const worlds: readonly World[] = [
  {
    name: "flatline's own results, of which one in fifty runs is a spike",
    report: (index, atMs) => {
      const isSpike = index % 50 === 0;
      const currentCount = isSpike ? 5_119 : 180 + ((index * 7_919) % 97);
      const counts = {
        currentCount,
        baselineCount: 1_260 + (index % 13),
        expectedCount: 180 + (index % 13) / 7,
        ratio: 1.03,
      };
      return resultReport({ finishedAtMs: atMs + (index % 700), severity: isSpike ? "fail" : "ok", counts });
    },
  },
  {
    name: "a remote service with three hundred observed keys and other findings in each run",
    report: (index, atMs) => {
      const observed = Object.fromEntries(Array.from({ length: 300 }, (_, key) => [`key_${key}`, index * key + 0.1]));
      const findings = [
        { kind: "odd", ref: `run-${index}`, severity: "warn" as const, message: `at ${atMs} in run ${index}` },
      ];
      const counts = { currentCount: index % 400, baselineCount: 1_260, expectedCount: 180.123456, ratio: null };
      return resultReport({
        finishedAtMs: atMs + (index % 700),
        severity: "warn",
        counts,
        result: { observed, findings },
      });
    },
  },
];

describe("the history of 1,000 organizations that run every 5 minutes for 90 days", () => {
  it.each(worlds)("stays under 1 GB with $name", { timeout: 240_000 }, async ({ report }) => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-size-"));
    const path = join(folder, "flatline.db");
    const clock = createVirtualClock({ startMs });
    await fill(path, clock, report);
    const young = tableBytes(path);

    const store = await openStore({ path, clock });
    const nowMs = startMs + measured.days * dayMs;
    const limits = { beforeMs: nowMs - retentionDays * dayMs, thinBeforeMs: nowMs - wholeDays * dayMs, maxRows: 2_000 };
    while ((await store.runs.prune(limits)).hasMore);
    await store.close();
    const thinned = tableBytes(path);
    await rm(folder, { recursive: true });

    const { organizations, days } = measured;
    const bytesARun = young.hours / (organizations * days * runsADay);
    const reportsADay = young.reports / (organizations * days);
    const oldReportsADay = (thinned.reports / organizations - reportsADay * wholeDays) / (days - wholeDays);
    const bytesAnOrganization =
      retentionDays * runsADay * bytesARun +
      wholeDays * reportsADay +
      (retentionDays - wholeDays) * Math.max(0, oldReportsADay);
    expect(bytesARun).toBeGreaterThan(2);
    expect(bytesARun).toBeLessThan(mostBytesARun);
    expect(oldReportsADay).toBeLessThan(reportsADay);
    expect(fleet * bytesAnOrganization).toBeLessThan(1_000_000_000);
  });
});

async function fill(path: string, clock: VirtualClock, report: World["report"]): Promise<void> {
  const store = await openStore({ path, clock });
  const own = await createRunProcess(store, clock);
  const ticks = Array.from({ length: measured.days * runsADay }, (_, index) => index);
  // An hour a fold, as the daemon does it.
  for (let start = 0; start < ticks.length; start += 12) {
    for (const index of ticks.slice(start, start + 12)) {
      const reports = Array.from({ length: measured.organizations }, (_, organization) => ({
        ...report(index + organization * 31, startMs + index * intervalMs),
        slug: `organization-${organization}`,
      }));
      await Promise.all(reports.map((one) => own.record(one)));
    }
    await own.fold();
  }
  await store.close();
}

/** What the tables take in the file, empty space in their pages included. */
function tableBytes(path: string): { readonly hours: number; readonly reports: number } {
  const database = new DatabaseSync(path, { readOnly: true });
  const bytes = database.prepare("select coalesce(sum(pgsize), 0) as bytes from dbstat where name = ?");
  const of = (table: string): number => Number(bytes.get(table)?.["bytes"]);
  const sizes = { hours: of("check_hours"), reports: of("check_reports") };
  database.close();
  return sizes;
}
