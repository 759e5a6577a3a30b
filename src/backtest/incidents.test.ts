import { describe, expect, it } from "vitest";

import { incidentsOf, messagesOf } from "./incidents.ts";
import type { ReplayedNotice } from "./replay.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const intervalMs = 5 * minuteMs;

function notice(slug: string, atMs: number, over: Partial<ReplayedNotice> = {}): ReplayedNotice {
  const first = { kind: "verdict", event: "firing", severity: "warn", reason: "fail" } as const;
  return { slug, alertId: `${slug}-1`, atMs, startsAtMs: atMs, ...first, ...over };
}

function incidents(notices: readonly ReplayedNotice[], organizations = 40) {
  const intervalsMs = Array.from({ length: organizations }, () => intervalMs);
  return incidentsOf(notices, { withinMs: 30 * minuteMs, minOrganizations: 3, intervalsMs, fromMs: 0 });
}

describe("incidents of a replay", () => {
  it("are what fires within half an hour of the first, until nothing of it fires", () => {
    const end = { event: "resolved" } as const;
    const found = incidents([
      notice("acme", 0),
      notice("globex", 30 * minuteMs, { severity: "fail" }),
      notice("initech", 31 * minuteMs),
      notice("acme", dayMs, end),
      notice("globex", 2 * dayMs, end),
    ]);

    expect(found).toMatchObject([
      {
        number: 1,
        slugs: ["acme", "globex"],
        severity: "fail",
        startsAtMs: 0,
        endedAtMs: 2 * dayMs,
        isOneCause: false,
      },
      { number: 2, slugs: ["initech"], endedAtMs: null },
    ]);
  });

  it("have a fleet verdict where that many together are no chance, and then take what fires within a day", () => {
    const slugs = Array.from({ length: 6 }, (_, index) => `org-${index}`);
    const found = incidents([
      ...slugs.map((slug, index) => notice(slug, index * minuteMs)),
      notice("late", 20 * hourMs),
    ]);

    expect(found).toMatchObject([{ slugs: [...slugs, "late"], isOneCause: true }]);
  });

  it("never mix deaths with what is unknown, which ends when it is known again", () => {
    const unknown = { kind: "unknown", event: "unknown", severity: "unknown", alertId: "acme-2" } as const;
    const found = incidents([
      notice("acme", 0),
      notice("acme", minuteMs, unknown),
      notice("acme", hourMs, { ...unknown, event: "recovered" }),
    ]);

    expect(found).toMatchObject([
      { family: "deaths", endedAtMs: null },
      { family: "unreachable", endedAtMs: hourMs },
    ]);
  });

  it("are told in one message of all that comes at one instant", () => {
    expect(messagesOf(incidents([notice("acme", 0), notice("globex", 0), notice("initech", intervalMs)]))).toBe(2);
  });
});
