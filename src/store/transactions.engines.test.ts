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
