import { DatabaseSync } from "node:sqlite";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { dayMs, minuteMs } from "../../src/base/time.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import { openStore } from "../../src/store/open.ts";
import { resultReport } from "../support/check-reports.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";

const startMs = Date.UTC(2026, 5, 1);
const intervalMs = 5 * minuteMs;
const runsADay = dayMs / intervalMs;
const rawDays = 7;
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
  it.each(worlds)("stays under 1 GB with $name", async ({ report }) => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-size-"));
    const path = join(folder, "flatline.db");
    const clock = createVirtualClock({ startMs });
    await fill(path, clock, report);
    const young = tableBytes(path);

    const store = await openStore({ path, clock });
    const nowMs = startMs + measured.days * dayMs;
    while ((await store.verdicts.compact({ nowMs, retentionMs: retentionDays * dayMs, maxRows: 2_000 })).hasMore);
    await store.close();
    const compacted = tableBytes(path);
    await rm(folder, { recursive: true });

    const { organizations, days } = measured;
    const bytesARun = young.points / (organizations * days * runsADay);
    const bytesAnHour = compacted.hours / (organizations * (days - rawDays) * 24);
    const reportsADay = young.reports / (organizations * days);
    const oldReportsADay = (compacted.reports / organizations - reportsADay * rawDays) / (days - rawDays);
    const bytesAnOrganization =
      rawDays * (runsADay * bytesARun + reportsADay) +
      (retentionDays - rawDays) * (24 * bytesAnHour + Math.max(0, oldReportsADay));
    expect(bytesARun).toBeGreaterThan(16);
    expect(bytesARun).toBeLessThan(64);
    expect(bytesAnHour).toBeGreaterThan(16);
    expect(oldReportsADay).toBeLessThan(reportsADay);
    expect(fleet * bytesAnOrganization).toBeLessThan(1_000_000_000);
  });
});

async function fill(path: string, clock: VirtualClock, report: World["report"]): Promise<void> {
  const store = await openStore({ path, clock });
  const ticks = Array.from({ length: measured.days * runsADay }, (_, index) => index);
  // An hour a commit: the order in which rows come, which decides how full pages get, is that of the daemon.
  for (let start = 0; start < ticks.length; start += 12) {
    await store.transaction(async ({ verdicts }) => {
      for (const index of ticks.slice(start, start + 12)) {
        for (let organization = 0; organization < measured.organizations; organization++) {
          const slug = `organization-${organization}`;
          await verdicts.append({ ...report(index + organization * 31, startMs + index * intervalMs), slug });
        }
      }
    });
  }
  await store.close();
}

/** What the tables take in the file, empty space in their pages included. */
function tableBytes(path: string): { readonly points: number; readonly hours: number; readonly reports: number } {
  const database = new DatabaseSync(path, { readOnly: true });
  const bytes = database.prepare("select coalesce(sum(pgsize), 0) as bytes from dbstat where name = ?");
  const of = (table: string): number => Number(bytes.get(table)?.["bytes"]);
  const sizes = { points: of("verdict_points"), hours: of("verdict_hours"), reports: of("verdict_reports") };
  database.close();
  return sizes;
}
