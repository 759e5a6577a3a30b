// Runs its share of the checks and delivers until nothing is left, beside others that do the same, and says what it did. Times are the machine's
// monotonic ones, which all processes share.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";

import { createSystemClock } from "../../../src/base/time.ts";
import { shardOf } from "../../../src/monitor/membership.ts";
import { openStore } from "../../../src/store/open.ts";
import { CheckState } from "../../../src/store/runs/check-state.ts";
import { shardCount } from "../../../src/store/runs/owners.ts";
import { resultReport } from "../check-reports.ts";

const [path = "", owner = "", nowText = ""] = process.argv.slice(2);
const nowMs = Number(nowText);
const lease = { nowMs, owner, leaseUntilMs: nowMs + 60_000 };

/** As many shards as the other one has. */
async function takeShare(): Promise<readonly number[]> {
  for (;;) {
    const balanced = await store.owners.balance(runOwner, { nowMs, isAlone: false, renewedUntilMs: nowMs });
    if (balanced !== null && balanced.surplus > 0)
      await store.owners.release(runOwner, balanced.shards.slice(-balanced.surplus));
    else if (balanced?.shards.length === shardCount / 2) return balanced.shards;
    await turn();
  }
}

/** Returns whether there was something to deliver. */
async function deliver(): Promise<boolean> {
  const claimed = await store.outbox.claim([{ ...lease, receiver: "ops", limit: 3 }]);
  for (const { id, payload } of claimed) {
    const claimedAt = process.hrtime.bigint();
    await turn();
    say(`sent ${id} ${payload} ${claimedAt} ${process.hrtime.bigint()}`);
    await store.outbox.settle([{ kind: "delivered", id }], owner);
  }
  return claimed.length > 0;
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

const store = await openStore({ path, clock: createSystemClock() });
const organizations = (await store.runs.load()).checks.map(({ slug }) => slug);
const runOwner = await store.owners.register(lease);
const commands = createInterface({ input: process.stdin });
say("ready");
await once(commands, "line");

const shards = new Set(await takeShare());
for (const [index, slug] of organizations.entries()) {
  if (!shards.has(shardOf(slug))) continue;
  const seq = runOwner.seq + 1;
  const run = { ownerId: runOwner.ownerId, seq, dueAtMs: nowMs, isAsked: false };
  const report = resultReport({ slug });
  const runs = [{ checkId: index + 1, report, state: CheckState.after(null, report, run) }];
  const committed = await store.transaction((parts) => parts.runs.commit(runOwner, seq, runs));
  runOwner.seq = seq;
  say(`run ${slug} ${committed}`);
}
// None goes on before each has delivered something, or the first would deliver all while another is not running.
while (!(await deliver())) await turn();
say("delivered");
await once(commands, "line");
commands.close();
while ((await store.outbox.totals()).length > 0) {
  await deliver();
  // What is left may be under way in another process.
  await turn();
}
await store.close();
