import { minuteMs } from "../base/time.ts";
import { describeAuthor } from "../contract/actor.ts";
import type { CheckName } from "../contract/report.ts";
import { speaksForChecker, type JudgementVerdict } from "../contract/judgement.ts";
import type { SpikeExcess } from "../contract/spike-evidence.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import { isGateAlert } from "./decide/gate.ts";
import {
  incidentExcess,
  slugsOf,
  stoppedAtMsOfEach,
  type IncidentMember,
  type IncidentSummary,
} from "./incident-summary.ts";
import type { AlertingSettings } from "./settings.ts";

/** What the headline of an incident is made of (words/headline.ts), as one reader is told of it. */
export interface HeadlineFacts extends Pick<
  IncidentSummary,
  "number" | "family" | "startedAtMs" | "endedAtMs" | "likelyCause" | "secondOpinion"
> {
  /** Whether its organizations began together by no chance (CONTRACT 15, fleet verdict). */
  readonly isOneCause: boolean;
  /** The first instant at which deaths of it began, or a run found them. */
  readonly beganAtMs: number;
  /** From the first of these instants to the last. */
  readonly withinMs: number;
  /** For how long the deaths were more than usual; where nobody knows, for how long its alerts fired. */
  readonly lastedMs: number;
  /** Organizations of the incident, and all that are watched. */
  readonly whole: OrganizationCounts;
  /** The same of what the reader is told of; null: of all. */
  readonly part: OrganizationCounts | null;
  /** The one organization that the reader is told of; null: it is of several. */
  readonly alone: AloneFacts | null;
  /** The largest value that its deaths share; null: none is known. */
  readonly carrier: {
    readonly key: string;
    readonly value: string;
    readonly share: number;
    readonly usualShare: number;
  } | null;
  /** Whether its deaths are still more than usual, of those that fire; null: no single deaths are known. */
  readonly excess: SpikeExcess | null;
  /** Deaths that were found alive, where they are so many that the checker is suspected; else 0. */
  readonly foundAlive: number;
  /** Whether single deaths are known, so that a cause could be seen. */
  readonly isSeen: boolean;
  /** What it was, where all that can be judged is judged alike; `by` as it is shown. null: it is not. */
  readonly judgement: {
    readonly verdict: JudgementVerdict;
    readonly by: string;
    readonly comment: string | null;
    readonly atMs: number;
  } | null;
  /** How many of those that can be judged were judged which way. */
  readonly judged: Readonly<Record<JudgementVerdict, number>>;
  readonly judgeable: number;
  /** Organizations whose takedowns its alerts hold, and those that are allowed again; 0 where nobody goes by gates. */
  readonly held: number;
  readonly opened: number;
  /** Whether results ended all of it, not a change of the configuration. */
  readonly isBack: boolean;
  /** Of the family `unreachable`; null in others. */
  readonly platform: PlatformFacts | null;
  /** Whether its organizations never had an event. */
  readonly hasNoEvents: boolean;
}

interface OrganizationCounts {
  readonly organizations: number;
  readonly firing: number;
  readonly watched: number;
}

interface AloneFacts {
  readonly slug: string;
  readonly check: CheckName;
  readonly windowHours: number;
  readonly deaths: {
    readonly currentCount: number | null;
    readonly expectedCount: number | null;
    readonly counting?: "assets";
  };
}

interface PlatformFacts {
  /** The host that is asked, or the type of the source. */
  readonly host: string;
  /** The status that it answers; null: it does not answer, or says something else. */
  readonly status: number | null;
  readonly isSilent: boolean;
  /** Organizations whose deaths are not watched, and those of them whose takedowns are on hold meanwhile. */
  readonly unwatched: number;
  readonly onHold: number;
  /** The checks that give no result. */
  readonly checks: readonly CheckName[];
}

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
): HeadlineFacts {
  const { number, family, startedAtMs, endedAtMs, likelyCause, secondOpinion } = summary;
  const shown = notSilenced(members);
  const own = part === undefined ? shown : notSilenced(part.members);
  const isPart = part !== undefined && part.watched < settings.slugs.length;
  const began = spikesOf(shown).map(({ alert }) => alert.onset?.atMs ?? alert.startsAtMs);
  const beganAtMs = Math.min(startedAtMs, ...began);
  const stopped = stoppedAtMsOfEach(shown);
  const untilMs = stopped.length === 0 ? (endedAtMs ?? nowMs) : Math.max(...stopped);
  const revived = shown.flatMap(({ alert }) => alert.found?.revived ?? []);
  const found = revived.reduce((sum, { count }) => sum + count, 0);
  const judged = revived.reduce((sum, one) => sum + one.judged, 0);
  const failed = slugsOf(members.filter(({ alert }) => isGateAlert(alert) && alert.peak.severity === "fail"));
  return {
    number,
    family,
    startedAtMs,
    endedAtMs,
    likelyCause,
    secondOpinion,
    isOneCause: incident.verdict !== null,
    beganAtMs,
    withinMs: began.length === 0 ? 0 : Math.max(...began) - Math.min(...began),
    lastedMs: Math.max(minuteMs, untilMs - (summary.onsetAtMs ?? startedAtMs)),
    whole: { ...countsOf(shown), watched: Math.max(settings.slugs.length, slugsOf(shown).size) },
    part: isPart ? { ...countsOf(own), watched: part.watched } : null,
    alone: aloneOf(own),
    carrier: summary.carriers[0] ?? null,
    foundAlive: judged > 0 && speaksForChecker({ revivedCount: found, share: found / judged }) ? found : 0,
    isSeen: shown.some(
      ({ alert: { found: one } }) => one !== undefined && (one.cause !== null || one.excess !== undefined),
    ),
    excess: incidentExcess(shown.flatMap(({ alert, end }) => (end === null ? [alert] : []))),
    ...judgedOf(members),
    held: isGateUsed ? summary.held : 0,
    opened: isGateUsed ? Math.max(0, failed.size - summary.held) : 0,
    isBack: members.every(({ end }) => end === null || end.isByRun),
    platform: family === "unreachable" ? platformOf(shown, settings) : null,
    hasNoEvents: shown.length > 0 && shown.every(({ alert }) => alert.found?.error?.reason === "no_events"),
  };
}

/** Returns what people say that an incident was, and of how many of its members: it is its judgement where all were judged alike. */
function judgedOf(members: readonly IncidentMember[]): Pick<HeadlineFacts, "judgement" | "judged" | "judgeable"> {
  const judgeable = members.filter(({ alert }) => isGateAlert(alert));
  const given = judgeable.flatMap(({ alert }) => alert.judgement ?? []);
  const judged = { checker: 0, real: 0, expected: 0 };
  for (const { verdict } of given) judged[verdict]++;
  const last = given.toSorted((left, right) => left.atMs - right.atMs).at(-1);
  if (last === undefined || judged[last.verdict] < judgeable.length)
    return { judgement: null, judged, judgeable: judgeable.length };
  const { verdict, comment, atMs } = last;
  const judgement = { verdict, by: describeAuthor(last.by, last.note), comment, atMs };
  return { judgement, judged, judgeable: judgeable.length };
}

/** No number counts silenced members (CONTRACT 15); an incident that is silenced as a whole is said as it is. */
function notSilenced(members: readonly IncidentMember[]): readonly IncidentMember[] {
  const shown = members.filter(({ isSilenced }) => !isSilenced);
  return shown.length === 0 ? members : shown;
}

function spikesOf(members: readonly IncidentMember[]): readonly IncidentMember[] {
  const spikes = members.filter(({ alert }) => alert.check === "dead-asset-spike" && alert.kind === "verdict");
  return spikes.length === 0 ? members : spikes;
}

function countsOf(members: readonly IncidentMember[]): Omit<OrganizationCounts, "watched"> {
  return { organizations: slugsOf(members).size, firing: slugsOf(members.filter(({ end }) => end === null)).size };
}

function aloneOf(members: readonly IncidentMember[]): AloneFacts | null {
  const [member] = spikesOf(members);
  if (member === undefined || slugsOf(members).size > 1) return null;
  const { slug, check, windowHours = 24, found, peak } = member.alert;
  const deaths = found?.deaths ?? null;
  return {
    slug,
    check,
    windowHours,
    deaths:
      deaths === null
        ? { currentCount: peak.currentCount, expectedCount: null }
        : {
            currentCount: deaths.count,
            expectedCount: deaths.expected,
            ...(deaths.counting === undefined ? {} : { counting: deaths.counting }),
          },
  };
}

function platformOf(members: readonly IncidentMember[], settings: HeadlineContext["settings"]): PlatformFacts {
  const errors = members.flatMap(({ alert }) => alert.found?.error ?? []);
  const answers = [...Map.groupBy(errors, ({ status = null }) => status)].toSorted(
    ([, left], [, right]) => right.length - left.length,
  );
  const status = answers[0]?.[0] ?? null;
  const unwatched = slugsOf(members.filter(({ alert }) => alert.check === "dead-asset-spike"));
  const onHold = [...unwatched].filter((slug) => settings.gateOf(slug).whenUnknown === "hold");
  return {
    host: settings.source,
    status,
    isSilent: errors.length > 0 && errors.every(({ reason }) => reason === "timeout" || reason === "network"),
    unwatched: unwatched.size,
    onHold: onHold.length,
    checks: [...new Set(members.map(({ alert }) => alert.check))],
  };
}
