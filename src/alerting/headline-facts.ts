import { minuteMs } from "../base/time.ts";
import { describeAuthor } from "../contract/actor.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import { isGateAlert } from "./decide/gate.ts";
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

/** What the headline of an incident is made of (words/headline.ts), as one reader is told of it. */
export type HeadlineFacts = ReturnType<typeof headlineFacts>;

export interface HeadlineContext {
  readonly settings: Pick<AlertingSettings, "slugs" | "source" | "gateOf">;
  readonly nowMs: number;
  readonly isGateUsed: boolean;
  /** The reader's part of the members, and how many organizations the reader is told of at all [all of both]. */
  readonly part?: { readonly members: readonly IncidentMember[]; readonly watched: number };
}

/** Returns the facts of an incident with these members. */
export function headlineFacts(
  {
    incident,
    summary,
    members,
  }: { readonly incident: Incident; readonly summary: IncidentSummary; readonly members: readonly IncidentMember[] },
  { settings, nowMs, isGateUsed, part }: HeadlineContext,
) {
  const { number, family, startedAtMs, endedAtMs, likelyCause, secondOpinion } = summary;
  const shown = notSilenced(members);
  const own = part === undefined ? shown : notSilenced(part.members);
  const isPart = part !== undefined && part.watched < settings.slugs.length;
  const began = spikesOf(shown).map((alert) => alert.onset?.atMs ?? alert.startsAtMs);
  const stopped = stoppedAtMsOfEach(shown);
  const untilMs = stopped.length === 0 ? (endedAtMs ?? nowMs) : Math.max(...stopped);
  const failed = slugsOf(members.filter((alert) => isGateAlert(alert) && alert.peak.severity === "fail"));
  return {
    number,
    family,
    startedAtMs,
    endedAtMs,
    likelyCause,
    secondOpinion,
    /** Its organizations began together by no chance. */
    isOneCause: incident.verdict !== null,
    /** The first instant at which deaths of it began, or a run found them. */
    beganAtMs: Math.min(startedAtMs, ...began),
    /** From the first of these instants to the last. */
    withinMs: began.length === 0 ? 0 : Math.max(...began) - Math.min(...began),
    /** For how long the deaths were more than usual; where nobody knows, for how long its alerts fired. */
    lastedMs: Math.max(minuteMs, untilMs - (summary.onsetAtMs ?? startedAtMs)),
    whole: { ...countsOf(shown), watched: Math.max(settings.slugs.length, slugsOf(shown).size) },
    /** What the reader is told of; null: all. */
    part: isPart ? { ...countsOf(own), watched: part.watched } : null,
    /** The one organization that the reader is told of; null: it is of several. */
    alone: aloneOf(own),
    carrier: summary.carriers[0] ?? null,
    /** Deaths that were found alive, where they are so many that the checker is suspected; else 0. */
    foundAlive: foundAlive(shown),
    /** Single deaths are known, so that a cause could be seen. */
    isSeen: shown.some(({ found }) => found !== undefined && (found.cause !== null || found.excess)),
    excess: incidentExcess(shown.flatMap((alert) => (alert.end === null ? [alert] : []))),
    ...judgedOf(members),
    /** When the last of what fires was acknowledged; it counts where all of it is. */
    acknowledgedAtMs: Math.max(
      0,
      ...members.flatMap(({ end, acknowledgement }) => (end === null ? (acknowledgement?.atMs ?? []) : [])),
    ),
    /** Organizations whose takedowns its alerts hold, and those that are allowed again; 0 where nobody goes by gates. */
    held: isGateUsed ? summary.held : 0,
    opened: isGateUsed ? Math.max(0, failed.size - summary.held) : 0,
    /** Results ended all of it, not a change of the configuration. */
    isBack: members.every(({ end }) => end === null || end.isByRun),
    platform: family === "unreachable" ? platformOf(shown, settings) : null,
    hasNoEvents: shown.length > 0 && shown.every((alert) => alert.found?.error?.reason === "no_events"),
  };
}

/** Returns what people say that an incident was, and of how many of its members: it is its judgement where all were judged alike. */
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
  return { judgement, judged, judges: [...judges], judgeable: judgeable.length };
}

/** No number counts silenced members (CONTRACT 15); an incident that is silenced as a whole is said as it is. */
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
    /** The host that is asked, or the type of the source. */
    host: settings.source,
    /** The status that it answers; null: it does not answer, or says something else. */
    status: most?.[0] ?? null,
    isSilent: errors.length > 0 && errors.every(({ reason }) => reason === "timeout" || reason === "network"),
    /** Organizations whose deaths are not watched, and those of them whose takedowns are on hold meanwhile. */
    unwatched: unwatched.size,
    onHold: [...unwatched].filter((slug) => settings.gateOf(slug).whenUnknown === "hold").length,
    checks: [...new Set(members.map((alert) => alert.check))],
  };
}
