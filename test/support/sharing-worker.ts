// Claims what is due until nothing is left, beside others that do the same, and says what it got. Times are the machine's
// monotonic ones, which all processes share.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";

import { createSystemClock } from "../../src/base/time.ts";
import { openStore } from "../../src/store/open.ts";
import { resultReport } from "./check-reports.ts";

const [path = "", owner = "", nowText = ""] = process.argv.slice(2);
const nowMs = Number(nowText);
const lease = { nowMs, owner, leaseUntilMs: nowMs + 60_000 };

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

const store = await openStore({ path, clock: createSystemClock() });
say("ready");
await once(process.stdin, "data");
process.stdin.destroy();

for (;;) {
  const runs = await store.schedule.claimDue({ ...lease, limit: 3 });
  if (runs.length === 0) break;
  for (const run of runs) {
    say(`run ${run.slug} ${run.fence}`);
    const report = resultReport({ slug: run.slug });
    await store.schedule.complete({ run, owner, report, nextDueAtMs: nowMs + 1 });
  }
}
while ((await store.outbox.totals()).length > 0) {
  for (const { id, subjects } of await store.outbox.claim({ ...lease, receiver: "ops", limit: 3 })) {
    const claimedAt = process.hrtime.bigint();
    await turn();
    say(`sent ${id} ${subjects.join(",")} ${claimedAt} ${process.hrtime.bigint()}`);
    await store.outbox.delivered(id, owner);
  }
  // What is left may be under way in another process.
  await turn();
}
await store.close();
