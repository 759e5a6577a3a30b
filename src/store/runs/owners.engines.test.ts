import { describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createSystemClock } from "../../base/time.ts";
import { shardCount, type Balanced, type Lease } from "./owners.ts";

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
});
