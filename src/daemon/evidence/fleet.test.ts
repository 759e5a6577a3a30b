import { describe, expect, it } from "vitest";

import { createEventWorld } from "../../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { createFleetEvidence } from "./fleet.ts";

describe("many organizations at once", () => {
  it("are seen within the round in which they begin to spike, and forgotten when they do not go on", async () => {
    await using world = await createEventWorld();
    const clock = createVirtualClock({ startMs: Date.UTC(2026, 0, 15) });
    const fleet = { minOrganizations: 3, ratio: 0.5 };
    const isFleet = createFleetEvidence({ store: world.store, clock, fleet, organizations: 6 });

    // No alert of the round is stored yet: who asks is all that is known of it.
    const atOnce = await Promise.all([isFleet("a"), isFleet("b"), isFleet("c")]);
    expect(atOnce.filter(Boolean)).toEqual([true]);
    expect(await isFleet("a")).toBe(true);
    await clock.advance(3_000);
    expect(await isFleet("d")).toBe(false);
  });
});
