import {
  checkInstruments,
  countedInstruments,
  fleetInstruments,
  type Instrument,
} from "../../src/metrics/catalogue.ts";

/** Each metric with its type, its labels (with their values where these are closed) and its meaning. */
export function renderMetrics(): string {
  const counted = Object.values<Instrument>(countedInstruments);
  const buckets = counted.flatMap(({ name, buckets: bounds }) => (bounds ? `- \`${name}\`: ${bounds.join(", ")}` : []));
  return [
    "### Checks",
    renderList(Object.values(checkInstruments)),
    "### The daemon",
    renderList(counted),
    "### Fleet, alerts and outbox",
    renderList(Object.values(fleetInstruments)),
    "### Buckets",
    buckets.join("\n"),
  ].join("\n\n");
}

function renderList(rows: readonly Instrument[]): string {
  return rows
    .map(({ name, type, labels, help, note }) => {
      const labelTexts = Object.entries(labels).map(([label, allowed]) =>
        allowed === null ? `\`${label}\`` : `\`${label}\` (${allowed.join(", ")})`,
      );
      return `- \`${name}\`: ${[type, ...labelTexts].join(", ")}. ${`${help} ${note}`.trim()}`;
    })
    .join("\n");
}
