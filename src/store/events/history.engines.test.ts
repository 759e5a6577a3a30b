import { describe, expect, it } from "vitest";

import { createWorldOn, death } from "../../../test/support/store/event-store.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { noType } from "../../contract/assets.ts";
import type { HistoryEvent } from "./events.ts";
import type { LivenessEvent } from "./rules.ts";
import type { Store } from "../store.ts";

async function historyOf(store: Store, slug: string): Promise<{ pages: number; events: HistoryEvent[] }> {
  const events: HistoryEvent[] = [];
  let pages = 0;
  for await (const page of store.events.history(slug)) {
    pages++;
    events.push(...page);
  }
  return { pages, events };
}

describe.each(storeEngines)("the history of events, $engine", (engine) => {
  it("has every event of an organization once, oldest first, in pages", async () => {
    await using world = await createWorldOn(engine);
    // Many at one instant: a page must not end where an instant does.
    const event = (index: number): LivenessEvent =>
      death(1_000 * Math.floor(index / 700), index % 5 === 4 ? "globex" : "acme", {
        assetType: index % 2 === 0 ? null : "URL",
        asset: `asset-${index}`,
        status: index % 3 === 0 ? "DETECTED_AS_ALIVE" : "DETECTED_AS_DEAD",
      });
    const lines = Array.from({ length: 8_000 }, (_, index) => event(index)).map(
      ({ atMs, slug, assetType, asset, status }) => `${atMs},${slug},${assetType ?? ""},${asset ?? ""},${status}`,
    );
    const path = await world.write("events.csv", `at,slug,assetType,asset,status\n${lines.join("\n")}\n`);
    await world.import([path]);
    await world.store.events.add([{ ...event(0), atMs: 500, asset: "posted", status: "SEEN", count: 7 }]);

    const { pages, events } = await historyOf(world.store, "acme");

    expect(pages).toBe(2);
    expect(events).toHaveLength(6_401);
    expect(new Set(events.map(({ asset }) => asset)).size).toBe(6_401);
    expect(events.map(({ atMs }) => atMs)).toEqual(
      events.map(({ atMs }) => atMs).toSorted((left, right) => left - right),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ atMs: 500, status: "SEEN", count: 7, typeId: noType, asset: "posted" }),
    );
    expect(new Set(events.map(({ asset, typeId }) => `${Number(asset?.slice(-1)) % 2} ${typeId}`)).size).toBe(3);
  });

  it("is empty for who has no events", async () => {
    await using world = await createWorldOn(engine);

    expect(await historyOf(world.store, "nobody")).toEqual({ pages: 0, events: [] });
  });
});
