import { describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createWorldOn, death } from "../../../test/support/store/event-store.ts";
import { hourMs, minuteMs } from "../../base/time.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);

describe.each(storeEngines)("on $engine, the newest deaths of many", (engine) => {
  it("are the newest of all spans, each asset of one once, where thousands of deaths have no name", async () => {
    await using world = await createWorldOn(engine);
    const many = Array.from({ length: 270 }, (_, index) => `org-${index}`);
    const unnamed = many
      .slice(0, 100)
      .flatMap((slug) => Array.from({ length: 60 }, (_, minute) => death(nowMs - minute * minuteMs, slug)));
    const named = (hours: number, asset: string) =>
      many.map((slug, index) => death(nowMs - hours * hourMs - index, slug, { asset }));
    await world.store.events.add([
      ...unnamed,
      ...named(2, "a"),
      ...named(10, "b"),
      ...named(11, "a"),
      ...named(13, "c"),
    ]);
    const spans = many.map((slug) => ({ slug, interval: { afterMs: nowMs - 12 * hourMs, untilMs: nowMs } }));

    const found = await world.store.evidence.newestDeaths({ spans, assetTypes: [], limit: 600 });

    expect(found.map(({ slug, asset }) => `${slug} ${asset}`)).toEqual([
      ...many.map((slug) => `${slug} a`),
      ...many.map((slug) => `${slug} b`),
    ]);
  });
});
