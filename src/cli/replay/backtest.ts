import { causeOfIncident } from "../../backtest/cause.ts";
import type { EventRecord } from "../../backtest/event-record.ts";
import type { ReplayedIncident } from "../../backtest/incidents.ts";
import type { Watched } from "../../backtest/replay.ts";
import { runReplay, type Replayed, type ReplayOutcome, type RunDeps } from "../../backtest/run.ts";
import type { Score } from "../../backtest/score.ts";
import { advice, describeCandidate } from "../../backtest/tuning.ts";
import { csvLine } from "../../base/csv-line.ts";
import { FlatlineError } from "../../base/errors.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import { hourMs, minuteMs, secondMs } from "../../base/time.ts";
import { iso } from "../../contract/v1/instant.ts";
import { eventsText, otherStatusesText } from "../../words/incoming.ts";
import { causeSentences } from "../../words/headline.ts";
import { countOf } from "../../words/numbers.ts";
import { command, flag } from "../command.ts";
import { createProgressLine, type CliContext } from "../context.ts";
import { printable, renderTable } from "../table.ts";
import { asJson, namesText } from "../values.ts";
import { readPast, replayFlags, replayWords, type ReadPast } from "./past.ts";

export const backtest = command({
  description: "replay past events: what would have been told, when, and was it right",
  words: replayWords,
  flags: {
    ...replayFlags,
    csv: flag("print what would have been told: at,incident,organization,event,severity,reason"),
  },
  json: "print {truth, events, leftOut, incidents, messages, score, advice, organizations}",
  help: `
The counts, the rule, the life of an alert and of an incident are the daemon's, over the stored
events or those of files (with the flags of import). Without --step the evaluations come by each
organization's schedule.

An alert matches an incident of the truth when it overlaps it or the day after and began at most
12 h before. False are alerts about none, those on days on which many assets really died left out,
as far as the truth knows them.

Examples:
  flatline backtest --step 1h                                          what would this configuration have told?
  flatline backtest acme --from 2026-01-01T00:00:00Z --truth revived   one organization, held against assets found alive
  flatline backtest --setting baseline=median --setting thresholds.baselineDays=28
  flatline backtest --events dump.csv --map host=asset --set slug=acme --truth labels labels.json
`,
  run: ({ context, flags, words: [slugs] }) =>
    replaying(context, async (deps) => {
      const past = await readPast(slugs, flags, null, deps);
      const outcome = await runReplay(past, (one) => [one], deps);
      const [replayed] = outcome.candidates;
      if (replayed === undefined) throw nothingToReplay();
      // The advice may begin later, when its baseline is full: it compares with the rule from there on only.
      const waysOf = (one: Watched) => [{ ...one, ...advice }, ...(past.fromMs === null ? [one] : [])];
      const [advised, configured = replayed] = (await runReplay(past, waysOf, deps)).candidates;
      return { past, outcome, replayed, compared: advised === undefined ? null : { advised, configured } };
    }),
  say: ({ past, replayed, compared }, { context, flags: { csv } }) =>
    csv === true ? csvOf(replayed) : textOf(past, replayed, compared, context),
  data: ({ past, outcome, replayed, compared }) => asJson(dataOf(past, outcome, replayed, compared)),
});

/** What the advice would have told, and what the replayed rule told in the same stretch. */
interface Compared {
  readonly advised: Replayed;
  readonly configured: Replayed;
}

/** Runs a replay, shows its progress on a terminal and its summary on stderr. */
export async function replaying<Found extends { readonly past: ReadPast; readonly outcome: ReplayOutcome }>(
  context: CliContext,
  work: (deps: CliContext & RunDeps) => Promise<Found>,
): Promise<Found> {
  const progress = createProgressLine(context);
  const startedAtMs = context.clock.monotonicMs();
  try {
    const found = await work({ ...context, onProgress: progress.show });
    progress.clear();
    const tookMs = context.clock.monotonicMs() - startedAtMs;
    context.stderr.write(`${summaryOf(found.past, found.outcome)}replayed in ${(tookMs / secondMs).toFixed(1)} s\n`);
    return found;
  } finally {
    progress.clear();
  }
}

export function nothingToReplay(): FlatlineError {
  return new FlatlineError(
    "usage",
    "nothing to replay: no organization has events for more than its window and baseline in that stretch; " +
      "--from says where to begin, --setting thresholds.baselineDays=7 makes the baseline shorter",
  );
}

function summaryOf({ read, judged, otherStatuses }: ReadPast, { candidates, leftOut }: ReplayOutcome): string {
  const evaluations = candidates
    .flatMap(({ organizations }) => organizations.flatMap((one) => Object.values(one.evaluations)))
    .reduce((sum, count) => sum + count, 0);
  let text = `${eventsText(read)}${otherStatusesText(otherStatuses)}\n${countOf(evaluations, "evaluation")}\n`;
  if (leftOut.length > 0) {
    const sinceJudged = judged === null ? "" : " or none since the first judged alert";
    text +=
      `left out, too few events for a baseline${sinceJudged} (--from TIME replays them without): ` +
      `${leftOut.join(", ")}\n`;
  }
  if (judged === null) return text;
  const { checker, real, expected } = judged;
  return (
    `${text}judged alerts: ${checker} checker, ${real} real, ${expected} expected; ` +
    "an alert that is not judged counts as false\n"
  );
}

function dataOf(past: ReadPast, { leftOut }: ReplayOutcome, replayed: Replayed, compared: Compared | null): object {
  const { truth, judged, read, records } = past;
  return {
    truth,
    ...(judged === null ? {} : { judged }),
    events: read.events,
    deaths: read.deaths,
    leftOut,
    ...describe(replayed, records),
    advice:
      compared === null
        ? null
        : {
            from: iso(compared.advised.fromMs),
            ...describe(compared.advised, records),
            configured: describe(compared.configured, records),
          },
    organizations: replayed.organizations.map(({ watched, fromMs, toMs, evaluations }) => {
      const { slug, baseline, count, thresholds } = watched;
      return { slug, baseline, count, thresholds, from: iso(fromMs), to: iso(toMs), evaluations };
    }),
  };
}

function describe(replayed: Replayed, records: ReadonlyMap<string, EventRecord>): object {
  const { incidents, messages, messagesAWeek, score } = replayed;
  return {
    incidents: incidents.map((incident) => {
      const { number, family, severity, slugs, isOneCause, startsAtMs, endedAtMs, told } = incident;
      const { likelyCause, carrier } = causeOfIncident(incident, replayed, records);
      return {
        number,
        family,
        severity,
        organizations: slugs,
        oneCause: isOneCause,
        likelyCause,
        ...(carrier === null ? {} : { carrier }),
        startsAt: iso(startsAtMs),
        endedAt: iso(endedAtMs),
        told: told.map(({ atMs, slug, event, severity, reason }) => ({ at: iso(atMs), slug, event, severity, reason })),
      };
    }),
    messages,
    messagesAWeek,
    score: score === null ? null : describeScore(score),
  };
}

export function describeScore({ medianDelayMs, missed, ...rest }: Score) {
  return {
    ...rest,
    delaySeconds: medianDelayMs === null ? null : medianDelayMs / secondMs,
    missed: missed.map(({ slug, fromMs, toMs }) => ({ slug, from: iso(fromMs), to: iso(toMs) })),
  };
}

function csvOf({ incidents }: Replayed): string {
  const rows = incidents
    .flatMap(({ number, told }) => told.map((notice) => ({ number, ...notice })))
    .toSorted((left, right) => left.atMs - right.atMs)
    .map(({ atMs, number, slug, event, severity, reason }) => [iso(atMs), `${number}`, slug, event, severity, reason]);
  return [["at", "incident", "organization", "event", "severity", "reason"], ...rows].map(csvLine).join("");
}

// They fit a screen; --json and --csv have all.
const mostIncidents = 15;
const mostNames = 3;

function textOf({ records }: ReadPast, replayed: Replayed, compared: Compared | null, context: CliContext): string {
  const { incidents } = replayed;
  const shown = incidents.slice(-mostIncidents);
  const causes = shown.flatMap((incident) =>
    causeSentences(causeOfIncident(incident, replayed, records)).map(
      (sentence) => `Incident ${incident.number}: ${printable(sentence)}\n`,
    ),
  );
  const columns = {
    INCIDENT: ({ number }: ReplayedIncident) => String(number),
    WORST: ({ severity }: ReplayedIncident) => severity,
    DETECTED: ({ startsAtMs }: ReplayedIncident) => withoutFraction(iso(startsAtMs)),
    FOR: ({ startsAtMs, endedAtMs }: ReplayedIncident) =>
      endedAtMs === null ? "still firing" : formatDelay(endedAtMs - startsAtMs),
    ORGANIZATIONS: ({ slugs, isOneCause, family }: ReplayedIncident) =>
      `${namesText(slugs, mostNames)}${isOneCause ? ", from one cause" : ""}` +
      (family === "deaths" ? "" : ", nothing known"),
  };
  const before = incidents.length - mostIncidents;
  return [
    renderTable(shown, columns, { right: ["INCIDENT", "FOR"], empty: "", context }),
    before > 0 ? `and ${formatCount(before)} before them; --json has all\n` : "",
    incidents.length > 0 ? "\n" : "",
    ...(causes.length > 0 ? [...causes, "\n"] : []),
    sentencesOf(replayed),
    compared === null ? "" : comparisonOf(replayed, compared),
  ].join("");
}

function comparisonOf(replayed: Replayed, { advised, configured }: Compared): string {
  const since = withoutFraction(iso(advised.fromMs));
  const sameStretch = sentencesOf(configured);
  const rule = describeCandidate({ ...advice, count: "deaths" });
  return [
    sameStretch === sentencesOf(replayed)
      ? ""
      : `The advice can begin at ${since}, when its baseline is full. The rule above, from then on: ${sameStretch}`,
    `With what \`init\` writes, the advice (${rule}): ${sentencesOf(advised)}`,
  ].join("");
}

function sentencesOf({ incidents, messages, messagesAWeek, score }: Replayed): string {
  const told =
    `${countOf(incidents.length, "incident")}, ` +
    `${countOf(messages, "message")}, ${messagesAWeek.toFixed(2)} messages a week.`;
  if (score === null) return `${told}\n`;
  const { found, incidents: all, groundless, groundlessAWeek, onMassDeaths, medianDelayMs } = score;
  const mass = onMassDeaths === 0 ? "" : `, and ${onMassDeaths} on days of real mass deaths`;
  return (
    `${told} ${found} of ${all} found, ${all - found} missed, ` +
    `${groundless} false (${groundlessAWeek.toFixed(2)} a week and organization)${mass}; ` +
    `median delay ${formatDelay(medianDelayMs)}.\n`
  );
}

/** Returns `1.3 h` or `12 min`; a dash for null. */
export function formatDelay(delayMs: number | null): string {
  if (delayMs === null) return "–";
  return delayMs >= hourMs ? `${(delayMs / hourMs).toFixed(1)} h` : `${Math.round(delayMs / minuteMs)} min`;
}
