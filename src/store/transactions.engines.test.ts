import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { storeEngines, type StorePlace } from "../../test/support/store/engines.ts";
import { createSystemClock } from "../base/time.ts";
import { CheckState } from "./runs/check-state.ts";
import type { StoreParts } from "./store-parts.ts";
import type { Store } from "./store.ts";
import { firingAlert } from "../../test/support/firing-alert.ts";

const clock = createSystemClock();
const nowMs = Date.UTC(2026, 5, 1);

const alert = firingAlert("one", nowMs);

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
      await parts.runs.keepReports([{ ...resultReport(), checkId: 1 }]);
      await parts.alerts.save(alert);
      throw new RangeError("no");
    });

    await expect(failed).rejects.toThrow("no");
    expect(await one().meta.get("name")).toBeNull();
    expect(await one().alerts.allLive()).toEqual([]);
  });

  it("of three processes tell of a change once, however they meet", async () => {
    const { id: alertId, check, slug, kind } = alert;
    const sent = { severity: "warn", reason: "above-warn-threshold", incident: 1, snapshot: "{}" } as const;
    const addChange = ({ notices }: StoreParts): Promise<void> =>
      notices.appendChange({ alertId, check, slug, kind, atMs: nowMs, event: "firing", ...sent });
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

  it("of an owner whose epoch ends meanwhile write nothing, and one that was stored is not stored again", async () => {
    const lease = { nowMs, leaseUntilMs: nowMs + 10_000 };
    const [owner, taker] = [await one().owners.register(lease), await one().owners.register(lease)];
    const ids = await one().runs.addChecks([{ check: "dead-asset-spike", slug: "acme" }]);
    const checkId = [...ids.values()][0] ?? 0;
    const append = (store: Store, seq: number): Promise<string> =>
      store.transaction(async (parts) => {
        const run = { ownerId: owner.ownerId, seq, dueAtMs: nowMs, isAsked: false };
        const report = resultReport({ finishedAtMs: nowMs + seq });
        const state = CheckState.after(null, report, run);
        const appended = await parts.runs.commit(owner, seq, [{ checkId, report, state }]);
        if (appended === "stored")
          await parts.alertHistory.append({ ...alert, alertId: `${seq}`, atMs: nowMs, event: "firing" });
        return appended;
      });

    const first = [await append(one(), 1), await append(one(), 1)];
    const meeting = await Promise.all([
      append(stores[1] as Store, 2),
      (stores[2] as Store).owners.balance(taker, { nowMs: nowMs + 20_000, isAlone: true, renewedUntilMs: nowMs }),
    ]);
    const later = await append(one(), 3);

    expect(first).toEqual(["stored", "present"]);
    expect(["stored", "fenced"]).toContain(meeting[0]);
    expect(later).toBe("fenced");
    const history = await one().alertHistory.since({ check: alert.check, slug: "acme", fromMs: 0, limit: 9 });
    expect(history).toHaveLength(meeting[0] === "stored" ? 2 : 1);
    const span = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
    expect(await one().runs.runsOf({ check: "dead-asset-spike", slug: "acme", ...span })).toHaveLength(history.length);
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
