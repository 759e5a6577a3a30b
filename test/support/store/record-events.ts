import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import type { SpikeThresholds } from "../../../src/spike/thresholds.ts";

/** An event as a user's own table may hold it. */
export interface TableEvent {
  readonly slug: string;
  readonly atMs: number;
  readonly assetType: string | null;
  readonly status: string;
  readonly count: number;
}

/** One verdict of test/fixtures/records/goldens.jsonl. */
export interface Golden extends SpikeThresholds {
  readonly slug: string;
  readonly at: string;
  readonly currentCount: number;
  readonly baselineCount: number;
  readonly expectedCount: number;
  readonly severity: string;
}

const root = new URL("../../../", import.meta.url);
const files: Readonly<Record<string, string>> = {
  lightswitch: "examples/records/lightswitch.csv.gz",
  riskhosts: "examples/records/riskhosts.csv.gz",
  "nyc-taxi": "test/fixtures/records/counts/nyc-taxi.csv.gz",
  "twitter-aapl": "test/fixtures/records/counts/twitter-aapl.csv.gz",
  "twitter-cvs": "test/fixtures/records/counts/twitter-cvs.csv.gz",
  "twitter-ups": "test/fixtures/records/counts/twitter-ups.csv.gz",
};

/** The real records, of all slugs together. */
export function readRecordEvents(slugs: readonly string[] = Object.keys(files)): TableEvent[] {
  return slugs.flatMap((slug) => {
    const text = gunzipSync(readFileSync(new URL(files[slug] ?? "", root))).toString();
    const [header = "", ...lines] = text.trimEnd().split(/\r?\n/);
    const names = header.split(",");
    return lines.map((line) => {
      const cells = new Map(line.split(",").map((cell, index) => [names[index] ?? "", cell]));
      return {
        slug,
        atMs: Date.parse(cells.get("at") ?? ""),
        assetType: cells.get("assetType") ?? null,
        status: cells.get("status") ?? "DETECTED_AS_DEAD",
        count: Number(cells.get("count") ?? 1),
      };
    });
  });
}

/** The verdicts that must come of them. */
export function readGoldens(): Golden[] {
  return readFileSync(new URL("test/fixtures/records/goldens.jsonl", root), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Golden);
}
