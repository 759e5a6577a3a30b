import type { AlertView } from "../alerting/view.ts";
import { FlatlineError } from "../base/errors.ts";
import { dayMs, secondMs, type Clock } from "../base/time.ts";
import { familiesOf } from "../contract/incident.ts";
import { worstSeverity } from "../contract/severity.ts";
import type { FleetGauges } from "../metrics/metrics.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import type { Store } from "../store/store.ts";
import type { FleetSnapshot } from "../web/read/fleet.ts";
import type { UnwatchedReading } from "../web/read/unwatched.ts";
import type { Discovery } from "../discovery/discovery.ts";
import type { Runtime } from "./runtime.ts";

export interface FleetGaugesOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly fleet: () => Promise<FleetSnapshot>;
  readonly unwatched: Pick<UnwatchedReading, "count">;
  readonly discovery: Pick<Discovery, "sources">;
  readonly isStoreAway: () => boolean;
}

// As many markers as a chart of a month can show; labels hold people's words, so their number is limited.
const markersShownMs = 30 * dayMs;
const mostMarkers = 50;
// A scrape has 10 s by default, and a server that hangs lets a statement wait longer.
const readWithinMs = 5 * secondMs;

/**
 * Creates the readings of the store for a scrape. While the store is away it answers what was read last: a target that vanishes would end
 * every alert that Prometheus made of it.
 */
export function createFleetGauges(options: FleetGaugesOptions): () => Promise<FleetGauges> {
  const { store, runtime, clock, unwatched } = options;
  let known: FleetGauges | null = null;

  async function read(nowMs: number): Promise<FleetGauges> {
    const { config, targets, checkNames } = runtime.current();
    const { alerts, open, outbox, held } = await options.fleet();
    return {
      incidents: openIncidents(open, alerts),
      checks: checkNames,
      families: familiesOf(targets.map(({ check }) => check)),
      hasVerdict: open.some(({ verdict }) => verdict !== null),
      alerts: alerts.map(({ alert, isSilenced }) => ({ ...alert, silenced: isSilenced })),
      outbox,
      receivers: config.receivers.map(({ name }) => name),
      pauses: await store.outbox.pauses(nowMs),
      storeBytes: await store.bytes(),
      unwatchedSlugs: await unwatched.count(),
      markers: (await store.markers.between({ fromMs: nowMs - markersShownMs, toMs: nowMs })).slice(-mostMarkers),
      gates: gatesOf(config.organizations, held),
      discovery: options.discovery.sources().map(({ name, up, held }) => ({
        source: name,
        isUp: up,
        isHeld: held !== null,
        organizations: config.organizations.filter(({ discoveredBy }) => discoveredBy === name).length,
      })),
      nowMs,
    };
  }

  async function readInTime(nowMs: number): Promise<FleetGauges> {
    if (!store.isRemote) return read(nowMs);
    const done = new AbortController();
    try {
      return await Promise.race([read(nowMs), refuseLate(done.signal)]);
    } finally {
      done.abort();
    }
  }

  async function refuseLate(done: AbortSignal): Promise<never> {
    await clock.sleep(readWithinMs, done);
    if (done.aborted) return new Promise<never>(() => undefined);
    throw new FlatlineError("store_busy", "the store does not answer in time");
  }

  return async () => {
    const nowMs = clock.nowMs();
    if (known !== null && options.isStoreAway()) return { ...known, nowMs };
    try {
      known = await readInTime(nowMs);
      return known;
    } catch (error) {
      const isPassing = error instanceof FlatlineError && error.code === "store_busy";
      if (known === null || !isPassing) throw error;
      return { ...known, nowMs };
    }
  };
}

/** Returns how each open incident stands, by the alerts of it that fire. */
function openIncidents(open: readonly Incident[], alerts: readonly AlertView[]): FleetGauges["incidents"] {
  const firing = Map.groupBy(
    alerts.filter(({ alert }) => alert.state === "firing"),
    ({ alert }) => alert.incident?.number ?? 0,
  );
  return open.map((incident) => {
    const members = firing.get(incident.number) ?? [];
    const loud = members.filter(({ isSilenced }) => !isSilenced);
    const isTaken = ({ alert }: AlertView): boolean => alert.acknowledgement !== null;
    const state = loud.length === 0 ? "silenced" : loud.every(isTaken) ? "acknowledged" : "active";
    const severity = worstSeverity((loud.length === 0 ? members : loud).map(({ alert }) => alert.severity));
    return { family: incident.family, severity, state };
  });
}

/** Returns the gates of every organization, and of those that left the configuration while their gate is held. */
function gatesOf(
  organizations: readonly { readonly slug: string }[],
  held: ReadonlyMap<string, number>,
): FleetGauges["gates"] {
  const slugs = new Set([...organizations.map(({ slug }) => slug), ...held.keys()]);
  return [...slugs].map((slug) => ({ slug, heldSinceMs: held.get(slug) ?? null }));
}
