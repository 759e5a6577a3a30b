import { expect, it } from "vitest";

import { firingAlert, openIncident } from "../../../test/support/firing-alert.ts";
import { summarizeIncident } from "../../alerting/incident-summary.ts";
import { hourMs, minuteMs } from "../../base/time.ts";
import type { AlertFound } from "../../store/alerts/alerts.ts";
import { chartOfIncident, isThinPast } from "./chart.ts";

const startedAtMs = Date.UTC(2026, 10, 23, 21, 41);
const found: AlertFound = {
  deaths: { count: 90, expected: 4 },
  carriers: [],
  revived: null,
  excess: {
    state: "stopped",
    deathsLastHour: 0,
    usualPerHour: 0.2,
    quietSinceMs: startedAtMs + hourMs,
    expectedEndAtMs: null,
  },
  cause: null,
  error: null,
};
const incident = openIncident(startedAtMs, {
  verdict: {
    startsAtMs: startedAtMs,
    together: 2,
    usual: 0.4,
    probability: 1e-9,
    organizations: 3,
  },
});

it("takes each organization of an incident once, its earliest onset, and when all excess had stopped", () => {
  const alerts = [
    firingAlert("a", startedAtMs, { found, windowHours: 6, onset: { atMs: startedAtMs - 4 * minuteMs, marker: null } }),
    firingAlert("b", startedAtMs, { slug: "globex", found }),
    firingAlert("c", startedAtMs, { check: "regret" }),
    firingAlert("d", startedAtMs, { found, windowHours: 6 }),
  ];
  const members = alerts.map((alert) => ({ ...alert, isSilenced: false, holdsGate: false, target: null }));
  const summary = summarizeIncident(incident, members, { externalUrl: null });
  expect(chartOfIncident({ incident, members, summary })).toEqual({
    members: [
      { slug: "acme", windowHours: 6, expected: 4, beganMs: startedAtMs - 4 * minuteMs },
      { slug: "globex", windowHours: 24, expected: 4, beganMs: startedAtMs },
    ],
    incident: {
      beganMs: startedAtMs - 4 * minuteMs,
      stoppedMs: startedAtMs + hourMs,
      endedMs: null,
    },
  });
});

it.each([
  ["nothing is known before the first event, 47 h ago", 47, true],
  ["a day before the window is known", 48, false],
  ["nothing says where the past begins", null, false],
])("is a thin past: %s", (_, knownHours, isThin) => {
  const knownFromMs = knownHours === null ? null : startedAtMs - knownHours * hourMs;

  expect(isThinPast(knownFromMs, 24, startedAtMs)).toBe(isThin);
});
