import { describe, expect, it } from "vitest";

import type { IncidentMember } from "../../../alerting/incident-summary.ts";
import { summarizeIncident } from "../../../alerting/incident-summary.ts";
import { hourMs, minuteMs } from "../../../base/time.ts";
import type { AlertState } from "../../../store/alerts/alerts.ts";
import type { Incident } from "../../../store/alerts/incidents.ts";
import type { IncidentFacts } from "../../read/incident-page.ts";
import { firingAlert, openIncident } from "../../../../test/support/firing-alert.ts";
import { causeLine, incidentSentences, listSentence } from "./sentences.ts";

const startMs = Date.UTC(2026, 10, 23, 21, 41);
const nowMs = startMs + 26 * minuteMs;

interface Given {
  readonly members?: readonly IncidentMember[];
  readonly incident?: Partial<Incident>;
  readonly facts?: Partial<IncidentFacts>;
}

function factsOf({ members = [], incident: over = {}, facts = {} }: Given): IncidentFacts {
  const incident: Incident = openIncident(startMs, { id: "incident-41", ...over });
  return {
    incident,
    members,
    summary: summarizeIncident(incident, members, { externalUrl: null }),
    nowMs,
    source: "security.example.com",
    fleet: 300,
    heldSince: new Map(),
    notified: [],
    canLook: false,
    isLooking: false,
    escalation: null,
    ...facts,
  };
}

function memberOf(slug: string, over: Partial<AlertState> = {}, endedAtMs: number | null = null): IncidentMember {
  const found = { deaths: { count: 90, expected: 3 }, carriers: [], revived: null, cause: null, error: null };
  return {
    alert: firingAlert(slug, startMs, { slug, windowHours: 24, found, ...over }),
    end: endedAtMs === null ? null : { atMs: endedAtMs, isByRun: true },
    isSilenced: false,
    holdsGate: false,
  };
}

const many = (count: number, over: Partial<AlertState> = {}, endedAtMs: number | null = null): IncidentMember[] =>
  Array.from({ length: count }, (_, index) =>
    memberOf(`org-${index}`, { startsAtMs: startMs + (index % 10) * minuteMs, ...over }, endedAtMs),
  );

const chance = {
  startsAtMs: startMs,
  together: 120,
  usual: 0.4,
  probability: 1e-9,
  peakSpiking: 120,
  organizations: 300,
} as const;
const captcha = { key: "reason", value: "captcha_page", share: 0.85, usualShare: 0 };
const sharing = { deaths: { count: 90, expected: 3 }, carriers: [captcha], revived: null, cause: null, error: null };
const judgement = { verdict: "checker", comment: "Captcha in eu-1", by: "ops", note: "dana", atMs: nowMs } as const;
const endMs = startMs + 24 * hourMs;
const unknown: Partial<AlertState> = {
  kind: "unknown",
  severity: "unknown",
  found: {
    deaths: null,
    carriers: [],
    revived: null,
    cause: null,
    error: { reason: "server_error", message: "the service answered 503" },
  },
};

describe("the headline of an incident", () => {
  it.each<[string, Given, readonly string[]]>([
    [
      "many together, from the checker",
      { members: many(120, { found: sharing }), incident: { verdict: chance } },
      [
        "120 of 300 organizations began to spike within 9 minutes.",
        "By chance that does not happen. Suspect the liveness checker.",
      ],
    ],
    [
      "many together, without a cause",
      { members: many(120), incident: { verdict: chance } },
      [
        "120 of 300 organizations began to spike within 9 minutes.",
        "By chance that does not happen. One cause is behind it.",
      ],
    ],
    ["few without a verdict", { members: many(2) }, ["2 of 300 organizations began to spike within 1 minute."]],
    ["one alone", { members: [memberOf("globex")] }, ["globex: 90 deaths in 24 h, 3.0 expected (30.0×)."]],
    [
      "judged while it fires",
      { members: many(120, { judgement }), incident: { verdict: chance } },
      [
        "120 of 300 organizations began to spike within 9 minutes.",
        "The checker was wrong, says dana (ops): «Captcha in eu-1»",
      ],
    ],
    [
      "judged while its gates are shut",
      {
        members: many(120, { judgement }),
        incident: { verdict: chance },
        facts: { heldSince: new Map([["org-0", startMs]]) },
      },
      [
        "120 of 300 organizations began to spike within 9 minutes.",
        "The checker was wrong, says dana (ops): «Captcha in eu-1». 1 gate is still shut.",
      ],
    ],
    [
      "ended and not judged",
      {
        members: many(120, {}, endMs),
        incident: { endedAtMs: endMs },
        facts: { heldSince: new Map(Array.from({ length: 81 }, (_, index) => [`org-${index}`, startMs])) },
      },
      [
        "120 organizations spiked together for 1 d. The alerts have ended.",
        "81 gates are still shut: nobody has judged it.",
      ],
    ],
    [
      "ended and judged",
      { members: many(120, { judgement: { ...judgement, comment: null } }, endMs), incident: { endedAtMs: endMs } },
      ["120 organizations spiked together for 1 d.", "The checker was wrong, says dana (ops)."],
    ],
    [
      "the whole platform",
      { members: many(300, unknown), incident: { family: "unreachable" } },
      ["security.example.com has answered 503 since 21:41.", "None of the 300 organizations is watched."],
    ],
    [
      "a part of the platform",
      { members: many(41, unknown), incident: { family: "unreachable" } },
      ["security.example.com has answered 503 since 21:41.", "41 of the 300 organizations are not watched."],
    ],
    [
      "the platform, over",
      {
        members: many(300, unknown, startMs + 18 * minuteMs),
        incident: { family: "unreachable", endedAtMs: startMs + 18 * minuteMs },
      },
      ["security.example.com answered 503 for 18 min.", "300 organizations were not watched."],
    ],
    [
      "a healthcheck that the platform does not have",
      {
        members: many(3, { ...unknown, check: "reviewing-backlog" }),
        incident: { family: "unreachable" },
      },
      ["security.example.com has answered 503 since 21:41.", "Only reviewing-backlog: deaths are watched."],
    ],
    [
      "a database whose error has a number",
      {
        members: many(300, {
          kind: "unknown",
          found: {
            ...sharing,
            error: { reason: "store", message: "clickhouse: Authentication failed (code 516)" },
          },
        }),
        incident: { family: "unreachable" },
      },
      ["security.example.com has given no result since 21:41.", "None of the 300 organizations is watched."],
    ],
    [
      "another check of one organization",
      { members: [memberOf("acme", { check: "event-flow" })], incident: { family: "no-events" } },
      ["The flow of events of acme is not ok since 21:41."],
    ],
  ])("%s", (_name, given, sentences) => {
    expect(incidentSentences(factsOf(given), true).map((one) => one.replaceAll("\u00a0", " "))).toEqual(sentences);
  });

  it("names nobody to who may not read that", () => {
    const facts = factsOf({ members: many(120, { judgement }), incident: { verdict: chance } });

    expect(incidentSentences(facts, false)).toContain("The checker was wrong.");
    expect(causeLine(facts, false)).toBe("No cause stands out.");
  });
});

describe("the sentence of an incident in a list", () => {
  it.each<[string, Given, string, string]>([
    [
      "many, however it goes on",
      { members: many(120, { found: sharing }, endMs), incident: { endedAtMs: endMs, verdict: chance } },
      "120 of 300 organizations began to spike within 9 minutes",
      "Likely the liveness checker: 85 % has reason=captcha_page.",
    ],
    [
      "one",
      { members: [memberOf("globex")] },
      "globex alone: 90 deaths in 24 h, 3.0 expected (30.0×)",
      "No cause stands out.",
    ],
    [
      "the platform",
      { members: many(300, unknown), incident: { family: "unreachable" } },
      "security.example.com has answered 503 since 21:41",
      "None of the 300 organizations is watched.",
    ],
  ])("%s", (_name, given, sentence, line) => {
    const facts = factsOf(given);

    expect(listSentence(facts)).toBe(sentence);
    expect(causeLine(facts, true).replaceAll("\u00a0", " ")).toBe(line);
  });
});
