import { afterEach, beforeEach, expect, it } from "vitest";

import { createEventWorld, type EventWorld } from "../../../test/support/store/event-store.ts";
import { createVirtualClock, type VirtualClock } from "../../../test/support/virtual-clock.ts";
import { actor } from "../../contract/actor.ts";
import { createSilentLogger } from "../../base/logger.ts";
import { FlatlineError } from "../../base/errors.ts";
import { minuteMs } from "../../base/time.ts";
import type { AlertingSettings } from "../../alerting/settings.ts";
import type { Config } from "../../config/config.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Running } from "../read/running.ts";
import { createGates } from "./gate-routes.ts";
import { firingAlert, openIncident } from "../../../test/support/firing-alert.ts";

const kim = actor("kim", "token");
const startMs = Date.UTC(2026, 0, 15, 12);

const incident = { id: "the-incident", number: 1 };
const alert = (slug: string): Alert => firingAlert(slug, startMs, { slug, incident });

const thresholds = { windowHours: 24 };
const config = {
  organizations: [
    { slug: "acme", thresholds },
    { slug: "globex", thresholds },
  ],
};
const settings = { receivers: [], gateOf: () => ({ releaseOn: ["judged"], whenUnknown: "allow" }) };

let world: EventWorld;
let clock: VirtualClock;
let gate: ReturnType<typeof createGates>;

function gatesOver(over: Partial<Running> = {}): ReturnType<typeof createGates> {
  const running: Partial<Running> = {
    store: world.store,
    // No check has run.
    checks: { of: () => null } as unknown as Running["checks"],
    config: () => config as unknown as Config,
    settings: () => settings as unknown as AlertingSettings,
    clock,
    logger: createSilentLogger(),
    storeProblem: () => null,
    onAct: () => undefined,
    newId: () => "id",
    ...over,
  };
  return createGates(running as Running);
}

beforeEach(async () => {
  world = await createEventWorld();
  await world.store.incidents.add(openIncident(startMs));
  clock = createVirtualClock({ startMs });
  gate = gatesOver();
});
afterEach(() => world[Symbol.asyncDispose]());

async function fail(slug: string): Promise<Alert> {
  const failed = { ...alert(slug), failure: { atMs: clock.nowMs(), releasedAtMs: null } };
  await world.store.alerts.save(failed);
  return failed;
}

it("is not opened by a release before the failure was recorded, even for a run that was due earlier", async () => {
  await clock.advance(4 * minuteMs);
  await gate.release("acme", kim, "ten opened by hand");
  await clock.advance(minuteMs);

  await fail("acme");

  expect(await gate.look("acme")).toMatchObject({ decision: "hold", reason: "fail_firing", sinceMs: clock.nowMs() });
});

it("is opened by a release for what has failed, and held again by what fails later", async () => {
  await fail("acme");

  // No failure holds it, and its state is unknown.
  expect(await gate.release("acme", kim, "ten opened by hand")).toMatchObject({ decision: "allow" });
  await fail("acme");

  expect(await gate.look("acme")).toMatchObject({
    decision: "hold",
    releases: [{ how: "released", alertId: "acme", by: "kim", comment: "ten opened by hand" }],
  });
});

it("holds for an organization that is gone from the configuration as long as it has a failure", async () => {
  await world.store.alerts.save({ ...(await fail("gone")), end: { atMs: startMs, isByRun: false } });
  expect(await gate.look("gone")).toMatchObject({ decision: "hold", reason: "fail_latched" });
  await expect(gate.look("stranger")).rejects.toMatchObject({ code: "not_found" });
  await expect(gate.release("stranger", kim, "x")).rejects.toMatchObject({ code: "not_found" });

  await gate.release("gone", kim, "moved away");

  await expect(gate.look("gone")).rejects.toMatchObject({ code: "not_found" });
});

it("names all that holds it", async () => {
  const flow = await fail("acme");
  await world.store.alerts.save({
    ...flow,
    id: "flow",
    check: "event-flow",
    incident: { id: "i1", number: 1 },
    end: { atMs: startMs, isByRun: true },
  });
  await clock.advance(4 * minuteMs);
  await fail("acme");

  expect((await gate.look("acme")).message).toContain("; event-flow of incident 1 holds it, too, since 2026-01-15T");

  // An alert that has not fired has no incident.
  const { incident: _, ...pending } = { ...flow, end: { atMs: startMs, isByRun: true } };
  await world.store.alerts.save({ ...pending, id: "pending", check: "sentinel" });

  expect((await gate.look("acme")).message).toContain("; sentinel holds it, too, since 2026-01-15T");
});

it("lists what is held, the longest first", async () => {
  await fail("globex");
  await fail("acme");
  await fail("gone");
  await gate.release("gone", kim, "moved away");

  expect((await gate.all()).gates.map(({ slug }) => slug)).toEqual(["acme", "globex"]);
});

it.each([
  [
    "the store cannot be read",
    () => {
      const refuse = () => Promise.reject(new FlatlineError("store_busy", "the server is away"));
      return gatesOver({
        store: { ...world.store, gate: { ...world.store.gate, failures: refuse, unreleased: refuse } },
      });
    },
    /the store cannot be read: the server is away/,
  ],
  ["its file is gone", () => gatesOver({ storeProblem: () => "the file was deleted" }), /the file was deleted/],
])("is not known while %s", async (_what, make, message) => {
  const port = make();

  for (const ask of [() => port.look("acme"), () => port.all(), () => port.release("acme", kim, "x")])
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", message: expect.stringMatching(message) });
});
