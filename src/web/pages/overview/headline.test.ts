import { describe, expect, it } from "vitest";

import type { OrganizationRow, Overview } from "../../read/overview.ts";
import { overviewSentences, overviewTitle } from "./headline.ts";

const nowMs = Date.UTC(2026, 10, 24, 22, 12);

function rowOf(slug: string, over: Partial<OrganizationRow> = {}): OrganizationRow {
  return {
    slug,
    labels: {},
    spike: over.severity ?? "ok",
    severity: "ok",
    isWaiting: false,
    hasNoEvents: false,
    count: 3,
    expected: 3,
    ratio: 1,
    windowHours: 24,
    others: [],
    incident: null,
    state: null,
    heldSinceMs: null,
    lateMs: null,
    ...over,
  };
}

function overviewOf(rows: OrganizationRow[], over: Partial<Overview> = {}): Overview {
  return {
    nowMs,
    rows,
    severity: "ok",
    checks: rows.length,
    late: 0,
    open: [],
    notified: new Map(),
    held: new Map(),
    alerts: { firing: 0, acknowledged: 0, pending: 0, silenced: 0 },
    unfinished: { incidents: new Set(), gates: new Set() },
    toFinish: [],
    ...over,
  };
}

const calm = (count: number): OrganizationRow[] => Array.from({ length: count }, (_, index) => rowOf(`org-${index}`));
const left = (gates: number): Overview["unfinished"] => ({
  incidents: new Set([38]),
  gates: new Set(Array.from({ length: gates }, (_, index) => `org-${index}`)),
});

describe("the headline of the overview", () => {
  it.each<[string, Overview, string]>([
    ["quiet", overviewOf(calm(300)), "All 300 organizations are ok."],
    ["one organization", overviewOf(calm(1)), "The one organization is ok."],
    [
      "ended, not finished",
      overviewOf(calm(300), { unfinished: left(126) }),
      "All 300 organizations are ok; takedowns of 126 organizations are still on hold: 1 incident needs a judgement.",
    ],
    [
      "ended, gates open",
      overviewOf(calm(300), { unfinished: left(0) }),
      "All 300 organizations are ok; 1 incident needs a judgement.",
    ],
    [
      "pending and silenced only",
      overviewOf([
        ...calm(298),
        rowOf("a", { severity: "fail", state: "pending" }),
        rowOf("b", { severity: "warn", state: "silenced" }),
      ]),
      "1 of 300 organizations spikes and is pending, 1 spikes and is silenced. The others are ok.",
    ],
    [
      "another check beside a spike, and alone",
      overviewOf([
        ...calm(2),
        rowOf("a", { severity: "fail", others: [{ slug: "a", check: "sentinel", severity: "warn" }] }),
        rowOf("b", {
          spike: "ok",
          severity: "unknown",
          others: [{ slug: "b", check: "sentinel", severity: "unknown" }],
        }),
      ]),
      "1 of 4 organizations spikes, 1 has another check that is not ok. The others are ok.",
    ],
    [
      "some unknown",
      overviewOf([...calm(296), ...["a", "b", "c", "d"].map((slug) => rowOf(slug, { severity: "unknown" }))]),
      "4 of 300 organizations could not be checked. The others are ok.",
    ],
    [
      "no event yet",
      overviewOf(["a", "b"].map((slug) => rowOf(slug, { severity: "unknown", hasNoEvents: true }))),
      "2 organizations have sent no event yet.",
    ],
    [
      "some wait, some are unknown",
      overviewOf([rowOf("a", { severity: "unknown", isWaiting: true }), rowOf("b", { severity: "unknown" })]),
      "1 of 2 organizations could not be checked, 1 waits for the first run.",
    ],
    [
      "some wait, the others are ok",
      overviewOf([...calm(2), rowOf("a", { severity: "unknown", isWaiting: true })]),
      "1 of 3 organizations waits for the first run. The others are ok.",
    ],
  ])("%s", (_name, overview, sentence) => {
    expect(overviewSentences(overview).join(" ").replaceAll("\u00a0", " ")).toBe(sentence);
  });

  it("is the title of the document by the worst", () => {
    expect(overviewTitle(overviewOf(calm(2)))).toBe("flatline");
    expect(overviewTitle(overviewOf([...calm(2), rowOf("a", { severity: "unknown" })]))).toBe("unknown: 1 of 3");
  });
});
