import { expect, it } from "vitest";

import { createEventWorld } from "../../test/support/store/event-store.ts";
import { quietSettings } from "../../test/support/quiet-settings.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import type { AlertView } from "../alerting/view.ts";
import type { Sample } from "../metrics/exposition.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import { createFleetSnapshots, type FleetSnapshot } from "../web/read/fleet.ts";
import { createFleetGauges } from "./fleet-gauges.ts";
import type { Ground } from "./ground.ts";
import type { Runtime } from "./runtime.ts";
import type { Sourcing } from "./sourcing.ts";
import type { Upkeep } from "./upkeep.ts";
import { firingAlert, openIncident } from "../../test/support/firing-alert.ts";

const startMs = Date.UTC(2026, 0, 15, 12);
const configured = 10_000;

function gaugesOf(ground: Pick<Ground, "store" | "clock">, runtime: Runtime, fleet: () => Promise<FleetSnapshot>) {
  const sourcing = { runtime, discovery: { sources: () => [] } } as unknown as Sourcing;
  const upkeep = { unwatched: { slugs: async () => [] } } as unknown as Upkeep;
  return createFleetGauges(ground, sourcing, upkeep, fleet, () => false);
}

const failure = (slug: string, check: Alert["check"] = "dead-asset-spike"): Alert =>
  firingAlert(`${check} ${slug}`, startMs, { check, slug });

it("tells of every gate whether a failure holds it and since when, with one question to the store", async () => {
  await using world = await createEventWorld();
  const { store } = world;
  const clock = createVirtualClock({ startMs });
  const judged = {
    ...failure("slug-2"),
    judgement: { verdict: "real", comment: null, by: "kim", note: null, atMs: 1 },
  };
  const failures = [failure("slug-1"), failure("slug-1", "sentinel"), judged as Alert, failure("gone")];
  for (const [index, alert] of failures.entries())
    await store.alerts.save({ ...alert, failure: { atMs: startMs + index, releasedAtMs: null } });
  let questions = 0;
  const counting = {
    ...store,
    gate: {
      ...store.gate,
      unreleased: (live: readonly Alert[]) => {
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
    current: () => ({ settings, targets: [], checkNames: [], config: { organizations, receivers: [] } }),
  } as unknown as Runtime;
  const fleet = createFleetSnapshots({ store: counting, clock, settings: () => settings, version: () => "1" });
  const gauges = gaugesOf({ store: counting, clock }, runtime, fleet);

  const { flatline_gate_held: gateHeld, flatline_gate_held_since_timestamp_seconds: gateHeldSince } = await gauges();

  expect(questions).toBe(1);
  expect(gateHeld).toHaveLength(configured + 1);
  expect(gateHeld.flatMap(([{ slug }, isHeld]) => (isHeld ? [slug] : []))).toEqual(["slug-1", "gone"]);
  expect(gateHeldSince).toEqual([
    [{ slug: "slug-1" }, startMs / 1_000],
    [{ slug: "gone" }, startMs / 1_000 + 0.003],
  ]);
});

it("counts alerts, incidents and queues", async () => {
  await using world = await createEventWorld();
  const { store } = world;
  const clock = createVirtualClock({ startMs });
  const view = (slug: string, incident: number, given: Partial<Alert> & { isSilenced?: boolean }): AlertView => {
    const { isSilenced = false, ...state } = given;
    const alert = firingAlert(`${slug} ${incident}`, startMs, { slug, ...state });
    const of = { ...alert, incident: { number: incident } } as Alert;
    return { ...of, isSilenced, holdsGate: false, target: null };
  };
  const acknowledgement = { by: "kim" } as unknown as Alert["acknowledgement"];
  const snapshot = {
    alerts: [
      view("acme", 1, {}),
      view("b", 2, { isSilenced: true }),
      view("c", 3, { acknowledgement }),
      view("d", 0, { state: "pending", severity: "warn", isSilenced: true }),
      view("acme", 4, { severity: "unknown", kind: "unknown" }),
    ],
    open: [
      openIncident(startMs, { number: 1, verdict: {} as NonNullable<Incident["verdict"]> }),
      openIncident(startMs, { number: 2 }),
      openIncident(startMs, { number: 3 }),
      openIncident(startMs, { number: 4, family: "unreachable" }),
    ],
    outbox: [{ receiver: "ops", pending: 2, deadLetters: 1, oldestCreatedAtMs: startMs - 90_000 }],
    held: new Map(),
  };
  const config = { organizations: [{ slug: "acme" }], receivers: [{ name: "ops" }, { name: "pager" }] };
  const current = () => ({ targets: [], config, checkNames: ["dead-asset-spike"] });
  const fleet = async (): Promise<FleetSnapshot> => snapshot as unknown as FleetSnapshot;
  const gauges = gaugesOf({ store, clock }, { current } as unknown as Runtime, fleet);

  const read = await gauges();

  const counted = (samples: readonly Sample[]) =>
    samples.filter(([, value]) => value !== 0).map(([labels, value]) => [...Object.values(labels), value].join(" "));
  expect(read.flatline_alerts).toHaveLength(9);
  expect(counted(read.flatline_alerts)).toEqual([
    "dead-asset-spike pending warn 1",
    "dead-asset-spike firing fail 2",
    "dead-asset-spike firing unknown 1",
    "dead-asset-spike silenced fail 1",
  ]);
  expect(read.flatline_incidents_open).toHaveLength(3 * 3 * 3);
  expect(counted(read.flatline_incidents_open)).toEqual([
    "deaths fail active 1",
    "deaths fail acknowledged 1",
    "deaths fail silenced 1",
    "unreachable unknown active 1",
  ]);
  expect(
    counted([
      ...read.flatline_alert_firing,
      ...read.flatline_fleet_verdict,
      ...read.flatline_fleet_spiking_organizations,
    ]),
  ).toEqual([
    "dead-asset-spike acme fail 1",
    "dead-asset-spike b fail 1",
    "dead-asset-spike c fail 1",
    "dead-asset-spike acme unknown 1",
    "1",
    "dead-asset-spike 3",
  ]);
  const queues = [
    read.flatline_outbox_pending,
    read.flatline_outbox_dead_letters,
    read.flatline_outbox_oldest_age_seconds,
  ];
  expect(queues.map((samples) => samples.map(([, value]) => value))).toEqual([
    [2, 0],
    [1, 0],
    [90, 0],
  ]);
});
