import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../test/support/check-reports.ts";
import { parseExposition, seriesValue, type ParsedFamily } from "../../test/support/exposition-parser.ts";
import { instruments } from "../../test/support/instruments.ts";
import { checkErrorReasons, checkNames, type CheckReport } from "../contract/report.ts";
import { createAppMetrics, type AppMetrics } from "./app-metrics.ts";
import type { ExpositionFormat } from "./exposition.ts";
import type { FleetGauges } from "./metrics.ts";

const nowMs = 1_767_225_600_000;
const promtool = "/usr/bin/promtool";

const noFleet: FleetGauges = {
  alerts: [],
  outbox: [],
  receivers: [],
  pauses: new Map(),
  storeBytes: 4_096,
  unwatchedSlugs: 0,
  markers: [],
  gates: [],
  discovery: [],
  nowMs,
};

function newMetrics(withProcess = false): AppMetrics {
  return createAppMetrics({ version: "1.2.3", nodeVersion: "24.0.0", withProcess });
}

async function read(
  metrics: AppMetrics,
  gauges: Partial<FleetGauges> = {},
  format: ExpositionFormat = "text",
): Promise<Map<string, ParsedFamily>> {
  return parseExposition((await metrics.render(format, "identity", { ...noFleet, ...gauges })).join(""), format);
}

function show(metrics: AppMetrics, report: CheckReport | null, slug = "acme"): void {
  metrics.checks.set({
    check: "dead-asset-spike",
    slug,
    lastReport: report,
    lastRunAtMs: nowMs,
    lastSuccessAtMs: nowMs,
    nextDueAtMs: nowMs + 1,
    staleAfterMs: 600_000,
  });
}

/** An app that has seen everything once, with names that need every escape. */
function busyMetrics(): { metrics: AppMetrics; gauges: Partial<FleetGauges> } {
  const metrics = newMetrics(true);
  const odd = 'a"b\\c\nd é 日本';
  show(metrics, resultReport({ finishedAtMs: nowMs, assetTypeExcess: [{ assetType: "URL", excess: 36 }] }));
  show(metrics, errorReport({ finishedAtMs: nowMs, slug: odd }), odd);
  show(metrics, null, "never-run");
  metrics.checkRan(resultReport(), 0.02);
  metrics.checkRan(errorReport({ slug: odd }), 30);
  metrics.runSkipped("dead-asset-spike", "late", 3);
  metrics.schedulerLag(0.2);
  metrics.attemptBegan("ops")(true);
  metrics.attemptBegan("ops");
  metrics.notificationAttempt("ops", "delivered", 0.1);
  metrics.sourceRequest("dead_asset_spike", "429");
  metrics.falseDeathRatio("dead-asset-spike", "acme", 0.25);
  metrics.alertJudged("sentinel", "checker");
  metrics.apiRequest("list_reports", "200");
  metrics.eventsIngested("DETECTED_AS_DEAD", 5);
  metrics.configReloaded(true, nowMs);
  const alert = {
    check: "dead-asset-spike",
    slug: "acme",
    severity: "fail",
    state: "firing",
    silenced: false,
  } as const;
  return {
    metrics,
    gauges: {
      alerts: [alert, { ...alert, slug: odd, severity: "unknown", silenced: true }],
      gates: [
        { slug: "acme", heldSinceMs: nowMs - 90_000 },
        { slug: "globex", heldSinceMs: null },
      ],
      outbox: [{ receiver: "ops", pending: 2, deadLetters: 1, oldestCreatedAtMs: nowMs - 90_000 }],
      receivers: ["ops", "pager"],
      pauses: new Map([["ops", nowMs + 60_000]]),
      markers: [
        { text: odd, slug: null, atMs: nowMs - 1 },
        { text: "rollout", slug: odd, atMs: nowMs - 60_000 },
        { text: "rollout", slug: odd, atMs: nowMs - 30_000 },
      ],
      discovery: [{ source: odd, isUp: true, isHeld: false, organizations: 7 }],
    },
  };
}

describe("the catalogue", () => {
  it.each(instruments)("gives $name no suffix that belongs to another type", ({ name, type }) => {
    expect(name.endsWith("_total")).toBe(type === "counter");
    expect(name).not.toMatch(/_(?:count|sum|bucket)$/);
  });
});

describe("the counters", () => {
  it("with closed labels exist at 0 from the start", async () => {
    const families = await read(newMetrics(), { receivers: ["ops"] });

    const zero = (name: string, labels: Record<string, string>): number | null => seriesValue(families, name, labels);
    for (const check of checkNames) {
      for (const reason of checkErrorReasons) expect(zero("flatline_check_errors_total", { check, reason })).toBe(0);
      for (const reason of ["overlap", "late"]) expect(zero("flatline_check_skipped_total", { check, reason })).toBe(0);
      expect(zero("flatline_check_duration_seconds_count", { check })).toBe(0);
    }
    for (const outcome of ["delivered", "retried", "dead_lettered"]) {
      expect(zero("flatline_notifications_total", { receiver: "ops", outcome })).toBe(0);
    }
    for (const status of ["DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "other"]) {
      expect(zero("flatline_events_ingested_total", { status })).toBe(0);
    }
    expect(zero("flatline_scheduler_lag_seconds_count", {})).toBe(0);
  });

  it("count runs, with the reason of those without a result", async () => {
    const metrics = newMetrics();
    show(metrics, null);

    metrics.checkRan(resultReport({ severity: "warn" }), 0.3);
    metrics.checkRan(errorReport({ reason: "rate_limited" }), 2);

    const families = await read(metrics);
    const runs = (outcome: string): number | null => seriesValue(families, "flatline_check_runs_total", { outcome });
    expect(["ok", "warn", "fail", "error"].map(runs)).toEqual([0, 1, 0, 1]);
    expect(
      seriesValue(families, "flatline_check_errors_total", { check: "dead-asset-spike", reason: "rate_limited" }),
    ).toBe(1);
    expect(seriesValue(families, "flatline_check_duration_seconds_sum", { check: "dead-asset-spike" })).toBeCloseTo(
      2.3,
    );
    expect(
      seriesValue(families, "flatline_check_duration_seconds_bucket", { check: "dead-asset-spike", le: "0.5" }),
    ).toBe(1);
  });

  it("count events of any other status as other", async () => {
    const metrics = newMetrics();

    metrics.eventsIngested("DETECTED_AS_DEAD", 3);
    metrics.eventsIngested("__proto__", 2);

    const families = await read(metrics);
    expect(seriesValue(families, "flatline_events_ingested_total", { status: "DETECTED_AS_DEAD" })).toBe(3);
    expect(seriesValue(families, "flatline_events_ingested_total", { status: "other" })).toBe(2);
  });

  it("forget a receiver that a reload removed, and keep the others", async () => {
    const metrics = newMetrics();
    for (const receiver of ["gone", "kept"]) metrics.notificationAttempt(receiver, "retried", 1);

    const families = await read(metrics, { receivers: ["kept", "new"] });

    const samples = families
      .get("flatline_notifications_total")
      ?.samples.filter(({ labels }) => labels["outcome"] === "retried");
    expect(samples?.map(({ labels, value }) => [labels["receiver"], value])).toEqual([
      ["kept", 1],
      ["new", 0],
    ]);
    expect(seriesValue(families, "flatline_notification_duration_seconds_count", { receiver: "gone" })).toBeNull();
  });

  it.each([
    { state: "idle", shown: { underWay: 0, timeouts: 0, pausedUntil: 0 } },
    { state: "hung", shown: { underWay: 1, timeouts: 2, pausedUntil: 0 } },
    { state: "paused", shown: { underWay: 0, timeouts: 0, pausedUntil: nowMs / 1_000 + 60 } },
  ])("and gauges show which receiver is $state", async ({ state, shown }) => {
    const metrics = newMetrics();
    const receivers = ["idle", "hung", "paused"];
    metrics.setReceivers(receivers);
    for (let attempt = 0; attempt < 2; attempt++) metrics.attemptBegan("hung")(true);
    metrics.attemptBegan("hung");
    metrics.attemptBegan("paused")(false);

    const families = await read(metrics, { receivers, pauses: new Map([["paused", nowMs + 60_000]]) });

    const value = (name: string): number | null => seriesValue(families, name, { receiver: state });
    expect({
      underWay: value("flatline_receiver_attempts_under_way"),
      timeouts: value("flatline_receiver_timeouts_total"),
      pausedUntil: value("flatline_receiver_paused_until_timestamp_seconds"),
    }).toEqual(shown);
  });

  it("count what is under way over reloads that take the receiver away and bring it back", async () => {
    const metrics = newMetrics();
    metrics.setReceivers(["ops"]);
    const ended = metrics.attemptBegan("ops");
    const underWay = async (receivers: readonly string[]): Promise<number | null> =>
      seriesValue(await read(metrics, { receivers }), "flatline_receiver_attempts_under_way");

    expect(await underWay([])).toBeNull();
    expect(await underWay(["ops"])).toBe(1);
    metrics.setReceivers([]);
    ended(true);
    expect(await underWay([])).toBeNull();
    expect(await underWay(["ops"])).toBe(0);
  });

  it("fold the codes of an upstream that answers with ever new ones", async () => {
    const metrics = newMetrics();

    for (let code = 0; code < 900; code++) metrics.sourceRequest("dead_asset_spike", String(100 + code));

    const samples = (await read(metrics)).get("flatline_source_requests_total")?.samples ?? [];
    expect(samples.length).toBeLessThanOrEqual(205);
    expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(900);
  });

  it("take a duration of a clock that was set back as 0", async () => {
    const metrics = newMetrics();

    metrics.schedulerLag(-5);
    metrics.checkRan(resultReport(), Number.NaN);

    const families = await read(metrics);
    expect(seriesValue(families, "flatline_scheduler_lag_seconds_sum")).toBe(0);
    expect(seriesValue(families, "flatline_check_duration_seconds_sum", { check: "dead-asset-spike" })).toBe(0);
  });
});

describe("the configuration's gauges", () => {
  it("keep the time of the last success when a reload fails", async () => {
    const metrics = newMetrics();
    metrics.configReloaded(true, nowMs);

    metrics.configReloaded(false, nowMs + 60_000);

    const families = await read(metrics);
    expect(seriesValue(families, "flatline_config_last_reload_successful")).toBe(0);
    expect(seriesValue(families, "flatline_config_last_reload_success_timestamp_seconds")).toBe(nowMs / 1_000);
    expect(seriesValue(families, "flatline_build_info", { version: "1.2.3", node: "24.0.0" })).toBe(1);
  });
});

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

  it("count organizations with a fresh result", async () => {
    const metrics = newMetrics();
    show(metrics, resultReport({ finishedAtMs: nowMs }));
    show(metrics, resultReport({ finishedAtMs: nowMs - 700_000, slug: "stale" }), "stale");
    show(metrics, errorReport({ finishedAtMs: nowMs, slug: "failed" }), "failed");

    const families = await read(metrics);

    expect(seriesValue(families, "flatline_fleet_organizations", { check: "dead-asset-spike" })).toBe(1);
  });

  it("show the share of false deaths while it is known", async () => {
    const metrics = newMetrics();
    const ratio = async (): Promise<number | null> =>
      seriesValue(await read(metrics), "flatline_check_false_death_ratio", { check: "dead-asset-spike", slug: "acme" });

    metrics.falseDeathRatio("dead-asset-spike", "acme", 0.25);
    expect(await ratio()).toBe(0.25);
    metrics.falseDeathRatio("dead-asset-spike", "acme", null);
    expect(await ratio()).toBeNull();
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

describe("the whole answer", () => {
  it.each(["text", "openmetrics"] as const)(
    "has every metric of the catalogue and no other of ours, as %s",
    async (format) => {
      const { metrics, gauges } = busyMetrics();

      const families = await read(metrics, gauges, format);

      const ours = [...families.values()].filter(({ name }) => name.startsWith("flatline_"));
      const expected = instruments.map(({ name, type }) =>
        format === "openmetrics" && type === "counter" ? name.replace(/_total$/, "") : name,
      );
      expect(ours.map(({ name }) => name).sort()).toEqual(expected.sort());
      for (const { name, labels } of instruments) {
        const samples = [...families.values()]
          .flatMap((family) => family.samples)
          .filter((sample) => sample.name === name);
        for (const sample of samples) expect(Object.keys(sample.labels).sort(), name).toEqual([...labels].sort());
      }
      const closed = instruments.flatMap(({ name, values = {} }) =>
        Object.entries(values).map(([label, allowed]) => ({ name, label, allowed })),
      );
      for (const { name, label, allowed } of closed) {
        const seen = [...families.values()]
          .flatMap((family) => family.samples)
          .filter((sample) => sample.name === name);
        for (const sample of seen) expect(allowed, name).toContain(sample.labels[label]);
      }
    },
  );

  it("says the same in both formats, by turns", async () => {
    const { metrics, gauges } = busyMetrics();
    const names = (families: Map<string, ParsedFamily>): string[] =>
      [...families.values()]
        .filter(({ name }) => name.startsWith("flatline_"))
        .flatMap(({ samples }) => samples)
        .map(
          ({ name, labels, value }) =>
            `${name} ${JSON.stringify({ ...labels, le: Number(labels["le"]?.replace("+Inf", "Infinity")) })} ${value}`,
        );

    const first = await read(metrics, gauges, "text");
    const second = await read(metrics, gauges, "openmetrics");
    const third = await read(metrics, gauges, "text");

    expect(names(second)).toEqual(names(first));
    expect(names(third)).toEqual(names(first));
  });

  it("holds nothing of a message, which could quote a secret", async () => {
    const metrics = newMetrics();
    const report = {
      ...errorReport(),
      error: { reason: "network", message: "refused by https://hook.example/s3cr3t" },
    } as const;
    show(metrics, report);
    metrics.checkRan(report, 1);

    const answers = [
      (await metrics.render("text", "identity", noFleet)).join(""),
      (await metrics.render("openmetrics", "identity", noFleet)).join(""),
    ];

    for (const answer of answers) expect(answer).not.toContain("s3cr3t");
  });

  it("leaves out prom-client's gauges that are called a total", async () => {
    const { metrics, gauges } = busyMetrics();

    const names = [...(await read(metrics, gauges)).keys()];

    expect(names.filter((name) => /^nodejs_active_.*_total$/.test(name))).toEqual([]);
    expect(names).toContain("process_cpu_seconds_total");
    expect(names).toContain("nodejs_eventloop_lag_p99_seconds");
  });

  it("is an app's own: a second one in the process shares nothing", async () => {
    const [first, second] = [newMetrics(), newMetrics()];

    first.eventsIngested("other", 1);

    expect(seriesValue(await read(second), "flatline_events_ingested_total", { status: "other" })).toBe(0);
  });

  const reason = existsSync(promtool) ? "" : ` (skipped: ${promtool} is not installed)`;
  it.skipIf(reason !== "")(`leaves promtool nothing to say${reason}`, async () => {
    const { metrics, gauges } = busyMetrics();

    const answer = (await metrics.render("text", "identity", { ...noFleet, ...gauges })).join("");
    const { status, stdout, stderr } = spawnSync(promtool, ["check", "metrics"], {
      input: answer,
      encoding: "utf8",
      timeout: 30_000,
    });

    expect([status, stdout, stderr]).toEqual([0, "", ""]);
  });

  it.skipIf(reason !== "")(`is OpenMetrics to Prometheus' own parser${reason}`, async () => {
    const { metrics, gauges } = busyMetrics();
    const directory = mkdtempSync(path.join(tmpdir(), "flatline-openmetrics-"));

    const answer = (await metrics.render("openmetrics", "identity", { ...noFleet, ...gauges })).join("");
    // Of the parser's users promtool is at hand, and wants a time at each sample.
    const timed = answer.replace(/^(?!#)(.+)$/gm, `$1 ${nowMs / 1_000}`);
    writeFileSync(path.join(directory, "metrics.txt"), timed);
    const { status, stderr } = spawnSync(
      promtool,
      [
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        path.join(directory, "metrics.txt"),
        path.join(directory, "blocks"),
      ],
      { encoding: "utf8", timeout: 60_000 },
    );
    rmSync(directory, { recursive: true });

    expect([status, stderr]).toEqual([0, ""]);
  });
});
