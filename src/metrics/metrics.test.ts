import { describe, expect, it } from "vitest";

import { busyMetrics, newMetrics, nowMs, read, show, textOf } from "../../test/support/app-metrics.ts";
import { errorReport, resultReport } from "../../test/support/check-reports.ts";
import { seriesValue } from "../../test/support/exposition-parser.ts";
import { instruments } from "../../test/support/instruments.ts";
import { checkErrorReasons, checkNames } from "../contract/report.ts";

describe("the catalogue", () => {
  it.each(instruments)("gives $name no suffix that belongs to another type", ({ name, type }) => {
    expect(name.endsWith("_total")).toBe(type === "counter");
    expect(name).not.toMatch(/_(?:count|sum|bucket)$/);
  });
});

describe("the whole answer", () => {
  it("has every metric of the catalogue with its labels, and no other of ours", async () => {
    const { metrics, fleet } = busyMetrics();

    const families = await read(metrics, fleet);

    const ours = [...families.values()].filter(({ name }) => name.startsWith("flatline_"));
    expect(ours.map(({ name }) => name).sort()).toEqual(instruments.map(({ name }) => name).sort());
    for (const { name, labels } of instruments) {
      const samples = families.get(name)?.samples.filter((sample) => sample.name === name) ?? [];
      for (const sample of samples) {
        expect(Object.keys(sample.labels).sort(), name).toEqual(Object.keys(labels).sort());
        for (const [label, closed] of Object.entries(labels))
          if (closed !== null) expect(closed, name).toContain(sample.labels[label]);
      }
    }
  });

  it("holds nothing of a message, which could quote a secret", async () => {
    const metrics = newMetrics();
    const report = {
      ...errorReport(),
      error: { reason: "network", message: "refused by https://hook.example/s3cr3t" },
    } as const;
    show(metrics, report);
    metrics.checkRan(report, 1);

    expect(await textOf(metrics)).not.toContain("s3cr3t");
  });

  it("leaves out prom-client's gauges that are called a total, and its histogram of the event loop", async () => {
    const names = [...(await read(newMetrics(true))).keys()];

    expect(names.filter((name) => /^nodejs_active_.*_total$/.test(name))).toEqual([]);
    expect(names).toContain("process_cpu_seconds_total");
    expect(names.filter((name) => name.startsWith("nodejs_eventloop"))).toEqual(["nodejs_eventloop_lag_seconds"]);
  });
});

describe("the counters", () => {
  const checks = [...checkNames];

  it("with closed labels exist at 0 from the start", async () => {
    const metrics = newMetrics();
    metrics.show({ checks, receivers: ["ops"] });

    const families = await read(metrics);

    const zero = (name: string, labels: Record<string, string>): number | null => seriesValue(families, name, labels);
    for (const check of checkNames) {
      for (const reason of checkErrorReasons)
        expect(zero("flatline_check_errors_total", { check, reason })).toBe(reason === "not_found" ? null : 0);
      for (const reason of ["overlap", "late", "import"])
        expect(zero("flatline_check_skipped_total", { check, reason })).toBe(0);
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

  it("of a healthcheck of the platform exist at 0 while it is configured", async () => {
    const metrics = newMetrics();
    const labels = { check: "reviewing-backlog", reason: "not_found" };

    metrics.show({ checks: [...checks, "reviewing-backlog"], receivers: [] });
    const before = await read(metrics);
    metrics.show({ checks, receivers: [] });
    const after = await read(metrics);

    expect(seriesValue(before, "flatline_check_errors_total", labels)).toBe(0);
    expect(seriesValue(before, "flatline_incidents_total", { family: "reviewing-backlog" })).toBe(0);
    expect(seriesValue(before, "flatline_fleet_organizations", { check: "reviewing-backlog" })).toBe(0);
    expect(seriesValue(after, "flatline_check_errors_total", labels)).toBeNull();
    expect(seriesValue(after, "flatline_check_skipped_total", { check: "reviewing-backlog" })).toBeNull();
    expect(seriesValue(after, "flatline_check_errors_total", { check: "regret", reason: "timeout" })).toBe(0);
  });

  it("forget a receiver that a reload removed, and keep the others", async () => {
    const metrics = newMetrics();
    for (const receiver of ["gone", "kept"]) metrics.notificationAttempt(receiver, "retried", 1);

    metrics.show({ checks, receivers: ["kept", "new"] });

    const families = await read(metrics);
    const samples = families
      .get("flatline_notifications_total")
      ?.samples.filter(({ labels }) => labels["outcome"] === "retried");
    expect(samples?.map(({ labels, value }) => [labels["receiver"], value])).toEqual([
      ["kept", 1],
      ["new", 0],
    ]);
    expect(seriesValue(families, "flatline_notification_duration_seconds_count", { receiver: "gone" })).toBeNull();
  });

  it("show which receiver hangs", async () => {
    const metrics = newMetrics();
    metrics.show({ checks, receivers: ["idle", "hung"] });
    for (const receiver of ["hung", "gone"]) metrics.receiverTimedOut(receiver);

    const families = await read(metrics);

    const shown = ["idle", "hung", "gone"].map((receiver) =>
      seriesValue(families, "flatline_receiver_timeouts_total", { receiver }),
    );
    expect(shown).toEqual([0, 1, null]);
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
