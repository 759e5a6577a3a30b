import { describe, expect, it } from "vitest";

import type { PageQueuedReport } from "../../read/queue.ts";
import { groupQueue, rankQueue } from "./rank.ts";

const hourMs = 3_600_000;
const nowMs = 1_000 * hourMs;

function report(
  slug: string,
  reportId: string,
  ageHours: number | null,
  { failAfterHours = 24, proposals = ["1"] } = {},
): PageQueuedReport {
  return {
    slug,
    labels: {},
    reportId,
    title: null,
    createdAtMs: ageHours === null ? null : nowMs - ageHours * hourMs,
    proposals: proposals.map((id) => ({ id, decision: null, assetId: "5", assetType: "URL", content: "x" })),
    sla: null,
    facts: [],
    warnAfterMs: (failAfterHours / 6) * hourMs,
    failAfterMs: failAfterHours * hourMs,
  };
}

const idsOf = (reports: readonly PageQueuedReport[]): string[] =>
  rankQueue(reports, nowMs).map((row) => `${row.severity} ${row.report.reportId}`);

describe("the review queue", () => {
  it.each([
    [
      "the worst is first, by the thresholds of its organization",
      [report("acme", "young", 1), report("acme", "old", 30), report("slow", "older", 50, { failAfterHours: 240 })],
      ["fail old", "warn older", "ok young"],
    ],
    [
      "of one severity that is first of whose time the most is over",
      [report("slow", "twice", 48), report("quick", "thrice", 3, { failAfterHours: 1 }), report("acme", "just", 24)],
      ["fail thrice", "fail twice", "fail just"],
    ],
    [
      "without a readable age it stands after failures and before warnings",
      [report("acme", "warned", 5), report("acme", "dark", null), report("acme", "failed", 25)],
      ["fail failed", "unknown dark", "warn warned"],
    ],
    [
      "a report has a row for each proposal, and one without any",
      [report("acme", "two", 30, { proposals: ["1", "2"] }), report("acme", "none", 25, { proposals: [] })],
      ["fail two", "fail two", "fail none"],
    ],
  ])("%s", (_rule, reports, expected) => {
    expect(idsOf(reports)).toEqual(expected);
  });

  it("groups by organization, that of the worst row first", () => {
    const rows = rankQueue([report("calm", "a", 1), report("acme", "b", 30), report("calm", "c", 26)], nowMs);

    const groups = groupQueue(rows).map(({ slug, rows: own }) => [slug, own.map((row) => row.report.reportId)]);

    expect(groups).toEqual([
      ["acme", ["b"]],
      ["calm", ["c", "a"]],
    ]);
  });
});
