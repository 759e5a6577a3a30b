import { describe, expect, it } from "vitest";

import { formatLocalTime } from "./local-time.ts";

describe("formatLocalTime", () => {
  it.each([
    ["UTC has no offset", "2026-01-15T12:00:00Z", "UTC", "2026-01-15T12:00:00+00:00"],
    ["winter has its offset", "2026-01-15T12:00:00Z", "Europe/Berlin", "2026-01-15T13:00:00+01:00"],
    ["summer has its own", "2026-07-15T12:00:00Z", "Europe/Berlin", "2026-07-15T14:00:00+02:00"],
    ["the west is behind", "2026-01-01T02:00:00Z", "America/New_York", "2025-12-31T21:00:00-05:00"],
    ["half hours", "2026-01-15T12:00:00Z", "Asia/Kolkata", "2026-01-15T17:30:00+05:30"],
    ["midnight is 00", "2026-01-15T00:00:00Z", "Etc/UTC", "2026-01-15T00:00:00+00:00"],
  ])("%s", (_rule, instant, timezone, local) => {
    expect(formatLocalTime(Date.parse(instant), timezone)).toBe(local);
  });
});
