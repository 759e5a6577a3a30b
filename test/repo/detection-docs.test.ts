import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

import { detectionFile, detectionPage, type DetectionResult } from "../../bench/detection/report.ts";
import { measureMeanJudged } from "../../bench/detection/judging.ts";
import { readLabels } from "../../src/backtest/truth.ts";
import { readEventFiles } from "../../src/commands/replay/event-records.ts";
import { measureDetection } from "../../bench/detection.ts";

const records = fileURLToPath(new URL("../../examples/records", import.meta.url));
const stored = JSON.parse(
  readFileSync(new URL("../../bench/results/detection.json", import.meta.url), "utf8"),
) as DetectionResult;

describe("docs/detection.md", () => {
  it("has the measured tables, fresh", async () => {
    const page = readFileSync(detectionFile, "utf8");

    expect(page).toBe(await detectionPage(page, stored));
  });

  // Forty rules over every hour of two records: half a minute of one core.
  it("says of the rules what they measure now", { timeout: 180_000 }, async () => {
    const measured = await measureDetection(records, 0);

    expect(measured.rules).toEqual(stored.rules);
    const recallOf = (name: string): number => measured.rules.find((rule) => rule.name === name)?.recall ?? 0;
    expect(recallOf("flatline mean, ×2, min 10")).toBeCloseTo(20 / 22);
    expect(recallOf("flatline median, ×2, min 10")).toBe(1);
    expect(measured.rules.find(({ name }) => name === "flatline mean, ×4, min 10")?.bySeries).toEqual([
      { slug: "lightswitch", incidents: 10, found: 6 },
      { slug: "riskhosts", incidents: 12, found: 10 },
    ]);
  });

  it("says of a baseline without judged incidents what it measures now", async () => {
    const files = { files: ["lightswitch.csv.gz", "riskhosts.csv.gz"], cwd: records, stdin: process.stdin };
    const read = { ...files, signal: new AbortController().signal, onProgress: () => undefined };
    const labels = readLabels(readFileSync(`${records}/labels.json`, "utf8"), "labels.json");
    const series = [...(await readEventFiles(read)).values()].map((record) => ({
      record,
      truth: labels.get(record.slug) ?? { incidents: [], massDeaths: [] },
    }));

    const measured = measureMeanJudged(series);

    expect(stored.judging).toContainEqual(measured);
    expect(measured).toMatchObject({ judgedAfterHours: 0, found: 20, incidents: 22 });
  });

  it("takes a folder of other data, and says what is wrong with one that has none", async () => {
    const counts = fileURLToPath(new URL("../fixtures/records/counts", import.meta.url));

    const { series } = await measureDetection(counts, 0);

    expect(series.map(({ slug, incidents }) => [slug, incidents])).toContainEqual(["nyc-taxi", 5]);
    const none = fileURLToPath(new URL("../support", import.meta.url));
    await expect(measureDetection(none, 0)).rejects.toThrow(`${none}: no file of events`);
  });
});
