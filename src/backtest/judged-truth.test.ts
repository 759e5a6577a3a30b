import { expect, it } from "vitest";

import { hourMs } from "../base/time.ts";
import type { JudgementVerdict } from "../contract/judgement.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import { judgedTruth } from "./judged-truth.ts";
import { firingAlert } from "../../test/support/firing-alert.ts";

const nowMs = 1_000 * hourMs;
const ask = { nowMs, windowHoursOf: () => 24 };

interface Said extends Partial<Alert> {
  readonly verdict?: JudgementVerdict;
  readonly endsAtHour?: number;
  readonly onsetAtHour?: number;
}

/** An alert of acme that began at this hour. */
function alert(startsAtHour: number, { verdict, endsAtHour, onsetAtHour, ...over }: Said): Alert {
  return firingAlert(`a${startsAtHour}`, startsAtHour * hourMs, {
    ...(onsetAtHour === undefined ? {} : { onset: { atMs: onsetAtHour * hourMs, marker: null } }),
    ...(verdict === undefined ? {} : { judgement: { verdict, comment: null, by: "kim", note: null, atMs: nowMs } }),
    end: endsAtHour === undefined ? null : { atMs: endsAtHour * hourMs, isByRun: true },
    ...over,
  });
}

const rows: readonly (readonly [string, readonly Alert[], { incidents?: number[][]; massDeaths?: number[][] }])[] = [
  [
    "an alert judged checker is an incident, from its onset to the last deaths before its end",
    [alert(100, { verdict: "checker", onsetAtHour: 90, endsAtHour: 130 })],
    { incidents: [[90, 106]] },
  ],
  [
    "without an onset it begins a window before the alert",
    [alert(100, { verdict: "checker", endsAtHour: 130 })],
    { incidents: [[76, 106]] },
  ],
  [
    "the window is that of the alert",
    [alert(100, { verdict: "checker", windowHours: 6, endsAtHour: 130 })],
    { incidents: [[94, 124]] },
  ],
  [
    "one that ends sooner than its window is over at once",
    [alert(100, { verdict: "checker", onsetAtHour: 99, endsAtHour: 101 })],
    { incidents: [[99, 99]] },
  ],
  [
    "one that fires lasts until now",
    [alert(990, { verdict: "checker", onsetAtHour: 989 })],
    { incidents: [[989, 1_000]] },
  ],
  [
    "real and expected ones are deaths that an alert may tell of",
    [
      alert(100, { verdict: "real", onsetAtHour: 99, endsAtHour: 130 }),
      alert(300, { verdict: "expected", onsetAtHour: 299, endsAtHour: 330 }),
    ],
    {
      massDeaths: [
        [99, 106],
        [299, 306],
      ],
    },
  ],
  [
    "stretches that no alert could tell apart are one, in any order",
    [
      alert(160, { verdict: "checker", onsetAtHour: 142, endsAtHour: 190 }),
      alert(100, { verdict: "checker", onsetAtHour: 99, endsAtHour: 130 }),
      alert(230, { verdict: "checker", onsetAtHour: 203, endsAtHour: 240 }),
    ],
    {
      incidents: [
        [99, 166],
        [203, 216],
      ],
    },
  ],
  ["one of which nobody said anything is nothing", [alert(100, { endsAtHour: 130 })], {}],
  ["one of another check is nothing", [alert(100, { verdict: "checker", check: "sentinel", endsAtHour: 130 })], {}],
  ["one of kind unknown is nothing", [alert(100, { verdict: "checker", kind: "unknown", endsAtHour: 130 })], {}],
];

it.each(rows)("%s", (_rule, judged, { incidents = [], massDeaths = [] }) => {
  const { truths } = judgedTruth(judged, ask);

  const hours = (stretches: readonly { fromMs: number; toMs: number }[] = []): number[][] =>
    stretches.map(({ fromMs, toMs }) => [fromMs / hourMs, toMs / hourMs]);
  const truth = truths.get("acme");
  expect([hours(truth?.incidents), hours(truth?.massDeaths)]).toEqual([incidents, massDeaths]);
});

it("counts what was said, keeps organizations apart and says since when", () => {
  const found = judgedTruth(
    [
      alert(200, { verdict: "checker", endsAtHour: 230 }),
      alert(100, { verdict: "real", slug: "globex", endsAtHour: 130 }),
      alert(50, { endsAtHour: 130 }),
    ],
    ask,
  );

  expect([...found.truths.keys()]).toEqual(["acme", "globex"]);
  expect(found.counts).toEqual({ checker: 1, real: 1, expected: 0 });
  expect(found.sinceMs).toBe(76 * hourMs);
  expect(judgedTruth([], ask)).toMatchObject({ sinceMs: null, counts: { checker: 0 } });
});
