import type { AlertView } from "../alerting/view.ts";
import { FlatlineError } from "../base/errors.ts";
import { endsWithin } from "../base/lifecycle.ts";
import { dayMs, secondMs } from "../base/time.ts";
import { familiesOf } from "../contract/incident.ts";
import type { CheckName } from "../contract/report.ts";
import { worstSeverity } from "../contract/severity.ts";
import { alertLabelStates, alertSeverities, incidentStates } from "../metrics/catalogue.ts";
import type { Sample } from "../metrics/exposition.ts";
import type { FleetSamples } from "../metrics/metrics.ts";
import type { Marker } from "../store/alerts/markers.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import type { FleetSnapshot } from "../web/read/fleet.ts";
import type { Ground } from "./ground.ts";
import type { Sourcing } from "./sourcing.ts";
import type { Upkeep } from "./upkeep.ts";

// As many markers as a chart of a month can show. Their labels are free text, so their number has a bound.
const markersShownMs = 30 * dayMs;
const mostMarkers = 50;
// A scrape has 10 s by default; a statement can wait longer for a server that hangs.
const readWithinMs = 5 * secondMs;

/**
 * Creates the read of the store for a scrape. While the store is away it returns the last values: Prometheus would
 * resolve every alert of a target that vanishes.
 */
export function createFleetGauges(
  { store, clock }: Pick<Ground, "store" | "clock">,
  { runtime, discovery }: Pick<Sourcing, "runtime" | "discovery">,
  { unwatched }: Pick<Upkeep, "unwatched">,
  fleet: () => Promise<FleetSnapshot>,
  isStoreAway: () => boolean,
): () => Promise<FleetSamples> {
  let known: FleetSamples | null = null;

  async function read(): Promise<void> {
    const nowMs = clock.nowMs();
    const { config, targets, checkNames } = runtime.current();
    const { alerts, open, outbox, held } = await fleet();
    const markers = await store.markers.between({ fromMs: nowMs - markersShownMs, toMs: nowMs });
    const pauses = await store.outbox.pauses(nowMs);
    const receivers = config.receivers.map(({ name }) => name);
    const slugs = [...new Set([...config.organizations.map(({ slug }) => slug), ...held.keys()])];
    const totals = new Map(outbox.map((total) => [total.receiver, total]));
    // A receiver that a reload removed is shown while it has entries in the outbox.
    const queues = [...new Set([...receivers, ...totals.keys()])];
    const sources = discovery.sources();
    known = {
      flatline_alerts: countAlerts(alerts, checkNames),
      flatline_alert_firing: listFiring(alerts),
      flatline_incidents_open: countIncidents(open, alerts, familiesOf(targets.map(({ check }) => check))),
      flatline_fleet_verdict: [[{}, Number(open.some(({ verdict }) => verdict !== null))]],
      flatline_fleet_spiking_organizations: checkNames.map((check) => [{ check }, countSpiking(alerts, check)]),
      flatline_outbox_pending: queues.map((receiver) => [{ receiver }, totals.get(receiver)?.pending ?? 0]),
      flatline_outbox_dead_letters: queues.map((receiver) => [{ receiver }, totals.get(receiver)?.deadLetters ?? 0]),
      flatline_outbox_oldest_age_seconds: queues.map((receiver) => {
        const sinceMs = totals.get(receiver)?.oldestCreatedAtMs ?? nowMs;
        return [{ receiver }, Math.max(0, nowMs - sinceMs) / secondMs];
      }),
      flatline_receiver_paused_until_timestamp_seconds: receivers.map((receiver) => [
        { receiver },
        (pauses.get(receiver) ?? 0) / secondMs,
      ]),
      flatline_gate_held: slugs.map((slug) => [{ slug }, Number(held.has(slug))]),
      flatline_gate_held_since_timestamp_seconds: [...held].map(([slug, sinceMs]) => [{ slug }, sinceMs / secondMs]),
      flatline_store_bytes: [[{}, await store.bytes()]],
      flatline_unwatched_slugs: [[{}, (await unwatched.slugs()).length]],
      flatline_marker_timestamp_seconds: listMarkers(markers.slice(-mostMarkers)),
      flatline_discovery_up: sources.map(({ name, up }) => [{ source: name }, Number(up)]),
      flatline_discovery_held: sources.map(({ name, held: kept }) => [{ source: name }, Number(kept !== null)]),
      flatline_discovered_organizations: sources.map(({ name }) => [
        { source: name },
        config.organizations.filter(({ discoveredBy }) => discoveredBy === name).length,
      ]),
    };
  }

  return async () => {
    if (known !== null && isStoreAway()) return known;
    const isPassing = (error: unknown): boolean => error instanceof FlatlineError && error.code === "store_busy";
    try {
      await endsWithin(clock, read(), readWithinMs);
    } catch (error) {
      if (known === null || !isPassing(error)) throw error;
    }
    if (known !== null) return known;
    throw new FlatlineError("store_busy", "the store does not answer in time");
  };
}

function countAlerts(alerts: readonly AlertView[], checks: readonly CheckName[]): Sample[] {
  const keyOf = ({ check, state, severity, isSilenced }: AlertView): string =>
    `${check} ${state === "firing" && isSilenced ? "silenced" : state} ${severity}`;
  const found = Map.groupBy(alerts, keyOf);
  return checks.flatMap((check) =>
    alertLabelStates.flatMap((state) =>
      alertSeverities.map((severity): Sample => [
        { check, state, severity },
        found.get(`${check} ${state} ${severity}`)?.length ?? 0,
      ]),
    ),
  );
}

function listFiring(alerts: readonly AlertView[]): Sample[] {
  const firing = new Map<string, Sample>();
  for (const alert of alerts) {
    const { check, slug, severity, state } = alert;
    if (state === "firing") firing.set(`${check} ${severity} ${slug}`, [{ check, slug, severity }, 1]);
  }
  return [...firing.values()];
}

function countSpiking(alerts: readonly AlertView[], check: CheckName): number {
  const spiking = alerts.filter((one) => one.check === check && one.state === "firing" && one.severity !== "unknown");
  return new Set(spiking.map(({ slug }) => slug)).size;
}

/** Derives severity and state of each open incident from its firing alerts. */
function countIncidents(
  open: readonly Incident[],
  alerts: readonly AlertView[],
  families: readonly string[],
): Sample[] {
  const firing = Map.groupBy(
    alerts.filter((alert) => alert.state === "firing"),
    (alert) => alert.incident?.number ?? 0,
  );
  const standing = open.map(({ number, family }) => {
    const members = firing.get(number) ?? [];
    const loud = members.filter(({ isSilenced }) => !isSilenced);
    const isTaken = loud.every((alert) => alert.acknowledgement !== null);
    const state = loud.length === 0 ? "silenced" : isTaken ? "acknowledged" : "active";
    const severity = worstSeverity((loud.length === 0 ? members : loud).map((alert) => alert.severity));
    return `${family} ${severity} ${state}`;
  });
  return families.flatMap((family) =>
    alertSeverities.flatMap((severity) =>
      incidentStates.map((state): Sample => [
        { family, severity, state },
        standing.filter((one) => one === `${family} ${severity} ${state}`).length,
      ]),
    ),
  );
}

/** Of markers with the same text only the latest is shown. */
function listMarkers(markers: readonly Marker[]): Sample[] {
  const latest = new Map<string, Sample>();
  for (const { text, slug, atMs } of markers)
    latest.set(JSON.stringify([slug, text]), [{ slug: slug ?? "", marker: text }, atMs / secondMs]);
  return [...latest.values()];
}
