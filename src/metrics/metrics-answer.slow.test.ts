import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { busyMetrics, newMetrics, noFleet, nowMs, read, show } from "../../test/support/app-metrics.ts";
import { errorReport } from "../../test/support/check-reports.ts";
import { seriesValue, type ParsedFamily } from "../../test/support/exposition-parser.ts";
import { instruments } from "../../test/support/instruments.ts";

const promtool = "/usr/bin/promtool";

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

  it("leaves out prom-client's gauges that are called a total, and its histogram of the event loop", async () => {
    const { metrics, gauges } = busyMetrics();

    const names = [...(await read(metrics, gauges)).keys()];

    expect(names.filter((name) => /^nodejs_active_.*_total$/.test(name))).toEqual([]);
    expect(names).toContain("process_cpu_seconds_total");
    expect(names.filter((name) => name.startsWith("nodejs_eventloop"))).toEqual(["nodejs_eventloop_lag_seconds"]);
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
