import { minuteMs } from "../base/time.ts";
import { describeAuthor } from "../contract/actor.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import type { GateFailure } from "../store/alerts/gate.ts";
import { holdersIn, isGateAlert, releaseOf } from "./decide/gate.ts";
import {
  foundAlive,
  incidentExcess,
  isSpikeAlert,
  slugsOf,
  stoppedAtMsOfEach,
  type IncidentMember,
  type IncidentSummary,
} from "./incident-summary.ts";
import type { AlertingSettings } from "./settings.ts";

/** The facts of an incident's headline for one reader (words/headline.ts). */
export type HeadlineFacts = ReturnType<typeof headlineFacts>;

export interface HeadlineContext {
  readonly settings: Pick<AlertingSettings, "slugs" | "source" | "gateOf">;
  readonly nowMs: number;
  readonly isGateUsed: boolean;
  /** Failures that nobody has released, also of other incidents [none]. */
  readonly failures?: readonly GateFailure[];
  /** The reader's members, and how many organizations the reader may see [all of both]. */
  readonly part?: { readonly members: readonly IncidentMember[]; readonly watched: number };
}

export function headlineFacts(
  {
    incident,
    summary,
    members,
  }: { readonly incident: Incident; readonly summary: IncidentSummary; readonly members: readonly IncidentMember[] },
  { settings, nowMs, isGateUsed, failures = [], part }: HeadlineContext,
) {
  const { family, startedAtMs, endedAtMs, likelyCause, secondOpinion } = summary;
  const shown = notSilenced(members);
  const own = part === undefined ? shown : notSilenced(part.members);
  const isPart = part !== undefined && part.watched < settings.slugs.length;
  const began = spikesOf(shown).map((alert) => alert.onset?.atMs ?? alert.startsAtMs);
  const beganAtMs = Math.min(startedAtMs, ...began);
  const stopped = stoppedAtMsOfEach(shown);
  const stoppedAtMs = stopped.length === 0 ? null : Math.max(...stopped);
  const failed = slugsOf(members.filter((alert) => isGateAlert(alert) && alert.peak.severity === "fail"));
  const elsewhere = (isGateUsed ? failures : []).filter(
    (one) =>
      failed.has(one.slug) &&
      one.incident?.number !== incident.number &&
      releaseOf(one, settings.gateOf(one.slug)) === null,
  );
  const held = slugsOf([...members.filter(({ holdsGate }) => holdsGate), ...elsewhere]);
  return {
    family,
    startedAtMs,
    endedAtMs,
    likelyCause,
    secondOpinion,
    /** The incident has a fleet verdict. */
    isOneCause: incident.verdict !== null,
    /** The earliest onset or start of an alert. */
    beganAtMs,
    /** The time between the first and the last of these. */
    withinMs: began.length === 0 ? 0 : Math.max(...began) - Math.min(...began),
    /** When the deaths were last unusual, of those that know; null: none knows. */
    stoppedAtMs,
    /** How long the deaths were unusual or, if unknown, the incident lasted; at least a minute. */
    lastedMs: Math.max(minuteMs, (stoppedAtMs ?? endedAtMs ?? nowMs) - beganAtMs),
    whole: { ...countsOf(shown), watched: Math.max(settings.slugs.length, slugsOf(shown).size) },
    /** Counts of the reader's part; null: the reader sees all. */
    part: isPart ? { ...countsOf(own), watched: part.watched } : null,
    /** The only organization in the reader's part; null: there are several. */
    alone: aloneOf(own),
    carrier: summary.carriers[0] ?? null,
    /** How many deaths were found alive, if enough to suspect the checker; else 0. */
    foundAlive: foundAlive(shown),
    /** Single deaths are known, so a cause can be found. */
    isSeen: shown.some(({ found }) => found !== undefined && (found.cause !== null || found.excess)),
    excess: incidentExcess(shown.flatMap((alert) => (alert.end === null ? [alert] : []))),
    ...judgedOf(members),
    /** The time of the latest acknowledgement of a firing member; use it only when all are acknowledged. */
    acknowledgedAtMs: Math.max(
      0,
      ...members.flatMap(({ end, acknowledgement }) => (end === null ? (acknowledgement?.atMs ?? []) : [])),
    ),
    /** Organizations whose takedowns are on hold, and those allowed again; 0 when nobody uses gates. */
    held: isGateUsed ? summary.held : 0,
    ...heldWithoutJudgement(members, settings),
    opened: isGateUsed ? [...failed].filter((slug) => !held.has(slug)).length : 0,
    /** How many of its organizations other incidents hold, and which incidents do; absent: none. */
    ...(elsewhere.length === 0
      ? {}
      : { heldElsewhere: { organizations: slugsOf(elsewhere).size, incidents: holdersIn(elsewhere) } }),
    /** All alerts ended by a result, none by a change of the configuration. */
    isBack: members.every(({ end }) => end === null || end.isByRun),
    platform: family === "unreachable" ? platformOf(shown, settings) : null,
    hasNoEvents: shown.length > 0 && shown.every((alert) => alert.found?.error?.reason === "no_events"),
  };
}

/** Returns the judgements of the members; `judgement` is the incident's, when all members are judged alike. */
function judgedOf(members: readonly IncidentMember[]) {
  const judgeable = members.filter((alert) => isGateAlert(alert));
  const given = judgeable.flatMap((alert) => alert.judgement ?? []);
  const judged = { checker: 0, real: 0, expected: 0 };
  for (const { verdict } of given) judged[verdict]++;
  const last = given.toSorted((left, right) => left.atMs - right.atMs).at(-1);
  const isWhole = last !== undefined && judged[last.verdict] === judgeable.length;
  const judgement = isWhole
    ? { verdict: last.verdict, by: describeAuthor(last.by, last.note), comment: last.comment, atMs: last.atMs }
    : null;
  const judges = new Set(given.map(({ by, note }) => describeAuthor(by, note)));
  const unjudged = judgeable.length - given.length;
  return { judgement, judged, judges: [...judges], judgeable: judgeable.length, unjudged };
}

/** Returns how many of the organizations on hold wait for no judgement, but for an end or a release by hand. */
function heldWithoutJudgement(members: readonly IncidentMember[], { gateOf }: HeadlineContext["settings"]) {
  const holding = members.filter(({ holdsGate }) => holdsGate);
  const unjudged = slugsOf(
    holding.filter(({ slug, judgement }) => judgement === undefined && gateOf(slug).releaseOn.includes("judged")),
  );
  const others = holding.filter(({ slug }) => !unjudged.has(slug));
  const isReleasedAtEnd = ({ slug, end, judgement }: IncidentMember): boolean => {
    const { releaseOn } = gateOf(slug);
    return (
      end === null && (releaseOn.includes("resolved") || (judgement !== undefined && releaseOn.includes("judged")))
    );
  };
  const heldToEnd = slugsOf(others.filter(isReleasedAtEnd)).size;
  return { heldToEnd, heldToRelease: slugsOf(others).size - heldToEnd };
}

/** Numbers leave out silenced members (CONTRACT 15), unless all are silenced. */
function notSilenced(members: readonly IncidentMember[]): readonly IncidentMember[] {
  const shown = members.filter(({ isSilenced }) => !isSilenced);
  return shown.length === 0 ? members : shown;
}

function spikesOf(members: readonly IncidentMember[]): readonly IncidentMember[] {
  const spikes = members.filter(isSpikeAlert);
  return spikes.length === 0 ? members : spikes;
}

function countsOf(members: readonly IncidentMember[]) {
  return { organizations: slugsOf(members).size, firing: slugsOf(members.filter(({ end }) => end === null)).size };
}

function aloneOf(members: readonly IncidentMember[]) {
  const [member] = spikesOf(members);
  if (member === undefined || slugsOf(members).size > 1) return null;
  const { slug, check, windowHours = 24, found, peak } = member;
  const { count, expected, ...counting } = found?.deaths ?? { count: peak.currentCount, expected: null };
  return { slug, check, windowHours, deaths: { currentCount: count, expectedCount: expected, ...counting } };
}

function platformOf(members: readonly IncidentMember[], settings: HeadlineContext["settings"]) {
  const errors = members.flatMap((alert) => alert.found?.error ?? []);
  const [most] = [...Map.groupBy(errors, ({ status = null }) => status)].toSorted(
    ([, left], [, right]) => right.length - left.length,
  );
  const unwatched = slugsOf(members.filter((alert) => alert.check === "dead-asset-spike"));
  return {
    /** The host that gives the results, or the type of the source. */
    host: settings.source,
    /** The most frequent HTTP status of the errors; null: most have none. */
    status: most?.[0] ?? null,
    isSilent: errors.length > 0 && errors.every(({ reason }) => reason === "timeout" || reason === "network"),
    /** Organizations without a spike check now, and those of them whose takedowns are on hold. */
    unwatched: unwatched.size,
    onHold: [...unwatched].filter((slug) => settings.gateOf(slug).whenUnknown === "hold").length,
    checks: [...new Set(members.map((alert) => alert.check))],
  };
}
