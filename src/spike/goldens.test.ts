import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { countEvents, evaluateSpike, spikeWindow, type CountedEvent, type SpikeThresholds } from "./spike.ts";

interface Golden extends SpikeThresholds {
  readonly slug: string;
  readonly at: string;
  readonly currentCount: number;
  readonly baselineCount: number;
  readonly expectedCount: number;
  readonly severity: string;
}

const root = new URL("../../", import.meta.url);
const files: Readonly<Record<string, string>> = {
  lightswitch: "examples/records/lightswitch.csv.gz",
  riskhosts: "examples/records/riskhosts.csv.gz",
  "nyc-taxi": "test/fixtures/records/counts/nyc-taxi.csv.gz",
  "twitter-aapl": "test/fixtures/records/counts/twitter-aapl.csv.gz",
  "twitter-cvs": "test/fixtures/records/counts/twitter-cvs.csv.gz",
  "twitter-ups": "test/fixtures/records/counts/twitter-ups.csv.gz",
};

function readEvents(slug: string): CountedEvent[] {
  const text = gunzipSync(readFileSync(new URL(files[slug] ?? "", root))).toString();
  const [header = "", ...lines] = text.trimEnd().split(/\r?\n/);
  const names = header.split(",");
  return lines.map((line) => {
    const row = Object.fromEntries(line.split(",").map((cell, index) => [names[index], cell]));
    return {
      atMs: Date.parse(String(row["at"])),
      ...(row["status"] === undefined ? {} : { status: row["status"] }),
      ...(row["assetType"] === undefined ? {} : { assetType: row["assetType"] }),
      ...(row["count"] === undefined ? {} : { count: Number(row["count"]) }),
    };
  });
}

const goldens = readFileSync(new URL("test/fixtures/records/goldens.jsonl", root), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Golden);

describe("goldens of real data", () => {
  it("are 180", () => {
    expect(goldens).toHaveLength(180);
  });

  describe.each(Object.keys(files))("%s", (slug) => {
    const events = readEvents(slug);

    it.each(goldens.filter((golden) => golden.slug === slug))(
      "$at, $windowHours h over $baselineDays d: $severity",
      (golden) => {
        const { at, currentCount, baselineCount, expectedCount, severity, ...thresholds } = golden;
        const nowMs = Date.parse(at);

        const counts = countEvents(events, spikeWindow(nowMs, thresholds));
        const result = evaluateSpike({ nowMs, thresholds, ...counts, slug });

        expect(counts).toMatchObject({ currentCount, baselineCount });
        expect(result.severity).toBe(severity);
        expect(result.observed.expectedCount).toBe(expectedCount);
      },
    );
  });
});
