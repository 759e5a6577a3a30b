import { describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { resultReport } from "../../../test/support/check-reports.ts";
import { createSystemClock } from "../../base/time.ts";
import { CheckState } from "./check-state.ts";
import { shardCount, type Balanced, type Lease, type Owner } from "./owners.ts";

const clock = createSystemClock();

describe.each(storeEngines)("on $engine, owners", ({ makePlace }) => {
  it("share with who renews its lease, and keep nothing free for who does not", async () => {
    const place = await makePlace();
    const { owners } = await place.open(clock);
    const leaseOf = (leaseMs: number): Lease => ({ nowMs: clock.nowMs(), leaseUntilMs: clock.nowMs() + leaseMs });
    const [one, two] = [await owners.register(leaseOf(600_000)), await owners.register(leaseOf(600_000))];
    const balance = (): Promise<Balanced | null> =>
      owners.balance(one, { nowMs: clock.nowMs(), isAlone: false, renewedUntilMs: clock.nowMs() + 300_000 });

    const shared = await balance();
    await owners.renew(two, leaseOf(200_000));
    const alone = await balance();
    await owners.renew(two, leaseOf(600_000));
    const again = await balance();
    await owners.release(one, again?.shards.slice(-again.surplus) ?? []);
    const given = await balance();

    expect(shared).toMatchObject({ shards: { length: shardCount / 2 }, surplus: 0 });
    expect(alone).toMatchObject({ shards: { length: shardCount }, surplus: 0 });
    expect(again).toMatchObject({ shards: { length: shardCount }, surplus: shardCount / 2 });
    expect(given).toEqual(shared);
    expect(await owners.renew(two, leaseOf(1)), "it has not ended").toBe(true);
    await place.remove();
  });

  it("write nothing any more once another one has ended their epoch", async () => {
    const place = await makePlace();
    const { owners, runs } = await place.open(clock);
    const leaseOf = (leaseMs: number): Lease => ({ nowMs: clock.nowMs(), leaseUntilMs: clock.nowMs() + leaseMs });
    const [late, next] = [await owners.register(leaseOf(-1)), await owners.register(leaseOf(600_000))];
    const check = { check: "dead-asset-spike", slug: "acme" } as const;
    const [checkId = 0] = (await runs.addChecks([check])).values();
    const report = resultReport({ slug: "acme", finishedAtMs: 7_000 });
    const commit = (owner: Owner): Promise<string> => {
      const run = { ownerId: owner.ownerId, seq: 1, dueAtMs: 7_000, isAsked: false };
      return runs.commit(owner, 1, [{ checkId, report, state: CheckState.after(null, report, run) }]);
    };

    await owners.balance(next, { nowMs: clock.nowMs(), isAlone: false, renewedUntilMs: clock.nowMs() });
    const refused = await commit(late);
    const states = (await runs.load()).checks;
    const stored = await commit(next);

    expect({ refused, stored }).toEqual({ refused: "fenced", stored: "stored" });
    expect(states.map(({ state }) => state)).toEqual([null]);
    expect(await owners.renew(late, leaseOf(600_000))).toBe(false);
    await place.remove();
  });
});
