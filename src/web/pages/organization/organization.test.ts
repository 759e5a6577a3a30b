import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../../test/support/reports.ts";
import type { OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { organizationSentences, worstOf } from "./organization.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const nowMs = Date.parse("2026-11-23T22:07:00Z");
const at = (hours: number): number => nowMs - hours * hourMs;

const check = ({
  state = {},
  ...changes
}: Partial<Omit<OrganizationCheck, "state">> & { readonly state?: object } = {}): OrganizationCheck => ({
  state: {
    check: "dead-asset-spike",
    nextDueAtMs: nowMs + 3 * minuteMs,
    last: null,
    isRunning: false,
    ...state,
  } as unknown as OrganizationCheck["state"],
  severity: "ok",
  isStale: false,
  sinceMs: nowMs - 12 * dayMs - 4 * hourMs,
  isLate: false,
  result: null,
  counts: { currentCount: 61, baselineCount: 408, expectedCount: 58.3, ratio: 1.046 },
  ...changes,
});

const spiking = check({
  severity: "warn",
  sinceMs: at(1),
  counts: { currentCount: 131, baselineCount: 408, expectedCount: 58.3, ratio: 2.247 },
});
const goodAt = (atMs: number) => ({ lastResultReport: resultReport({ severity: "ok", startedAtMs: atMs }) });
const unasked = check({
  severity: "unknown",
  sinceMs: at(3),
  counts: null,
  state: { last: { lastReport: errorReport({ startedAtMs: at(1) }), ...goodAt(at(4)) } },
});

interface PartChanges {
  readonly family?: string;
  readonly organizations?: number;
}

function openPart({ family = "deaths", organizations = 120 }: PartChanges = {}): OrganizationFacts["open"] {
  const alert = {
    slug: "acme",
    check: "dead-asset-spike",
    kind: "verdict",
    startsAtMs: at(0.4),
    onset: { atMs: at(0.5), marker: null },
    windowHours: 24,
    peak: { severity: "fail", currentCount: 2_875, atMs: nowMs },
    found: { deaths: { count: 2_875, expected: 125 }, carriers: [], revived: null, cause: null, error: null },
  };
  const incident = { number: 41, family, endedAtMs: null, startedAtMs: at(0.4), verdict: null };
  const deaths = { currentCount: 2_875, expectedCount: 125 };
  const headline = {
    ...incident,
    platform: null,
    judgement: null,
    excess: null,
    held: 0,
    opened: 0,
    whole: { organizations: 1 },
    alone: { slug: "acme", check: alert.check, windowHours: 24, deaths },
    secondOpinion: null,
  };
  const own = { incident, headline, members: [alert], nowMs };
  return { own, organizations } as unknown as OrganizationFacts["open"];
}

const facts = (changes: Partial<OrganizationFacts> = {}): OrganizationFacts => ({
  nowMs,
  slug: "acme",
  labels: {},
  discoveredBy: null,
  receivers: [],
  checks: [check()],
  windowHours: 24,
  firstEventMs: at(1_000),
  isThin: false,
  expecting: null,
  open: null,
  isPending: false,
  silencedUntilMs: null,
  holding: [],
  incidents: [],
  unfinished: { incidents: new Set(), gates: new Set() },
  latestSpike: null,
  ...changes,
});

const judgement = { verdict: "checker", comment: null, by: "dana", note: null, atMs: at(20) } as const;
const held = (changes: object = {}): OrganizationFacts["holding"][number] =>
  ({ failure: { atMs: Date.parse("2026-11-21T04:48:00Z") }, incident: { number: 38 }, ...changes }) as never;
const queue = check({ state: { check: "review-queue" }, severity: "warn", sinceMs: at(2), counts: null });
const unknown = "acme could not be checked since 19:07.";
const thin = "What is usual cannot be said: too little of its past is known.";
const ok = "acme is ok: 61 deaths in 24 h, 58.3 expected (1.0×).";

const rows: readonly (readonly [state: string, sentences: readonly string[], changes: Partial<OrganizationFacts>])[] = [
  ["ok", [ok], {}],
  ["ok, of a service without counts", ["acme is ok."], { checks: [check({ counts: null })] }],
  ["ok, with little known", [ok, thin], { isThin: true }],
  [
    "ok, its gate shut",
    [ok, "Its takedowns are on hold since 21 Nov 04:48: nobody has judged incident 38."],
    { holding: [held()] },
  ],
  [
    "ok, its gate shut though it was judged",
    [ok, "Its takedowns are on hold since 21 Nov 04:48: incident 38 was judged, and nobody has released it."],
    { holding: [held({ judgement })] },
  ],
  [
    "ok, on hold by two incidents",
    [
      ok,
      "Its takedowns are on hold since 21 Nov 04:48: nobody has judged incident 38; " +
        "incident 39 was judged, and nobody has released it.",
    ],
    { holding: [held(), held({ incident: { number: 39 }, judgement })] },
  ],
  ["ok, silenced", [ok, "It is silenced until 24 Nov 00:07."], { silencedUntilMs: nowMs + 2 * hourMs }],
  [
    "in an incident of many",
    ["acme: 2,875 deaths in 24 h, 125 expected (23.0×).", "It began with 119 others at 21:37."],
    { checks: [spiking], open: openPart() },
  ],
  [
    "in an incident, with nothing known before",
    ["acme: 2,875 deaths in 24 h, 125 expected (23.0×).", thin, "It began with 1 other at 21:37."],
    { checks: [spiking], open: openPart({ organizations: 2 }), isThin: true },
  ],
  [
    "pending",
    ["acme spikes: 131 deaths in 24 h, 58.3 expected (2.2×).", "Its alert is pending."],
    { checks: [spiking], isPending: true },
  ],
  ["unknown, with a code", [unknown], { checks: [unasked] }],
  [
    "unknown with all others",
    [unknown, "It began with 119 others at 21:37."],
    { checks: [unasked], open: openPart({ family: "unreachable" }) },
  ],
  [
    "unknown for want of a run",
    ["acme was last checked at 20:07; the run of 20:12 is missing."],
    {
      checks: [
        check({
          severity: "unknown",
          isStale: true,
          sinceMs: at(2),
          state: { nextDueAtMs: at(2) + 5 * minuteMs, last: goodAt(at(2)) },
        }),
      ],
    },
  ],
  ["before its first run", ["acme waits for its first run, due at 22:10."], { checks: [check({ severity: null })] }],
  [
    "in its first run",
    ["acme is checked for the first time just now."],
    { checks: [check({ severity: null, state: { isRunning: true } })] },
  ],
  [
    "well but for another check with an incident",
    [
      "acme does not spike: 61 deaths in 24 h, 58.3 expected (1.0×).",
      "The check review-queue warns since 20:07.",
      "It began with incident 41 at 21:37.",
    ],
    { checks: [check(), queue], open: openPart({ family: "review-queue", organizations: 1 }) },
  ],
];

const plain = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll(/[\s\u00a0]+/g, " ")
    .trim();

describe("the headline of an organization", () => {
  it.each(rows)("%s", (_, sentences, changes) => {
    expect(organizationSentences(facts(changes)).map(({ html }) => plain(html))).toEqual(sentences);
  });

  it("links to the incident", () => {
    const [, second] = organizationSentences(facts({ checks: [spiking], open: openPart() }));

    expect(second?.html).toContain('<a href="/incidents/41">119 others</a>');
  });
});

describe("the mark of an organization", () => {
  it.each([
    ["ok", [check()]],
    ["warn", [check(), queue]],
    ["unknown", [unasked, queue]],
    ["fail", [unasked, check({ state: { check: "sentinel" }, severity: "fail" })]],
    [null, [check({ severity: null })]],
  ] as const)("%s is the worst of its healthchecks", (severity, checks) => {
    expect(worstOf({ checks: [...checks] })).toBe(severity);
  });
});
