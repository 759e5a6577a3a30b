import { Cron } from "croner";

import { createSilentLogger } from "../src/base/logger.ts";
import { createSystemClock } from "../src/base/time.ts";
import type { CheckReport } from "../src/contract/report.ts";
import { createScheduler } from "../src/monitor/scheduler.ts";
import type { CheckTarget } from "../src/checks/checks.ts";
import { CheckState } from "../src/store/runs/board.ts";
import { OwnJournal } from "../src/store/runs/own-journal.ts";
import { splitReport } from "../src/store/runs/report-shape.ts";

// A process of its own for one side, run with --expose-gc: flatline's scheduler over its store, or croner's jobs. Arguments:
// flatline | croner, how many, and for how long they are watched. The answer is one line of JSON.

const [side = "", countText = "", watchMs = ""] = process.argv.slice(2);
const count = Number(countText);
const months = 12;
const mebibyte = 2 ** 20;

/** Once an hour at a second of its own, in months of its own, this one always among them: no two texts are the same. */
function pattern(job: number): string {
  const inHour = job % 3_600;
  const chosen = Math.floor(job / 3_600);
  const thisMonth = new Date().getUTCMonth() + 1;
  const others = Array.from({ length: months }, (_, index) => index + 1).filter((month) => month !== thisMonth);
  const list = [thisMonth, ...others.filter((_, bit) => (chosen >> bit) % 2 === 1)].toSorted((a, b) => a - b);
  return `${inHour % 60} ${Math.floor(inHour / 60)} * * ${list.join(",")} *`;
}

function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error("run this with --expose-gc");
  globalThis.gc();
  globalThis.gc();
}

function memory(): { heapBytes: number; residentBytes: number } {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, residentBytes: rss };
}

async function startFlatline(drifts: number[]): Promise<() => Promise<void>> {
  const clock = createSystemClock();
  const thresholds = { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
  const targets: CheckTarget[] = [];
  for (let job = 0; job < count; job++) {
    const schedule = { pattern: pattern(job), timezone: "UTC", jitterMs: 0 };
    targets.push({ check: "dead-asset-spike", slug: `organization-${job}`, schedule, thresholds });
  }
  // As after a restart: what was never run would be run at once, and that is not what is measured here.
  const board = {
    idOf: () => undefined,
    state: (check: CheckReport["check"], slug: string) => {
      const startedAtMs = clock.nowMs();
      const report = splitReport(notAsked(check, slug, startedAtMs));
      const run = { checkId: 0, dueAtMs: startedAtMs, startedAtMs, finishedAtMs: startedAtMs, report };
      return CheckState.after(null, { check, slug }, 0, { ...run, isAsked: true, isReportKept: false });
    },
  };
  const journal = new OwnJournal({ ownerId: 0, epoch: 0 });
  const scheduler = createScheduler({
    membership: { leasedJournal: () => journal, owns: () => true },
    board,
    clock,
    targets,
    concurrency: 16,
    runTimeoutMs: 30_000,
    run: async ({ check, slug }) => notAsked(check, slug, clock.nowMs()),
    record: async (requests) =>
      requests.map(({ run, report }) => {
        drifts.push(report.startedAtMs - run.dueAtMs);
        return { status: "fulfilled", value: { state: board.state(run.check, run.slug), previousSeverity: null } };
      }),
    metrics: {
      checkRan: () => undefined,
      checksRepeated: () => undefined,
      runSkipped: () => undefined,
      schedulerLag: () => undefined,
    },
    logger: createSilentLogger(),
  });
  scheduler.start();
  return () => scheduler.stop(0);
}

function notAsked(check: CheckReport["check"], slug: string, nowMs: number): CheckReport {
  const error = { reason: "network", message: "not asked" } as const;
  return { kind: "error", check, slug, startedAtMs: nowMs, finishedAtMs: nowMs, severity: "unknown", error };
}

function startCroner(drifts: number[]): () => Promise<void> {
  const jobs: Cron[] = [];
  for (let job = 0; job < count; job++) {
    // Due times are whole seconds.
    jobs.push(new Cron(pattern(job), { utcOffset: 0 }, () => void drifts.push(Date.now() % 1_000)));
  }
  return async () => {
    for (const job of jobs) job.stop();
  };
}

const drifts: number[] = [];
const before = memory();
const startedAtMs = performance.now();
const cpuBefore = process.cpuUsage();
const stop = side === "flatline" ? await startFlatline(drifts) : startCroner(drifts);
const createMs = performance.now() - startedAtMs;
const created = process.cpuUsage(cpuBefore);
const after = memory();
await new Promise((resolve) => void setTimeout(resolve, Number(watchMs)));
await stop();
const sorted = drifts.toSorted((left, right) => left - right);
console.log(
  JSON.stringify({
    bytesPerJob: (after.heapBytes - before.heapBytes) / count,
    residentMiB: after.residentBytes / mebibyte,
    createUs: (createMs * 1_000) / count,
    createCpuUs: (created.user + created.system) / count,
    ...(sorted.length > 0 ? { drift: sorted[Math.floor(sorted.length / 2)] } : {}),
  }),
);
