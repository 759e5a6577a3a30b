import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { storeEngines, type StorePlace } from "../../test/support/store-engines.ts";
import { createSystemClock } from "../base/time.ts";
import type { AlertState } from "./alerts/alerts.ts";
import type { Store, StoreParts } from "./store.ts";

const clock = createSystemClock();
const nowMs = Date.UTC(2026, 5, 1);

const alert: AlertState = {
  id: "one",
  check: "dead-asset-spike",
  slug: "acme",
  kind: "verdict",
  state: "firing",
  severity: "warn",
  startsAtMs: nowMs,
  firingAtMs: nowMs,
  okSinceMs: null,
  unknownRuns: 0,
  peak: { severity: "warn", currentCount: 30, atMs: nowMs },
  acknowledgement: null,
  reason: "above-warn-threshold",
};

describe.each(storeEngines)("transactions on $engine", ({ makePlace }) => {
  let place: StorePlace;
  let stores: Store[];
  beforeEach(async () => {
    place = await makePlace();
    stores = [await place.open(clock), await place.open(clock), await place.open(clock)];
  });
  afterEach(() => place.remove());

  const one = (): Store => stores[0] as Store;

  it("are all or nothing", async () => {
    const failed = one().transaction(async (parts) => {
      await parts.meta.getOrSet("name", "value");
      await parts.verdicts.append(resultReport());
      throw new RangeError("no");
    });

    await expect(failed).rejects.toThrow("no");
    expect(await one().meta.get("name")).toBeNull();
    expect(await one().verdicts.firstAtMs("dead-asset-spike", "acme")).toBeNull();
  });

  it("of three processes that count in one row lose no count", async () => {
    await one().alerts.save({ ...alert, unknownRuns: 0 });
    const count = (store: Store): Promise<void> =>
      store.transaction(async ({ alerts }) => {
        const known = await alerts.byId("one");
        await clock.sleep(1);
        await alerts.save({ ...alert, unknownRuns: (known?.unknownRuns ?? 0) + 1 });
      });

    for (let round = 0; round < 4; round++) await Promise.all(stores.map(count));

    expect(await one().alerts.byId("one")).toMatchObject({ unknownRuns: 12 });
  });

  it("of three processes tell of a change once, however they meet", async () => {
    const { id: alertId, check, slug, kind } = alert;
    const told = { severity: "warn", reason: "above-warn-threshold", snapshot: "{}" } as const;
    const addChange = ({ notices }: StoreParts): Promise<void> =>
      notices.appendChange({ alertId, check, slug, kind, atMs: nowMs, event: "firing", ...told });
    const tellAll = (store: Store): Promise<number> =>
      store.transaction(async (parts) => {
        await parts.notices.takeTurn();
        const changes = await parts.notices.changes();
        await clock.sleep(1);
        for (const { seq } of changes) {
          const times = { createdAtMs: nowMs, notBeforeMs: nowMs };
          await parts.outbox.enqueue({ id: `${seq}`, receiver: "ops", ...times, subjects: [], payload: "{}" });
        }
        await parts.notices.settle([alertId]);
        return changes.length;
      });

    let sum = 0;
    for (let round = 0; round < 4; round++) {
      const [, ...formed] = await Promise.all([addChange(one()), ...stores.map(tellAll)]);
      sum += formed.reduce((left, right) => left + right, 0);
    }
    sum += await tellAll(one());

    expect(sum).toBe(4);
    expect(await one().outbox.list()).toHaveLength(4);
  });

  it("do work once more that another process came before, and none of it twice", async () => {
    const checkRow = { check: "dead-asset-spike", slug: "acme" } as const;
    await one().schedule.sync([{ ...checkRow, scheduleKey: "*/5", nextDueAtMs: nowMs }]);
    const lease = { nowMs, leaseUntilMs: nowMs + 10_000, limit: 1 };
    const [run] = await one().schedule.claimDue({ ...lease, owner: "one" });
    if (run === undefined) throw new Error("nothing due");
    const done = { run, owner: "one", report: resultReport(), nextDueAtMs: nowMs + 300_000 };

    const recorded = await Promise.all(
      stores.map((store) =>
        store.transaction(async (parts) => {
          const [state] = await parts.schedule.completeAll([done]);
          if (state === null) return false;
          await parts.verdicts.append(done.report);
          await parts.alerts.appendHistory({ ...alert, alertId: "one", atMs: nowMs, event: "firing" });
          return true;
        }),
      ),
    );

    expect(recorded.filter((isDone) => isDone)).toHaveLength(1);
    expect(await one().alerts.history({ ...checkRow, fromMs: 0, limit: 9 })).toHaveLength(1);
  });

  it("of three processes that fold the same history leave it folded once", async () => {
    const dayMs = 86_400_000;
    const runs = Array.from({ length: 48 }, (_, index) => resultReport({ finishedAtMs: nowMs + index * 900_000 }));
    await one().transaction(({ verdicts }) => verdicts.appendAll(runs));
    const limits = { nowMs: nowMs + 10 * dayMs, retentionMs: 90 * dayMs, maxRows: 7 };

    const rounds = stores.map(async (store) => {
      while ((await store.verdicts.compact(limits)).hasMore);
    });
    await Promise.all(rounds);
    while ((await one().verdicts.compact(limits)).hasMore);

    const all = { check: "dead-asset-spike", slug: "acme", fromMs: 0, toMs: Number.MAX_SAFE_INTEGER } as const;
    expect((await one().verdicts.points(all)).map(({ atMs }) => atMs)).toEqual(
      Array.from({ length: 12 }, (_, hour) => nowMs + hour * 3_600_000 + 3 * 900_000),
    );
  });

  it("under way end before the store is closed, and later ones are refused as unavailable", async () => {
    const store = await place.open(clock);
    const working = store.transaction(async (parts) => {
      await parts.meta.getOrSet("name", "value");
      await clock.sleep(5);
      return parts.meta.get("name");
    });

    await store.close();

    expect(await working).toBe("value");
    await expect(store.meta.get("name")).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.transaction(async () => "done")).rejects.toMatchObject({ code: "unavailable" });
    await store.close();
    expect(await one().meta.get("name")).toBe("value");
  });
});
