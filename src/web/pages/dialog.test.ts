import { expect, it } from "vitest";

import { endOf } from "./dialog.ts";

const nowMs = Date.UTC(2026, 0, 15);

it.each([
  ["4", "2026-01-15T04:00:00.000Z"],
  ["until", "2026-01-16T12:00:00Z"],
  // A form of somebody's own: the end is then checked as every end is.
  ["1e15", "2026-01-16T12:00:00Z"],
  ["-1", "2026-01-16T12:00:00Z"],
])("reads the end of a silence of length %s", (length, end) => {
  expect(endOf(new URLSearchParams({ length, until: "2026-01-16T12:00" }), nowMs)).toBe(end);
});
