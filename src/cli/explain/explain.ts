import { breakAddresses } from "../../base/broken-address.ts";
import { mostStartingAlike } from "../../contract/alert-id.ts";
import type { AlertHistoryEntry } from "../../store/alerts/alert-history.ts";
import { FlatlineError } from "../../base/errors.ts";
import { readInstant } from "../../base/instant.ts";
import { suggest } from "../../base/suggestions.ts";
import { dayMs, hourMs, secondMs } from "../../base/time.ts";
import type { Config, OrganizationConfig } from "../../config/config.ts";
import type { DeathsQuery } from "../../contract/liveness-counts.ts";
import type { CheckName, CheckReport, ResultReport } from "../../contract/report.ts";
import { stretchesAt } from "../../contract/judgement.ts";
import type { Regret } from "../../evidence/regret.ts";
import { evaluateLocally } from "../../service/local-evaluation.ts";
import type { SpikeResult } from "../../spike/evaluate.ts";
import { spikeWindow } from "../../spike/window.ts";
import type { Store } from "../../store/store.ts";
import { createHistory, type History } from "../../store/runs/history.ts";
import type { RunPoint } from "../../store/runs/run-point.ts";
import type {
  DecisionExplanation,
  ExplainedCounts,
  Explanation,
  VerdictExplanation,
  ExplainedSetting,
} from "./explanation.ts";
import { judgedBy, judgementsIn, revivalsOf, stretchesOf } from "./known-then.ts";
import type { PartsDeps } from "../../daemon/parts.ts";
import { findAlertId, type IdentifiedAlert } from "../alerts/alert-id.ts";
import { withStore } from "../with-store.ts";
import type { SpikeThresholds } from "../../spike/thresholds.ts";

// A run ends some milliseconds after the instant that it evaluated; one that took longer kept its whole report.
const longestRunMs = 5 * secondMs;
const reachMs = 400 * dayMs;
const spike = "dead-asset-spike" as const;

/**
 * Recomputes a stored verdict (`SLUG@INSTANT`: the last one at or before it) or every decision of an alert (its id) from
 * stored input, and says whether the result is the same. @throws usage for what is no id, and for one that is not kept
 */
export async function explain(config: Config, deps: PartsDeps, id: string): Promise<Explanation> {
  const at = id.lastIndexOf("@");
  if (at === -1) return withHistory(config, deps, (store) => explainAlert(config, store, id));
  const slug = id.slice(0, at);
  const text = id.slice(at + 1);
  const reading = readInstant(text);
  if (slug === "" || text === "") throw new FlatlineError("usage", `${id} is no id${hint}`);
  if (reading.kind === "problem") throw new FlatlineError("usage", `${id} is no id: ${reading.problem}${hint}`);
  return withHistory(config, deps, async (store) => {
    const verdict = await explainVerdict(config, store, { check: spike, slug, atMs: reading.atMs });
    if (verdict !== null) return { kind: "verdict", verdict };
    const known = await whichAreKept(config, store, slug);
    throw new FlatlineError("usage", `no verdict of ${slug} at or before ${text} is kept: ${known}`);
  });
}

async function whichAreKept({ organizations }: Config, { history }: ExplainStore, slug: string): Promise<string> {
  const firstAtMs = await history.firstAtMs(spike, slug);
  if (firstAtMs !== null) return `the first is of ${new Date(firstAtMs).toISOString()}`;
  const slugs = organizations.map((one) => one.slug);
  return `it has none${slugs.includes(slug) ? ", its checks run in the daemon" : suggest(slug, slugs)}`;
}

async function explainAlert(config: Config, store: ExplainStore, given: string): Promise<Explanation> {
  const id = await findAlertId(given, (prefix) => readIdentified(store, prefix));
  const history = await store.alertHistory.of(id);
  if (history.length === 0) throw new FlatlineError("usage", `no alert ${id} is kept${hint}`);
  const decisions: DecisionExplanation[] = [];
  for (const entry of history) decisions.push({ entry, verdict: await explainDecision(config, store, entry) });
  return { kind: "alert", alertId: id, decisions };
}

async function readIdentified({ alerts }: Pick<Store, "alerts">, prefix: string): Promise<IdentifiedAlert[]> {
  const found = await alerts.idsFrom(prefix, mostStartingAlike);
  const kept = await Promise.all(found.map(({ id }) => alerts.find(id)));
  return kept.flatMap((one) => {
    if (one === null) return [];
    const { id, slug, check, severity, state, startsAtMs } = one.alert;
    return [
      {
        id,
        slug,
        check,
        severity,
        state: one.end === null ? state : "resolved",
        startsAt: new Date(startsAtMs).toISOString(),
      },
    ];
  });
}

const hint = ": give the id of an alert (`flatline alerts list`), or SLUG@TIME for the verdict of that time";

/** What people did, of which no run has a verdict. */
const peopleEvents: ReadonlySet<string> = new Set(["acknowledged", "unacknowledged", "judged", "judgement_withdrawn"]);

async function explainDecision(
  config: Config,
  store: ExplainStore,
  { check, slug, atMs, event, kind }: AlertHistoryEntry,
): Promise<VerdictExplanation | null> {
  if (check !== spike || kind !== "verdict" || peopleEvents.has(event)) return null;
  // A decision is of the instant at which its run began, a verdict of the one at which it ended.
  const [point] = await store.history.runs({ check, slug, fromMs: atMs - 1, toMs: atMs + longestRunMs });
  return point === undefined ? null : explainVerdict(config, store, { check, slug, atMs: point.atMs });
}

/** With the store's own runs, as they are now. */
function withHistory<Result>(
  config: Config,
  deps: PartsDeps,
  work: (store: ExplainStore) => Promise<Result>,
): Promise<Result> {
  return withStore(config, deps, async ({ store }) => {
    const { signal = new AbortController().signal } = deps;
    return work({ ...store, history: createHistory(store.runs), signal });
  });
}

type ExplainStore = Pick<Store, "alerts" | "alertHistory" | "events" | "evidence" | "judgements"> & {
  readonly history: History;
  readonly signal: AbortSignal;
};

interface VerdictKey {
  readonly check: CheckName;
  readonly slug: string;
  readonly atMs: number;
}

async function explainVerdict(
  config: Config,
  store: ExplainStore,
  key: VerdictKey,
): Promise<VerdictExplanation | null> {
  const { check, slug } = key;
  const point = await lastPoint(store, key);
  if (point === null) return null;
  const { atMs, computedAtMs = null } = point;
  const knownAtMs = computedAtMs ?? atMs;
  const [report] = await store.history.reports({ check, slug, fromMs: atMs - reachMs, toMs: knownAtMs, limit: 1 });
  const own = report?.finishedAtMs === atMs ? report : null;
  const isFirst = report === undefined || computedAtMs !== null;
  const known = resultOf(report) ?? (isFirst ? await firstResult(store, { check, slug, atMs: knownAtMs }) : null);
  const organization = config.organizations.find((one) => one.slug === slug) ?? null;
  const thresholds = known === null ? (organization?.thresholds ?? null) : thresholdsOf(known.result.threshold);
  const days = known?.result.observed["baselineDaysKnown"];
  const baseline = known === null ? (organization?.baseline ?? "mean") : days === undefined ? "mean" : "median";
  const counting = known?.result.observed["counting"];
  const count = known === null ? (organization?.count ?? "deaths") : counting === "assets" ? "assets" : "deaths";
  const stored = storedCounts(point, own);
  const base = {
    id: `${slug}@${new Date(atMs).toISOString()}`,
    check,
    slug,
    atMs,
    computedAtMs,
    version: computedAtMs === null ? (report?.version ?? null) : null,
    baseline,
    count,
    settings: thresholds === null ? [] : settingsOf(thresholds, { baseline, count }, organization),
    stored,
  } as const;
  const cannot = (note: string, evaluatedAtMs: number | null = null): VerdictExplanation => ({
    ...base,
    evaluatedAtMs,
    window: null,
    baselineSpan: null,
    judgements: [],
    exclusion: null,
    excluded: [],
    asKnownThen: null,
    asKnownNow: null,
    match: "not-recomputable",
    note,
  });
  if (!config.source.holdsEvents)
    return cannot(
      `its input is ${config.source.isLocal ? "in a table of yours" : "the platform's"}, which flatline does not keep`,
      own?.startedAtMs ?? null,
    );
  if (thresholds === null) return cannot("its thresholds are not kept, and the organization is no longer configured");
  if (stored.severity === "unknown") {
    const reason =
      own?.kind === "error" ? `${own.error.reason}: ${breakAddresses(own.error.message)}` : "the run failed";
    return cannot(`it has no counts, ${reason}`, own?.startedAtMs ?? null);
  }
  const isExcluding =
    computedAtMs === null &&
    (known === null
      ? organization?.baselineExclude === "judged"
      : known.result.observed["baselineExclusion"] !== undefined);
  const { evaluatedAtMs } = point;
  const judged = await judgedBy(store, slug, evaluatedAtMs);
  const stretches = isExcluding ? stretchesOf(judged, thresholds.windowHours) : null;
  const evaluation = { slug, thresholds, baseline, count, appUrl: null, ...(stretches === null ? {} : { stretches }) };
  const { baselineStartMs, windowStartMs, endMs } = spikeWindow(evaluatedAtMs, thresholds);
  const window = { afterMs: windowStartMs, untilMs: endMs };
  const baselineSpan = { afterMs: baselineStartMs, untilMs: windowStartMs };
  const resultNow = await evaluateLocally({ ...evaluation, nowMs: evaluatedAtMs }, store.events);
  const revivals = (known: { readonly knownAtMs?: number }): Promise<Regret | null> =>
    revivalsOf(store.evidence, { slug, window, ...known }, store.signal);
  const recompute = async (atMs: number): Promise<{ result: SpikeResult; counts: ExplainedCounts }> => {
    const then = {
      deaths: (queries: readonly DeathsQuery[]) => store.evidence.deathsKnownAt(queries, atMs),
      firstEventAtMs: () => store.evidence.firstEventKnownAt(slug, atMs),
    };
    const result = await evaluateLocally({ ...evaluation, nowMs: evaluatedAtMs }, then);
    return { result, counts: countsOf(result, await revivals({ knownAtMs: atMs })) };
  };
  let recomputed = await recompute(knownAtMs);
  let isSame = isEqual(recomputed.counts, stored);
  if (!isSame && computedAtMs === null) {
    // A run counts between its start and its end: what came in after it had counted was not known to it.
    const atStart = await recompute(evaluatedAtMs);
    isSame = isEqual(atStart.counts, stored);
    if (isSame) recomputed = atStart;
  }
  const { result: resultThen, counts: asKnownThen } = recomputed;
  return {
    ...base,
    evaluatedAtMs,
    window,
    baselineSpan,
    judgements: judgementsIn(judged, { afterMs: baselineStartMs, untilMs: endMs }, thresholds.windowHours),
    exclusion: resultThen.observed.baselineExclusion ?? null,
    excluded: stretchesAt(stretches ?? [], evaluatedAtMs).filter(
      ({ fromMs, toMs }) => fromMs <= windowStartMs && toMs > baselineStartMs,
    ),
    asKnownThen,
    asKnownNow: countsOf(resultNow, await revivals({})),
    match: isSame ? "same" : "different",
    note: isSame ? null : await whyDifferent(config, store, { baselineStartMs }),
  };
}

/** The last run at or before the instant; looked for ever further back, so that a recent one is found fast. */
async function lastPoint(store: ExplainStore, { check, slug, atMs }: VerdictKey): Promise<RunPoint | null> {
  for (const backMs of [hourMs, dayMs, 10 * dayMs, reachMs]) {
    const points = await store.history.runs({ check, slug, fromMs: atMs - backMs, toMs: atMs });
    const last = points.at(-1);
    if (last !== undefined) return last;
  }
  return null;
}

/** The first result after an instant, with the thresholds that nothing is known to have changed since. */
async function firstResult(store: ExplainStore, { check, slug, atMs }: VerdictKey): Promise<ResultReport | null> {
  for (const aheadMs of [hourMs, dayMs, 10 * dayMs, reachMs]) {
    const reports = await store.history.reports({ check, slug, fromMs: atMs, toMs: atMs + aheadMs, limit: 100 });
    const [first] = reports.flatMap((report) => resultOf(report) ?? []);
    if (first !== undefined) return first;
  }
  return null;
}

async function whyDifferent(
  config: Config,
  store: ExplainStore,
  { baselineStartMs }: { readonly baselineStartMs: number },
): Promise<string> {
  const slugs = config.organizations.map(({ slug }) => slug);
  const firstEventAtMs = slugs.length === 0 ? null : await firstEvent(store, slugs);
  const { eventRetentionMs } = config.storage;
  if (eventRetentionMs > 0 && (firstEventAtMs === null || firstEventAtMs > baselineStartMs))
    return "events of its baseline have been deleted since (storage.eventRetention)";
  return "its events are not what they were: deleted, changed by hand, or counted by another version";
}

async function firstEvent(store: ExplainStore, slugs: readonly string[]): Promise<number | null> {
  const first = await Promise.all(slugs.map((slug) => store.events.firstEventAtMs(slug)));
  const known = first.filter((atMs) => atMs !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function resultOf(report: CheckReport | undefined): ResultReport | null {
  return report?.kind === "result" ? report : null;
}

function storedCounts(point: RunPoint, own: CheckReport | null): ExplainedCounts {
  const observed = own?.kind === "result" ? own.result.observed : {};
  const { severity, currentCount, baselineCount, expectedCount } = point;
  const { revivedCount } = observed;
  return {
    severity,
    currentCount,
    baselineCount,
    expectedCount,
    days: daysOf(observed),
    revivedCount: typeof revivedCount === "number" ? revivedCount : null,
  };
}

function countsOf({ severity, observed }: SpikeResult, revivals: Regret | null): ExplainedCounts {
  const { currentCount, baselineCount, expectedCount } = observed;
  return {
    severity,
    currentCount,
    baselineCount,
    expectedCount,
    days: daysOf({ ...observed }),
    revivedCount: revivals?.revivedCount ?? null,
  };
}

/** The counts of the days before the window, the last day first. */
function daysOf(observed: Readonly<Record<string, unknown>>): number[] {
  const days: number[] = [];
  for (let day = 1; typeof observed[`day${day}`] === "number"; day++) days.push(Number(observed[`day${day}`]));
  return days;
}

/** The days decide nothing that the expected count does not, and revivals nothing; they are kept with whole reports only. */
function isEqual(left: ExplainedCounts, right: ExplainedCounts): boolean {
  return (
    left.severity === right.severity &&
    left.currentCount === right.currentCount &&
    left.baselineCount === right.baselineCount &&
    left.expectedCount === right.expectedCount
  );
}

const thresholdNames = ["windowHours", "baselineDays", "warnMultiplier", "failMultiplier", "minSpikeCount"] as const;

/** Returns the thresholds that a result was made with; null: not all of them are kept. */
function thresholdsOf(threshold: Readonly<Record<string, unknown>>): SpikeThresholds | null {
  const values = thresholdNames.map((name) => threshold[name]);
  if (!values.every((value) => typeof value === "number")) return null;
  const [windowHours = 0, baselineDays = 0, warnMultiplier = 0, failMultiplier = 0, minSpikeCount = 0] = values;
  return { windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount };
}

/** Returns the settings of a verdict, each with where the configuration sets it now. */
function settingsOf(
  thresholds: SpikeThresholds,
  { baseline, count }: Pick<VerdictExplanation, "baseline" | "count">,
  organization: OrganizationConfig | null,
): ExplainedSetting[] {
  const setting = (name: string, path: string, value: number | string, now: number | string | undefined) => ({
    name,
    value,
    setIn: organization === null ? null : (organization.setAt[path] ?? "default"),
    valueNow: now === undefined || now === value ? null : now,
  });
  return [
    ...thresholdNames.map((name) =>
      setting(name, `thresholds.${name}`, thresholds[name], organization?.thresholds[name]),
    ),
    setting("baseline", "baseline", baseline, organization?.baseline),
    setting("count", "count", count, organization?.count),
  ];
}
