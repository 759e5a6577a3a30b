import { describe, expect, it } from "vitest";

import { headlineFacts, type HeadlineFacts } from "../alerting/headline-facts.ts";
import { summarizeIncident, type IncidentMember } from "../alerting/incident-summary.ts";
import type { Notification } from "../alerting/notify/notification.ts";
import { hourMs, minuteMs } from "../base/time.ts";
import type { AlertFound, Alert } from "../store/alerts/alerts.ts";
import type { GateFailure } from "../store/alerts/gate.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import { firingAlert, openIncident } from "../../test/support/firing-alert.ts";
import { quietSettings } from "../../test/support/quiet-settings.ts";
import { mailOf } from "../receivers/email/email.ts";
import { severityMarks } from "../receivers/fit.ts";
import { pagerdutyEvents } from "../receivers/pagerduty/pagerduty.ts";
import { slackBody } from "../receivers/slack/body.ts";
import { renderIncidentReport } from "../web/report/incident-report.ts";
import { headline, judgedInPart } from "./headline.ts";
import { messageOf } from "./message.ts";

const startMs = Date.UTC(2026, 10, 23, 21, 41);
const nowMs = startMs + 26 * minuteMs;
const endMs = startMs + 24 * minuteMs;

interface Given {
  readonly members: readonly IncidentMember[];
  readonly incident?: Partial<Incident>;
  /** How many members and organizations the reader sees [all]. */
  readonly part?: readonly [members: number, watched: number];
  readonly whenUnknown?: "allow" | "hold";
  readonly isGateUsed?: boolean;
  /** Failures of other incidents. */
  readonly failures?: readonly GateFailure[];
  readonly releaseOn?: readonly ("judged" | "resolved")[];
}

function factsOf(given: Given) {
  const { members, incident: over = {}, part, whenUnknown = "allow", isGateUsed = true } = given;
  const incident = openIncident(startMs, over);
  const settings = {
    ...quietSettings,
    slugs: Array.from({ length: 300 }, (_, index) => `org-${index}`),
    source: "security.example.com",
    gateOf: () => ({ releaseOn: given.releaseOn ?? ["judged" as const], whenUnknown }),
  };
  return headlineFacts(
    { incident, members, summary: summarizeIncident(incident, members, { externalUrl: null }) },
    {
      settings,
      nowMs,
      isGateUsed,
      failures: given.failures ?? [],
      ...(part === undefined ? {} : { part: { members: members.slice(0, part[0]), watched: part[1] } }),
    },
  );
}

/** The receiver's message, and the first line of each medium. */
function told({ members, incident: given = {} }: Given, facts: HeadlineFacts) {
  const incident = openIncident(startMs, given);
  const summary = summarizeIncident(incident, members, { externalUrl: null });
  const { firing, organizations } = facts.part ?? facts.whole;
  const own = { organizations, firing, toAcknowledge: firing, lastError: null };
  const notification: Notification = {
    id: "n",
    receiver: "ops",
    status: firing === 0 ? "resolved" : "firing",
    severity: summary.severity,
    recipient: null,
    generatedAtMs: nowMs,
    externalUrl: null,
    fleet: null,
    incident: { ...summary, worst: [], outlived: 0, opened: facts.opened, headline: facts, own },
    alerts: members.slice(0, organizations).map((alert) => ({
      ...alert,
      event: alert.end === null ? "firing" : "resolved",
      status: alert.end === null ? "firing" : "resolved",
      previousSeverity: "ok",
      endsAtMs: alert.end?.atMs ?? null,
      labels: {},
      url: null,
      result: null,
      counts: null,
      error: null,
    })),
  };
  const { title, text, severity } = messageOf(notification);
  const unmarked = (line: string): string => line.replace(`${severityMarks[severity]} `, "");
  const [header] = slackBody(notification).blocks;
  const [trigger] = pagerdutyEvents(notification);
  const none = { answers: [], comments: [], markers: [], notified: [], waiting: [], escalation: null };
  const read = { incident, summary, members, headline: facts, heldSince: new Map(), ...none };
  const report = renderIncidentReport({ ...read, nowMs } as never, null);
  return {
    title,
    text,
    lines: {
      slack: header?.type === "header" ? unmarked(header.text.text) : "",
      mail: unmarked(mailOf(notification).subject),
      pagerduty: trigger?.payload?.summary ?? title,
      report: (report.split("\n")[0] ?? "")
        .replace(/^# Incident \d+: /, "")
        .replaceAll("`", "")
        .replaceAll("\u00a0", " "),
    },
  };
}

const counted: AlertFound = {
  deaths: { count: 90, expected: 3 },
  carriers: [],
  revived: null,
  cause: null,
  error: null,
};
/** Evidence of stored events without a cause. */
const seen: AlertFound = { ...counted, cause: "unclear" };
const excessOf = (state: "ongoing" | "stopped" | "unclear", quietSinceMs: number | null) => ({
  state,
  deathsLastHour: 212,
  usualPerHour: 9,
  quietSinceMs,
  expectedEndAtMs: state === "stopped" && quietSinceMs !== null ? quietSinceMs + 24 * hourMs : null,
});
const captcha = { key: "reason", value: "captcha_page", share: 0.92, usualShare: 0 };
const failed: AlertFound = {
  ...counted,
  deaths: null,
  error: { reason: "server_error", message: "the service answered 503", status: 503 },
};
const unknown: Partial<Alert> = { kind: "unknown", severity: "unknown", found: failed };

const warned = { severity: "warn", currentCount: 90, atMs: startMs } as const;
const hasFailed = { severity: "fail", currentCount: 90, atMs: startMs } as const;

/** One member for each organization; all began within a minute. */
function many(count: number, over: Partial<Alert> = {}, given: Partial<IncidentMember> = {}): IncidentMember[] {
  return Array.from({ length: count }, (_, index) => ({
    ...firingAlert(`alert-${index}`, startMs + (index % 10) * 6_000, {
      slug: index === 0 ? "globex" : `org-${index}`,
      windowHours: 24,
      found: counted,
      peak: warned,
      ...over,
    }),
    isSilenced: false,
    holdsGate: false,
    ...given,
  }));
}

/** A failure of one of `many` in another incident. */
function beside(index: number, number: number): GateFailure {
  const failure = { atMs: startMs, releasedAtMs: null };
  return { ...firingAlert("beside", startMs, { slug: `org-${index}`, incident: { id: "i", number } }), failure };
}

const verdict = {
  startsAtMs: startMs,
  together: 118,
  usual: 0.4,
  probability: 1e-9,
  organizations: 300,
};
const opinion = {
  asked: 20,
  alive: 2,
  gone: 17,
  verdict: "confirmed",
  controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
  atMs: startMs,
  look: 1,
} as const;
const judgement = { verdict: "checker", comment: "captcha in eu-1", by: "ops", note: "dana", atMs: nowMs } as const;
const over = { end: { atMs: endMs, isByRun: true } };
const began = "118 of 300 organizations began to spike within 1 minute, from one cause.";

describe("the headline of an incident", () => {
  it.each<[string, Given, string]>([
    ["one organization", { members: many(1) }, "globex: 90 deaths in 24 h, 3.0 expected (30.0×)."],
    ["several from one cause, by a source that only counts", { members: many(118), incident: { verdict } }, began],
    [
      "a part of them",
      { members: many(118), incident: { verdict }, part: [9, 25] },
      "9 of your 25 organizations began to spike within 1 minute (118 of 300 in all), from one cause.",
    ],
    [
      "one of them",
      { members: many(118), incident: { verdict }, part: [1, 25] },
      `globex: 90 deaths in 24 h, 3.0 expected (30.0×). ${began}`,
    ],
    ["several without a verdict", { members: many(4) }, "4 of 300 organizations spike since 21:41."],
    [
      "a silenced member is not counted",
      { members: [...many(5).slice(0, 4), ...many(5, {}, { isSilenced: true }).slice(4)] },
      "4 of 300 organizations spike since 21:41.",
    ],
    [
      "the checker, by what the deaths share",
      { members: many(118, { found: { ...seen, carriers: [captcha] } }), incident: { verdict } },
      `${began} The liveness checker is suspected: 92 % of these deaths share reason=captcha_page, usually none.`,
    ],
    [
      "the checker, by what was found alive",
      { members: many(2, { found: { ...seen, revived: { judged: 4, count: 3 } } }) },
      "2 of 300 organizations spike since 21:41. " +
        "The liveness checker is suspected: 6 of these deaths were found alive.",
    ],
    [
      "the second opinion",
      { members: many(118), incident: { verdict, secondOpinion: opinion } },
      `${began} The second opinion: 17 of 20 are gone.`,
    ],
    [
      "still going on",
      { members: many(1, { found: { ...seen, excess: excessOf("ongoing", null) } }) },
      "globex: 90 deaths in 24 h, 3.0 expected (30.0×). " +
        "It is still going on: 212 deaths in the last hour, usually 9.0.",
    ],
    [
      "maybe over",
      { members: many(1, { found: { ...seen, excess: excessOf("unclear", startMs) } }) },
      "globex: 90 deaths in 24 h, 3.0 expected (30.0×). It may be over: nothing unusual since 21:41.",
    ],
    [
      "over, but in the window",
      { members: many(1, { found: { ...seen, excess: excessOf("stopped", startMs) } }) },
      "globex: 90 deaths in 24 h, 3.0 expected (30.0×). Nothing unusual since 21:41; it ends by 21:41 tomorrow.",
    ],
    [
      "no cause, where one could have been seen",
      { members: many(118, { found: seen }), incident: { verdict } },
      `${began} No cause stands out.`,
    ],
    [
      "takedowns on hold",
      { members: many(118, {}, { holdsGate: true }), incident: { verdict } },
      `${began} Takedowns of 118 organizations are on hold until somebody judges it.`,
    ],
    [
      "takedowns on hold, where nobody goes by gates",
      { members: many(118, {}, { holdsGate: true }), incident: { verdict }, isGateUsed: false },
      began,
    ],
    [
      "takedowns on hold that only a release opens",
      { members: many(118, {}, { holdsGate: true }), incident: { verdict }, releaseOn: [] },
      `${began} Takedowns of 118 organizations are on hold until they are released.`,
    ],
    [
      "judged real, while another incident holds one of its organizations: that one is not allowed again",
      {
        members: many(118, { peak: hasFailed, judgement: { ...judgement, verdict: "real" } }),
        incident: { verdict },
        failures: [beside(4, 1)],
      },
      `${began} They did die, says dana (ops): «captcha in eu-1». Takedowns of 117 organizations are allowed again. ` +
        "Takedowns of 1 organization are on hold by incident 1.",
    ],
    [
      "judged checker, while other incidents hold some of it, too",
      {
        members: many(118, { peak: hasFailed, judgement }, { holdsGate: true }),
        incident: { verdict },
        failures: [beside(4, 3), beside(4, 1), beside(7, 3)],
      },
      `${began} The checker was wrong, says dana (ops): «captcha in eu-1». ` +
        "Takedowns of 118 organizations are on hold until their alerts end. " +
        "Takedowns of 2 organizations are on hold by incidents 1, 3, too.",
    ],
    [
      "judged as a whole",
      { members: many(118, { judgement }, { holdsGate: true }), incident: { verdict } },
      `${began} The checker was wrong, says dana (ops): «captcha in eu-1». ` +
        "Takedowns of 118 organizations are on hold until their alerts end.",
    ],
    [
      "judged checker, and one that only warns has joined: no judgement is missing for what is on hold",
      {
        members: [...many(9, { judgement }, { holdsGate: true }).slice(1), ...many(1)],
        incident: { verdict },
      },
      "9 of 300 organizations began to spike within 1 minute, from one cause. " +
        "Takedowns of 8 organizations are on hold until their alerts end.",
    ],
    [
      "judged checker, and one that fails has joined",
      {
        members: [...many(9, { judgement }, { holdsGate: true }).slice(1), ...many(1, {}, { holdsGate: true })],
        incident: { verdict },
      },
      "9 of 300 organizations began to spike within 1 minute, from one cause. " +
        "Takedowns of 9 organizations are on hold: of 1 until somebody judges it, of 8 until their alerts end.",
    ],
    [
      "judged checker, and ended by a reload: only a release is left",
      {
        members: many(1, { judgement, end: { atMs: endMs, isByRun: false } }, { holdsGate: true }),
        incident: { endedAtMs: endMs },
      },
      "globex spiked for 24 min. What ended it is a change of the configuration. " +
        "The checker was wrong, says dana (ops): «captcha in eu-1». Takedowns of globex are on hold until they are released.",
    ],
    [
      "judged in part: it does not speak for the whole",
      { members: [...many(9, { judgement }).slice(0, 1), ...many(9).slice(1)], incident: { verdict } },
      "9 of 300 organizations began to spike within 1 minute, from one cause.",
    ],
    [
      "ended",
      {
        members: many(118, {}, over),
        incident: { verdict, endedAtMs: endMs },
      },
      "118 organizations spiked together for 24 min. All rates are back under their thresholds.",
    ],
    [
      "ended and judged, and what it held is allowed",
      {
        members: many(118, { judgement: { ...judgement, comment: null }, peak: hasFailed }, over),
        incident: { endedAtMs: endMs },
      },
      "118 organizations spiked together for 24 min. All rates are back under their thresholds. " +
        "The checker was wrong, says dana (ops). Takedowns of 118 organizations are allowed again.",
    ],
    [
      "ended by a reload",
      {
        members: many(1, {}, { end: { atMs: endMs, isByRun: false } }),
        incident: { endedAtMs: endMs },
        isGateUsed: false,
      },
      "globex spiked for 24 min. What ended it is a change of the configuration.",
    ],
    [
      "the platform does not answer",
      { members: many(300, unknown), incident: { family: "unreachable" } },
      "security.example.com has answered 503 since 21:41: none of the 300 organizations is checked. " +
        "Takedowns go on, as `whenUnknown` says.",
    ],
    [
      "the platform does not answer for some, whose takedowns are on hold",
      { members: many(41, unknown), incident: { family: "unreachable" }, whenUnknown: "hold" },
      "security.example.com has answered 503 since 21:41: 41 of the 300 organizations are not checked. " +
        "Takedowns are on hold, as `whenUnknown` says.",
    ],
    [
      "an error whose number is no status",
      {
        members: many(300, {
          ...unknown,
          found: { ...failed, error: { reason: "store", message: "Authentication failed (code 516)" } },
        }),
        incident: { family: "unreachable" },
      },
      "security.example.com has given no result since 21:41: none of the 300 organizations is checked. " +
        "Takedowns go on, as `whenUnknown` says.",
    ],
    [
      "a healthcheck that the platform does not have",
      { members: many(3, { ...unknown, check: "reviewing-backlog" }), incident: { family: "unreachable" } },
      "security.example.com has answered 503 since 21:41. Only reviewing-backlog: deaths are watched.",
    ],
    [
      "the platform answers again",
      { members: many(300, unknown, over), incident: { family: "unreachable", endedAtMs: startMs + 18 * minuteMs } },
      "security.example.com answered 503 for 18 min. Nothing is known of the time between.",
    ],
    [
      "no event yet",
      {
        members: many(1, { ...unknown, found: { ...failed, error: { reason: "no_events", message: "none" } } }),
        incident: { family: "no-events" },
      },
      "No event of globex has come yet.",
    ],
    [
      "another check",
      { members: many(1, { check: "event-flow" }), incident: { family: "no-events" } },
      "The flow of events of globex is not ok since 21:41.",
    ],
  ])("%s", (_name, given, sentences) => {
    const facts = factsOf(given);
    const words = headline(facts, nowMs).map((text) => text.replaceAll("\u00a0", " "));

    expect(words.join(" ")).toBe(sentences);
    const { title, text, lines } = told(given, facts);
    expect(title).toBe(words[0]);
    // A message shows an excess that is over as a fact, with the reader's clock.
    expect(words.slice(1).filter((word) => !text.includes(word) && !/nothing unusual/i.test(word))).toEqual([]);
    expect(lines).toEqual({ slack: title, mail: title, pagerduty: title, report: title });
  });

  it("says of what is judged apart how much of it that is", () => {
    const members = [...many(9, { judgement: { ...judgement, verdict: "real" } }).slice(0, 1), ...many(9).slice(1)];

    expect(judgedInPart(factsOf({ members }))).toBe("1 of 9 is judged real, says dana (ops).");
  });

  it("has a day beside a time of another day", () => {
    const facts = factsOf({ members: many(2) });

    expect(headline(facts, nowMs + 24 * hourMs)[0].replaceAll("\u00a0", " ")).toBe(
      "2 of 300 organizations spike since 23 Nov 21:41.",
    );
  });
});
