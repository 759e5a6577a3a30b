import {
  checkInstruments,
  countedInstruments,
  fleetInstruments,
  type Instrument,
} from "../../src/metrics/catalogue.ts";

/** Each metric with its type, its labels (with their values where these are closed) and its meaning. */
export function renderMetrics(): string {
  const buckets = Object.entries<Instrument>(countedInstruments).flatMap(([name, { buckets: bounds }]) =>
    bounds ? `- \`${name}\`: ${bounds.join(", ")}` : [],
  );
  return [
    "### Checks",
    renderList(checkInstruments),
    "### The daemon",
    renderList(countedInstruments),
    "### Fleet, alerts and outbox",
    renderList(fleetInstruments),
    "### Buckets",
    buckets.join("\n"),
  ].join("\n\n");
}

function renderList(rows: Readonly<Record<string, Instrument>>): string {
  return Object.entries(rows)
    .map(([name, { type, labels, help }]) => {
      const labelTexts = Object.entries(labels).map(([label, allowed]) =>
        allowed === null ? `\`${label}\`` : `\`${label}\` (${allowed.join(", ")})`,
      );
      return `- \`${name}\`: ${[type, ...labelTexts].join(", ")}. ${help}`;
    })
    .join("\n");
}
