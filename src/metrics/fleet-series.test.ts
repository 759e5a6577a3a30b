import { describe, expect, it } from "vitest";

import { busyMetrics, newMetrics, nowMs, read } from "../../test/support/app-metrics.ts";
import { seriesValue } from "../../test/support/exposition-parser.ts";
import { checkNames } from "../contract/report.ts";
import type { FleetGauges } from "./metrics.ts";

describe("the fleet's gauges", () => {
  const firing = {
    check: "dead-asset-spike",
    slug: "acme",
    severity: "fail",
    state: "firing",
    silenced: false,
  } as const;

  it("are all there at 0 without any alert", async () => {
    const families = await read(newMetrics());

    expect(families.get("flatline_alerts")?.samples).toHaveLength(checkNames.length * 3 * 3);
    expect(families.get("flatline_alerts")?.samples.every(({ value }) => value === 0)).toBe(true);
    expect(families.has("flatline_alert_firing")).toBe(false);
    expect(seriesValue(families, "flatline_fleet_spiking_organizations", { check: "dead-asset-spike" })).toBe(0);
    expect(seriesValue(families, "flatline_store_bytes")).toBe(4_096);
  });

  it("count open incidents by family, severity and state, and say whether a fleet verdict holds", async () => {
    const incidents: FleetGauges["incidents"] = [
      { family: "deaths", severity: "fail", state: "active" },
      { family: "deaths", severity: "fail", state: "active" },
      { family: "unreachable", severity: "unknown", state: "silenced" },
    ];
    const families = await read(newMetrics(), { incidents, hasVerdict: true });

    const count = (family: string, severity: string, state: string): number | null =>
      seriesValue(families, "flatline_incidents_open", { family, severity, state });
    expect(count("deaths", "fail", "active")).toBe(2);
    expect(count("unreachable", "unknown", "silenced")).toBe(1);
    expect(count("no-events", "warn", "acknowledged")).toBe(0);
    expect(families.get("flatline_incidents_open")?.samples).toHaveLength(3 * 3 * 3);
    expect(seriesValue(families, "flatline_fleet_verdict")).toBe(1);
    expect(seriesValue(families, "flatline_incidents_total", { family: "deaths" })).toBe(0);
  });

  it("count alerts by state and severity, a silenced one that fires as silenced only", async () => {
    const alerts: FleetGauges["alerts"] = [
      firing,
      { ...firing, slug: "b", silenced: true },
      { ...firing, slug: "c", state: "pending", severity: "warn", silenced: true },
      { ...firing, slug: "acme", severity: "unknown" },
    ];

    const families = await read(newMetrics(), { alerts });

    const count = (state: string, severity: string): number | null =>
      seriesValue(families, "flatline_alerts", { check: "dead-asset-spike", state, severity });
    expect([
      count("firing", "fail"),
      count("silenced", "fail"),
      count("pending", "warn"),
      count("firing", "unknown"),
    ]).toEqual([1, 1, 1, 1]);
    expect(
      families.get("flatline_alert_firing")?.samples.map(({ labels }) => [labels["slug"], labels["severity"]]),
    ).toEqual([
      ["acme", "fail"],
      ["b", "fail"],
      ["acme", "unknown"],
    ]);
    expect(seriesValue(families, "flatline_fleet_spiking_organizations", { check: "dead-asset-spike" })).toBe(2);
  });

  it("show of every gate whether it is held, and since when while it is", async () => {
    const { metrics, gauges } = busyMetrics();

    const families = await read(metrics, gauges);

    const held = (slug: string): (number | null)[] =>
      ["flatline_gate_held", "flatline_gate_held_since_timestamp_seconds"].map((name) =>
        seriesValue(families, name, { slug }),
      );
    expect(held("acme")).toEqual([1, nowMs / 1_000 - 90]);
    expect(held("globex")).toEqual([0, null]);
  });

  it("show the outbox of every receiver, 0 where nothing waits", async () => {
    const { metrics, gauges } = busyMetrics();

    const families = await read(metrics, gauges);

    const value = (name: string, receiver: string): number | null =>
      seriesValue(families, `flatline_outbox_${name}`, { receiver });
    expect(["pending", "dead_letters", "oldest_age_seconds"].map((name) => value(name, "ops"))).toEqual([2, 1, 90]);
    expect(["pending", "dead_letters", "oldest_age_seconds"].map((name) => value(name, "pager"))).toEqual([0, 0, 0]);
  });
});
