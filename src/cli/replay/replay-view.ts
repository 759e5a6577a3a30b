import type { BacktestCandidate } from "./run-backtest.ts";
import type { BacktestReport } from "./session.ts";
import { formatCount } from "../../base/numbers.ts";
import { hourMs, minuteMs, secondMs } from "../../base/time.ts";
import type { CliContext } from "../context.ts";
import { renderTable } from "../table.ts";

const levels = ["warn", "fail"] as const;
// More would scroll the table away; --json has all.
const mostEpisodes = 40;

/** Returns what was replayed and how long it took, for stderr. */
export function summarize({ events, candidates, leftOut, judged }: BacktestReport, tookMs: number): string {
  const evaluations = candidates
    .flatMap(({ organizations }) => organizations.map((one) => one.evaluations))
    .reduce((sum, { ok, warn, fail, unknown }) => sum + ok + warn + fail + unknown, 0);
  const left =
    leftOut.length === 0
      ? ""
      : `left out, too few events for a baseline${judged === null ? "" : " or none since the first judged alert"} (--from TIME replays them without): ${leftOut.join(", ")}\n`;
  return `${formatCount(events)} events, ${formatCount(evaluations)} evaluations in ${(tookMs / secondMs).toFixed(1)} s\n${left}${judgedLine(judged)}${warnAboveFail(candidates)}`;
}

/** By how many judgements the candidates were held; empty where the truth is not from judgements. */
function judgedLine(judged: BacktestReport["judged"]): string {
  if (judged === null) return "";
  const { checker, real, expected, unjudged } = judged;
  const rest = unjudged === 0 ? "" : `; ${unjudged} not judged: an alert there counts as false`;
  return `judged alerts: ${checker} checker, ${real} real, ${expected} expected${rest}\n`;
}

/** A line where candidates never warn; empty where all may. */
function warnAboveFail(candidates: readonly BacktestCandidate[]): string {
  const found = candidates.filter(({ organizations }) =>
    organizations.some(({ thresholds }) => thresholds.warnMultiplier > thresholds.failMultiplier),
  );
  const [first] = found;
  if (first === undefined) return "";
  const which = candidates.length === 1 ? "" : ` in ${found.length} of ${candidates.length} candidates (${first.name})`;
  return `warning: warn is above fail${which}: fail is tried first, so that alerts begin at the fail multiplier and none is a warn\n`;
}

/** One row a candidate and level, with what the truth says where there is one. */
export function renderCandidates({ candidates, truth }: BacktestReport, context: CliContext): string {
  const truthHead = truth === null ? [] : ["FOUND", "RECALL", "FALSE", "FALSE A WEEK", "WITH MASS DEATHS", "DELAY"];
  const rows = candidates.flatMap((candidate) =>
    levels.map((level) => {
      const { episodes, episodesAWeek, score } = candidate.levels[level];
      const judged =
        score === null
          ? []
          : [
              `${score.found} of ${score.incidents}`,
              score.recall === null ? "–" : score.recall.toFixed(2),
              String(score.groundless),
              score.groundlessAWeek.toFixed(2),
              score.falseAlarmsAWeek.toFixed(2),
              formatDelay(score.medianDelayMs),
            ];
      return [level, candidate.name, String(episodes), episodesAWeek.toFixed(2), ...judged];
    }),
  );
  const head = ["LEVEL", "CANDIDATE", "EPISODES", "A WEEK", ...truthHead];
  return renderTable(head, rows, { right: head.slice(2), context });
}

/** Renders the episodes of one candidate, oldest first. */
export function renderEpisodes({ organizations }: BacktestCandidate, context: CliContext): string {
  const episodes = organizations
    .flatMap(({ slug, episodes: { warn, fail } }) =>
      warn.map((episode) => {
        const isFail = fail.some(({ alertId }) => alertId === episode.alertId);
        return { slug, severity: isFail ? "fail" : "warn", ...episode };
      }),
    )
    .toSorted((left, right) => left.firedAtMs - right.firedAtMs);
  if (episodes.length === 0) return "no alert in this stretch\n";
  const rows = episodes
    .slice(0, mostEpisodes)
    .map(({ slug, severity, firedAtMs, endsAtMs, isOpen }) => [
      severity,
      slug,
      iso(firedAtMs),
      isOpen ? "still firing" : iso(endsAtMs),
      formatDelay(endsAtMs - firedAtMs),
    ]);
  const more = episodes.length > mostEpisodes ? `and ${episodes.length - mostEpisodes} more; --json has all\n` : "";
  return `${renderTable(["PEAK", "ORGANIZATION", "FROM", "TO", "LENGTH"], rows, { right: ["LENGTH"], context })}${more}`;
}

/** All of it as data: times are ISO 8601, `delaySeconds` is the median from an incident's first death to the alert. */
export function describeReport({ truth, judged, events, candidates, leftOut }: BacktestReport): unknown {
  return {
    truth,
    ...(judged === null ? {} : { judged }),
    events,
    leftOut,
    candidates: candidates.map(describeCandidate),
  };
}

/** One candidate as data. */
export function describeCandidate({ name, point, levels: atLevel, organizations }: BacktestCandidate): unknown {
  const level = (one: (typeof levels)[number]): unknown => {
    const { episodes, episodesAWeek, score } = atLevel[one];
    if (score === null) return { episodes, episodesAWeek };
    const { medianDelayMs, missed, ...rest } = score;
    return {
      episodes,
      episodesAWeek,
      ...rest,
      delaySeconds: medianDelayMs === null ? null : medianDelayMs / secondMs,
      missed: missed.map(({ slug, fromMs, toMs }) => ({ slug, from: iso(fromMs), to: iso(toMs) })),
    };
  };
  return {
    name,
    settings: {
      ...(point.baseline === undefined ? {} : { baseline: point.baseline }),
      ...(point.count === undefined ? {} : { count: point.count }),
      ...point.thresholds,
    },
    warn: level("warn"),
    fail: level("fail"),
    organizations: organizations.map(
      ({ slug, baseline, count, thresholds, fromMs, toMs, evaluations, notices, episodes }) => ({
        slug,
        baseline,
        count,
        thresholds,
        from: iso(fromMs),
        to: iso(toMs),
        evaluations,
        episodes: Object.fromEntries(
          levels.map((one) => [
            one,
            episodes[one].map(({ alertId, firedAtMs, endsAtMs, isOpen }) => ({
              alertId,
              from: iso(firedAtMs),
              to: isOpen ? null : iso(endsAtMs),
            })),
          ]),
        ),
        notices: notices.map(({ atMs, startsAtMs, endsAtMs, ...rest }) => ({
          at: iso(atMs),
          ...rest,
          startsAt: iso(startsAtMs),
          endsAt: endsAtMs === null ? null : iso(endsAtMs),
        })),
      }),
    ),
  };
}

/** `1.3 h`, `12 min`; a dash where there is none. */
export function formatDelay(delayMs: number | null): string {
  if (delayMs === null) return "–";
  return delayMs >= hourMs ? `${(delayMs / hourMs).toFixed(1)} h` : `${Math.round(delayMs / minuteMs)} min`;
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
