import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { expect, it } from "vitest";

import { defaultThresholds } from "../spike/thresholds.ts";
import { expectedDeaths, expectedDeathsNumber, spikeSeverity } from "../spike/verdict.ts";
import { onsetAtMs } from "./onset.ts";

const records = new URL("../../examples/records/", import.meta.url);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const windowMs = 24 * hourMs;
const baselineMs = 7 * 24 * hourMs;

type Labels = Readonly<
  Record<string, { readonly incidents: readonly { readonly from: string; readonly to: string }[] }>
>;

function deathsOf(slug: string): number[] {
  const text = gunzipSync(readFileSync(new URL(`${slug}.csv.gz`, records))).toString();
  return text
    .split("\n")
    .flatMap((line) => (line.includes("DETECTED_AS_DEAD") ? [Date.parse(line.slice(0, line.indexOf(",")))] : []));
}

/** Hours between the first death of each incident and the onset that its first verdict other than ok tells. */
function onsetErrors(slug: string, incidents: Labels[string]["incidents"]): number[] {
  const deaths = deathsOf(slug);
  const within = (afterMs: number, untilMs: number): number[] => deaths.filter((at) => at > afterMs && at <= untilMs);
  return incidents.flatMap(({ from, to }) => {
    const fromMs = Date.parse(from);
    for (let nowMs = Math.ceil(fromMs / hourMs) * hourMs; nowMs <= Date.parse(to) + windowMs; nowMs += hourMs) {
      const current = within(nowMs - windowMs, nowMs);
      const baseline = within(nowMs - windowMs - baselineMs, nowMs - windowMs).length;
      const expected = expectedDeaths(baseline, defaultThresholds);
      if (spikeSeverity(current.length, expected, defaultThresholds) === "ok") continue;
      const minutes = Map.groupBy(current, (at) => Math.floor(at / minuteMs) * minuteMs);
      const buckets = [...minutes].map(([atMs, all]) => ({ atMs, deaths: all.length }));
      const onset = onsetAtMs({ buckets, windowMs, expectedCount: expectedDeathsNumber(baseline, defaultThresholds) });
      return onset === null ? [] : [(onset - fromMs) / hourMs];
    }
    return [];
  });
}

it("is within a minute of most labelled incidents' first death, and within two hours of nearly all that are found", () => {
  const labels = JSON.parse(readFileSync(new URL("labels.json", records), "utf8")) as Labels;

  const errors = Object.entries(labels).flatMap(([slug, { incidents }]) => onsetErrors(slug, incidents));

  const within = (hours: number): number => errors.filter((error) => Math.abs(error) <= hours).length;
  // Of 22 incidents the plain rule finds 20; the two that it finds a day and more late have their first death out of the window.
  expect(errors).toHaveLength(20);
  expect(within(1 / 60)).toBe(15);
  expect(within(2)).toBe(18);
  expect(errors.filter((error) => Math.abs(error) > 2).map(Math.round)).toEqual([21, 47]);
});
