import { expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { runTimeMs } from "./finished-run.ts";

it.each([
  [
    "a run that begins when it is due counts from then",
    { dueAtMs: 1_000, startedAtMs: 1_000, nextDueAtMs: 2_000 },
    1_000,
  ],
  ["one that begins a little later, too", { dueAtMs: 1_000, startedAtMs: 1_250, nextDueAtMs: 2_000 }, 1_000],
  ["one that begins late counts from its start", { dueAtMs: 1_000, startedAtMs: 1_251, nextDueAtMs: 2_000 }, 1_251],
  [
    "one that was overdue when the process came up, too",
    { dueAtMs: 0, startedAtMs: 90_100, nextDueAtMs: 91_000 },
    90_100,
  ],
  ["one that was asked for before it was due, too", { dueAtMs: 2_000, startedAtMs: 1_400, nextDueAtMs: 2_000 }, 1_400],
])("%s", (_rule, { dueAtMs, startedAtMs, nextDueAtMs }, expected) => {
  const run = { check: "dead-asset-spike", slug: "acme", dueAtMs, isAsked: false } as const;
  expect(runTimeMs({ run, report: resultReport({ startedAtMs }), nextDueAtMs })).toBe(expected);
});
