// Runs until it is killed: records runs, each with everything that follows from it in one transaction, where it is the one
// that owns the store, and delivers what that puts into the outbox. Says what it did as soon as it may count on it.
import { writeSync } from "node:fs";

import { createSystemClock } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { Board } from "../../../src/store/runs/board.ts";
import { CheckState } from "../../../src/store/runs/check-state.ts";
import { alertIdOf, reportOf, runNumberOf, slugs } from "./crash-runs.ts";

const [path = "", owner = "", nowText = ""] = process.argv.slice(2);
const nowMs = Number(nowText);
const leaseUntilMs = nowMs + 60_000;
const check = "dead-asset-spike";
const clock = createSystemClock();

interface Part {
  readonly board: Board;
}

async function takePart(): Promise<Part> {
  await store.takeWriter();
  const board = new Board();
  board.learn(await store.runs.load());
  const ids = await store.runs.addChecks(slugs.map((slug) => ({ check, slug })));
  for (const slug of slugs) board.name(ids.get(`${check} ${slug}`) ?? 0, { check, slug });
  return { board };
}

/** Everything of it carries the number of the run, so that a half of it would be seen. */
async function record({ board }: Part, slug: string): Promise<number> {
  const number = runNumberOf(board.state(check, slug)?.lastReport ?? null) + 1;
  const report = reportOf(slug, number);
  const { severity, finishedAtMs } = report;
  const checkId = board.idOf({ check, slug }) ?? 0;
  const run = { dueAtMs: report.startedAtMs, isAsked: false };
  const runs = [{ checkId, report, state: CheckState.after(board.stateOf(checkId), report, run) }];
  await store.transaction(async (parts) => {
    await parts.runs.commit(runs);
    await parts.runs.keepReports([{ ...report, checkId }]);
    const atMs = finishedAtMs;
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
    await parts.alertHistory.append({ ...change, event: "firing" });
    await parts.notices.appendChange({ ...change, event: "firing", incident: 1, snapshot: String(number) });
    const id = `${slug}-${number}`;
    const due = { createdAtMs: nowMs, notBeforeMs: nowMs };
    await parts.outbox.enqueue({ id, receiver: "ops", ...due, subjects: [alert.id], payload: String(number) });
  });
  board.apply(runs);
  return number;
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

say("opening");
const store = await openStore({ path, clock });
const parts: Part[] = [];
// The other one may have it.
takePart().then(
  (taken) => void parts.push(taken),
  (error: unknown) => say(`owns nothing: ${String(error)}`),
);
for (;;) {
  for (const part of parts) {
    for (const slug of slugs) {
      const number = await record(part, slug);
      say(`recorded ${slug} ${number}`);
    }
  }
  for (const { id } of await store.outbox.claim([{ receiver: "ops", nowMs, owner, leaseUntilMs, limit: 2 }])) {
    const [slug, number] = id.split("-");
    const settled = await store.outbox.settle([{ kind: "delivered", id }], owner);
    if (settled.length > 0) say(`delivered ${slug} ${number}`);
  }
  await clock.sleep(0);
}
