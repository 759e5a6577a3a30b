import { secondMs } from "../base/time.ts";
import type { CheckName } from "../contract/report.ts";
import { alertLabelStates, alertSeverities, fleetInstruments, incidentStates } from "./catalogue.ts";
import { formatFamily, formatLabels, formatValue, type ExpositionFormat } from "./exposition.ts";
import type { FleetGauges } from "./metrics.ts";

type FleetFamily = keyof typeof fleetInstruments;

/** Renders what is read from the store at a scrape, as whole families without `# EOF`; `countFresh` counts organizations with a result. */
export function renderFleet(
  gauges: FleetGauges,
  countFresh: (check: CheckName) => number,
  format: ExpositionFormat,
): string {
  const samples: Readonly<Record<FleetFamily, readonly Sample[]>> = {
    alerts: countAlerts(gauges),
    alertFiring: listFiring(gauges.alerts),
    incidentsOpen: countIncidents(gauges),
    verdict: [[{}, Number(gauges.hasVerdict)]],
    spiking: gauges.checks.map((check) => [{ check }, countSpiking(gauges.alerts, check)]),
    organizations: gauges.checks.map((check) => [{ check }, countFresh(check)]),
    ...outboxSamples(gauges),
    storeBytes: [[{}, gauges.storeBytes]],
    unwatchedSlugs: [[{}, gauges.unwatchedSlugs]],
    markers: listMarkers(gauges.markers),
    gateHeld: gauges.gates.map(({ slug, heldSinceMs }) => [
      { slug: slug.toWellFormed() },
      Number(heldSinceMs !== null),
    ]),
    gateHeldSince: gauges.gates.flatMap(({ slug, heldSinceMs }) =>
      heldSinceMs === null ? [] : [[{ slug: slug.toWellFormed() }, heldSinceMs / secondMs] as const],
    ),
    discoveryUp: gauges.discovery.map(({ source, isUp }) => [{ source }, Number(isUp)]),
    discoveryHeld: gauges.discovery.map(({ source, isHeld }) => [{ source }, Number(isHeld)]),
    discovered: gauges.discovery.map(({ source, organizations }) => [{ source }, organizations]),
  };
  return (Object.keys(fleetInstruments) as FleetFamily[])
    .map((family) => {
      const { name } = fleetInstruments[family];
      const lines = samples[family].map(([labels, value]) => `${name}${formatLabels(labels)} ${formatValue(value)}\n`);
      return formatFamily(fleetInstruments[family], lines.join(""), format);
    })
    .join("");
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

function countAlerts({ alerts, checks }: FleetGauges): Sample[] {
  const counts = new Map<string, Sample>();
  const add = (check: string, state: string, severity: string, by: number): void => {
    const id = `${check} ${state} ${severity}`;
    counts.set(id, [{ check, state, severity }, (counts.get(id)?.[1] ?? 0) + by]);
  };
  for (const check of checks) {
    for (const state of alertLabelStates) for (const severity of alertSeverities) add(check, state, severity, 0);
  }
  for (const { check, state, severity, silenced } of alerts) {
    add(check, state === "firing" && silenced ? "silenced" : state, severity, 1);
  }
  return [...counts.values()];
}

function countIncidents({ incidents, families }: FleetGauges): Sample[] {
  return families.flatMap((family) =>
    alertSeverities.flatMap((severity) =>
      incidentStates.map((state): Sample => {
        const count = incidents.filter(
          (one) => one.family === family && one.severity === severity && one.state === state,
        ).length;
        return [{ family, severity, state }, count];
      }),
    ),
  );
}

function listFiring(alerts: FleetGauges["alerts"]): Sample[] {
  const firing = new Map<string, Sample>();
  for (const { check, slug, severity, state } of alerts) {
    if (state === "firing") firing.set(`${check} ${severity} ${slug.toWellFormed()}`, [{ check, slug, severity }, 1]);
  }
  return [...firing.values()];
}

/** A marker with the same words at two times counts at the later one. */
function listMarkers(markers: FleetGauges["markers"]): Sample[] {
  const latest = new Map<string, { readonly labels: Record<string, string>; readonly atMs: number }>();
  for (const { text, slug, atMs } of markers) {
    const labels = { slug: (slug ?? "").toWellFormed(), marker: text.toWellFormed() };
    const id = JSON.stringify(labels);
    if (atMs >= (latest.get(id)?.atMs ?? 0)) latest.set(id, { labels, atMs });
  }
  return [...latest.values()].map(({ labels, atMs }) => [labels, atMs / secondMs]);
}

function countSpiking(alerts: FleetGauges["alerts"], check: CheckName): number {
  const firing = alerts.filter((alert) => alert.check === check && alert.state === "firing");
  return new Set(firing.filter(({ severity }) => severity !== "unknown").map(({ slug }) => slug)).size;
}

function outboxSamples({
  outbox,
  receivers,
  pauses,
  nowMs,
}: FleetGauges): Record<"outboxPending" | "outboxDeadLetters" | "outboxOldestAge" | "receiverPausedUntil", Sample[]> {
  const totals = new Map(outbox.map((total) => [total.receiver, total]));
  // A receiver that a reload removed is shown while it has dead letters.
  const names = [...new Set([...receivers, ...totals.keys()])];
  return {
    outboxPending: names.map((receiver) => [{ receiver }, totals.get(receiver)?.pending ?? 0]),
    outboxDeadLetters: names.map((receiver) => [{ receiver }, totals.get(receiver)?.deadLetters ?? 0]),
    outboxOldestAge: names.map((receiver) => {
      const oldestAtMs = totals.get(receiver)?.oldestCreatedAtMs ?? nowMs;
      return [{ receiver }, Math.max(0, nowMs - oldestAtMs) / secondMs];
    }),
    receiverPausedUntil: receivers.map((receiver) => [{ receiver }, (pauses.get(receiver) ?? 0) / secondMs]),
  };
}
