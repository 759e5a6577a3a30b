import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { storeEngines, type StorePlace } from "../../test/support/store/engines.ts";
import { createSystemClock } from "../base/time.ts";
import type { Store } from "./store.ts";
import { firingAlert } from "../../test/support/firing-alert.ts";

const clock = createSystemClock();
const nowMs = Date.UTC(2026, 5, 1);

const alert = firingAlert("one", nowMs);

describe.each(storeEngines)("transactions on $engine", ({ makePlace }) => {
  let place: StorePlace;
  let store: Store;
  beforeEach(async () => {
    place = await makePlace();
    store = await place.open(clock);
  });
  afterEach(() => place.remove());

  it("are all or nothing", async () => {
    const failed = store.transaction(async (parts) => {
      await parts.meta.getOrSet("name", "value");
      await parts.runs.keepReports([{ ...resultReport(), checkId: 1 }]);
      await parts.alerts.save(alert);
      throw new RangeError("no");
    });

    await expect(failed).rejects.toThrow("no");
    expect(await store.meta.get("name")).toBeNull();
    expect(await store.alerts.allLive()).toEqual([]);
  });

  it("that meet tell of a change once", async () => {
    const { id: alertId, check, slug, kind } = alert;
    const sent = { severity: "warn", reason: "above-warn-threshold", incident: 1, snapshot: "{}" } as const;
    const addChange = (): Promise<void> =>
      store.transaction(({ notices }) =>
        notices.appendChange({ alertId, check, slug, kind, atMs: nowMs, event: "firing", ...sent }),
      );
    const tellAll = (): Promise<number> =>
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
      const [, ...formed] = await Promise.all([addChange(), tellAll(), tellAll(), tellAll()]);
      sum += formed.reduce((left, right) => left + right, 0);
    }
    sum += await tellAll();

    expect(sum).toBe(4);
    expect(await store.outbox.list()).toHaveLength(4);
  });

  it("under way end before the store is closed, and later ones are refused as unavailable", async () => {
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
    expect(await (await place.open(clock)).meta.get("name")).toBe("value");
  });
});
