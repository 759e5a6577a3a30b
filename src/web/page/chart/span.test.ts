import { expect, it } from "vitest";

import { dayMs, hourMs } from "../../../base/time.ts";
import { readSpan } from "./span.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const fromMs = nowMs - dayMs;

it.each([
  ["two instants", `from=${fromMs}&to=${fromMs + hourMs}`, { fromMs, toMs: fromMs + hourMs }],
  ["the fields of a form, in UTC", "from=2026-01-14T12:00&to=2026-01-14T13:00", { fromMs, toMs: fromMs + hourMs }],
  ["no end", "from=2026-01-14T12:00&to=", { fromMs, toMs: nowMs }],
  ["an end to come", `from=${fromMs}&to=${nowMs + dayMs}`, { fromMs, toMs: nowMs }],
  [
    "a begin before everything",
    `from=${nowMs - 900 * dayMs}&to=${nowMs}`,
    { fromMs: nowMs - 400 * dayMs, toMs: nowMs },
  ],
  ["no begin", `to=${nowMs}`, null],
  ["an end before the begin", `from=${nowMs}&to=${fromMs}`, null],
  ["a day that is not in the calendar", "from=2026-02-31T12:00", null],
  ["other words", "from=yesterday&to=now", null],
])("a span of %s is read", (_what, query, span) => {
  expect(readSpan(new URLSearchParams(query), nowMs)).toEqual(span);
});
