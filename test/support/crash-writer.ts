// Runs until it is killed: claims runs and records each with everything that follows from it in one transaction, and
// delivers what that puts into the outbox. Says what it did as soon as it may count on it.
import { writeSync } from "node:fs";

import { createSystemClock } from "../../src/base/time.ts";
import { openStore } from "../../src/store/open.ts";
import type { ClaimedRun } from "../../src/store/runs/schedule.ts";
import type { StoreParts } from "../../src/store/store.ts";
import { alertIdOf, reportOf, runNumberOf, slugs } from "./crash-runs.ts";

const [path = "", owner = "", nowText = ""] = process.argv.slice(2);
const nowMs = Number(nowText);
const leaseUntilMs = nowMs + 60_000;
const check = "dead-asset-spike";

/** Everything of it carries the number of the run, so that a half of it would be seen. */
async function record(parts: StoreParts, run: ClaimedRun): Promise<number> {
  const { slug } = run;
  const number = runNumberOf((await parts.schedule.state(check, slug))?.lastReport ?? null) + 1;
  const report = reportOf(slug, number);
  const { severity, finishedAtMs: atMs } = report;
  const isOurs = await parts.schedule.complete({ run, owner, report, nextDueAtMs: nowMs - 1 });
  if (!isOurs) throw new Error(`the lease of ${slug} was lost within its time`);
  await parts.verdicts.append(report);
  const alert = { id: alertIdOf(slug), check, slug, kind: "verdict", severity, reason: "test" } as const;
  await parts.alerts.save({
    ...alert,
    state: "firing",
    startsAtMs: 0,
    firingAtMs: 0,
    okSinceMs: null,
    unknownRuns: number,
    peak: { severity, currentCount: number, atMs },
    acknowledgement: null,
  });
  const change = { alertId: alert.id, check, slug, kind: "verdict", atMs, severity, reason: "test" } as const;
  await parts.alerts.appendHistory({ ...change, event: "firing" });
  await parts.notices.appendChange({ ...change, event: "firing", snapshot: String(number) });
  const id = `${slug}-${number}`;
  const due = { createdAtMs: nowMs, notBeforeMs: nowMs };
  await parts.outbox.enqueue({ id, receiver: "ops", ...due, subjects: [alert.id], payload: String(number) });
  return number;
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

say("opening");
const store = await openStore({ path, clock: createSystemClock() });
await store.schedule.sync(slugs.map((slug) => ({ check, slug, scheduleKey: "test", nextDueAtMs: nowMs })));
for (;;) {
  for (const run of await store.schedule.claimDue({ nowMs, owner, leaseUntilMs, limit: 2 })) {
    const number = await store.transaction((parts) => record(parts, run));
    say(`recorded ${run.slug} ${number}`);
  }
  for (const { id } of await store.outbox.claim({ receiver: "ops", nowMs, owner, leaseUntilMs, limit: 2 })) {
    const [slug, number] = id.split("-");
    if (await store.outbox.delivered(id, owner)) say(`delivered ${slug} ${number}`);
  }
}
