import { expect, it } from "vitest";

import { createEventWorld } from "../../test/support/store/event-store.ts";
import { quietSettings } from "../../test/support/quiet-settings.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import { createFleetSnapshots } from "../web/read/fleet.ts";
import { createFleetGauges } from "./fleet-gauges.ts";
import type { Runtime } from "./runtime.ts";
import { firingAlert } from "../../test/support/firing-alert.ts";

const startMs = Date.UTC(2026, 0, 15, 12);
const configured = 10_000;

const failure = (slug: string, check: AlertState["check"] = "dead-asset-spike"): AlertState =>
  firingAlert(`${check} ${slug}`, startMs, { check, slug });

it("tells of every gate whether a failure holds it and since when, with one question to the store", async () => {
  await using world = await createEventWorld();
  const { store } = world;
  const clock = createVirtualClock({ startMs });
  const judged = {
    ...failure("slug-2"),
    judgement: { verdict: "real", comment: null, by: "kim", note: null, atMs: 1 },
  };
  const failures = [failure("slug-1"), failure("slug-1", "sentinel"), judged as AlertState, failure("gone")];
  for (const [index, alert] of failures.entries())
    await store.alerts.save({ ...alert, failure: { atMs: startMs + index, releasedAtMs: null } });
  let questions = 0;
  const counting = {
    ...store,
    gate: {
      ...store.gate,
      unreleased: (live: readonly AlertState[]) => {
        questions += 1;
        return store.gate.unreleased(live);
      },
    },
  };
  const organizations = Array.from({ length: configured }, (_, index) => ({ slug: `slug-${index}` }));
  const settings = {
    ...quietSettings,
    gateOf: () => ({ releaseOn: ["judged"] as const, whenUnknown: "hold" as const }),
  };
  const runtime = {
    current: () => ({ settings, targets: [], config: { organizations, receivers: [] } }),
  } as unknown as Runtime;
  const gauges = createFleetGauges({
    store: counting,
    fleet: createFleetSnapshots({ store: counting, clock, settings: () => settings, version: () => "1" }),
    runtime,
    clock,
    unwatched: { count: async () => 0 },
    discovery: { sources: () => [] },
    isStoreAway: () => false,
  });

  const { gates } = await gauges();

  expect(questions).toBe(1);
  expect(gates).toHaveLength(configured + 1);
  expect(gates.filter(({ heldSinceMs }) => heldSinceMs !== null)).toEqual([
    { slug: "slug-1", heldSinceMs: startMs },
    { slug: "gone", heldSinceMs: startMs + 3 },
  ]);
});
