import { dayMs } from "../../base/time.ts";
import { deathsBeginAtMs } from "../../alerting/decide/gate.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import { assetTypeAttribute, type ValueCounts } from "../../evidence/attribution.ts";
import { withEvidence, type SpikeFacts } from "../../evidence/enrichment.ts";
import { excessOf, longestPauseOf, sumOf } from "../../evidence/excess.ts";
import { markerBefore, markerReachMs, onsetAtMs, onsetMinuteMs } from "../../evidence/onset.ts";
import { RegretCounter, type Regret } from "../../evidence/regret.ts";
import { attributionSlices, quietSlices, unjudgedSlices } from "../../evidence/quiet-days.ts";
import type { RunCheckDeps } from "../../monitor/run-check.ts";
import { spikeWindow } from "../../spike/window.ts";
import type { CountKind } from "../../spike/findings.ts";
import type { SpikeThresholds } from "../../spike/thresholds.ts";
import type { AssetTypeCounts } from "../../spike/asset-types.ts";
import type { Board } from "../../store/runs/board.ts";
import { assetEventPages } from "../../store/events/asset-events.ts";
import type { EvidenceStore } from "../../store/events/evidence.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Ground } from "../ground.ts";

// An alert waits no longer for its reasons.
const withinMs = 5_000;

// The time before the onset that shows how long usual pauses are.
const pausesMs = 7 * dayMs;

type Evidence = NonNullable<RunCheckDeps["evidence"]>;

/**
 * Adds evidence from the stored events to a spike's result; on a failure or a timeout the result stays as it is. With
 * `board` an episode keeps the onset that an earlier run found.
 */
export function createSpikeEvidence(
  { store, clock, logger }: Pick<Ground, "store" | "clock" | "logger">,
  board: Pick<Board, "state"> | null,
): Evidence {
  return async (found, { slug, thresholds }, signal) => {
    const { result } = found;
    const bounded = clock.timeout(withinMs, signal);
    try {
      const nowMs = Date.parse(result.generatedAt);
      const { windowStartMs, endMs } = spikeWindow(nowMs, thresholds);
      const { counting, currentCount, expectedCount } = result.observed;
      const ask: Ask = {
        slug,
        interval: { afterMs: windowStartMs, untilMs: endMs },
        thresholds,
        nowMs,
        count: counting === "assets" ? "assets" : "deaths",
        currentCount: typeof currentCount === "number" ? currentCount : 0,
        expectedCount: typeof expectedCount === "number" ? expectedCount : 0,
      };
      const counts = await readCounts(store, ask, bounded);
      const regret = await readRegret(store, ask, bounded);
      const minutes = await readMinutes(store, ask);
      const inWindow = await findOnset(store, ask, minutes);
      const onset = board === null ? inWindow : keptOnset(board, slug, windowStartMs, inWindow);
      const excess = await findExcess(store, ask, minutes, onset);
      return withEvidence(found, {
        counts,
        regret,
        onsetAtMs: onset,
        marker: onset === null ? null : markerBefore(await markersNear(store, slug, onset), onset),
        excess,
        opinion: await findOpinion(store, slug),
      });
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn({ err: error, slug }, "evidence of a spike could not be read, its result is sent without");
      return found;
    }
  };
}

/** The organization, its window, and values of its result. */
interface Ask {
  readonly slug: string;
  readonly interval: Interval;
  readonly thresholds: SpikeThresholds;
  readonly nowMs: number;
  readonly count: CountKind;
  readonly currentCount: number;
  readonly expectedCount: number;
}

/** Counts deaths by asset type and attribute, in the window and on the quiet days before. */
async function readCounts(
  { events, evidence, alerts }: Pick<StoreParts, "events" | "evidence" | "alerts">,
  { slug, interval: window, thresholds, nowMs, count }: Ask,
  signal: AbortSignal,
): Promise<SpikeFacts["counts"]> {
  // Deaths of a checker that was judged broken are not usual.
  const judged = (await alerts.judged({ verdict: "checker", slug })).flatMap((alert) =>
    alert.check === "dead-asset-spike" && (alert.judgement?.atMs ?? nowMs) <= nowMs
      ? [{ fromMs: deathsBeginAtMs(alert, thresholds.windowHours), toMs: Math.min(alert.end?.atMs ?? nowMs, nowMs) }]
      : [],
  );
  const slices = unjudgedSlices(attributionSlices(window.afterMs), judged);
  const [types = []] = await events.deaths([{ slug, intervals: [window, ...slices], count }], { signal });
  const deaths = slices.map((_, index) => types.reduce((sum, one) => sum + (one.deaths[index + 1] ?? 0), 0));
  const firstEventAtMs = await events.firstEventAtMs(slug);
  const baseline = quietSlices(slices, deaths, { thresholds, firstEventAtMs });
  const quiet = slices.map((slice) => baseline.includes(slice));
  const byType = types.map(({ assetType, deaths: [currentCount = 0, ...before] }) => ({
    assetType,
    currentCount,
    baselineCount: before.reduce((sum, count, index) => sum + (quiet[index] === true ? count : 0), 0),
  }));
  const total = (key: "currentCount" | "baselineCount"): number => byType.reduce((sum, one) => sum + one[key], 0);
  const totals = { currentCount: total("currentCount"), baselineCount: total("baselineCount") };
  if (!(await evidence.hasAttributes())) return { ...totals, attributedCount: 0, values: typeValues(byType) };
  const counts = await evidence.attributeCounts({ slug, window, baseline, count }, { signal });
  if (counts === null) return null;
  return { ...totals, attributedCount: counts.attributedCount, values: [...typeValues(byType), ...counts.values] };
}

// Some 40 MB of names; no organization has so many assets at once.
const mostAssets = 200_000;

/** Counts the deaths whose asset was found alive since; null: there are too many assets to count. */
async function readRegret(
  { evidence }: Pick<StoreParts, "evidence">,
  ask: Ask,
  signal: AbortSignal,
): Promise<Regret | null> {
  const counter = new RegretCounter(mostAssets);
  for await (const page of assetEventPages(evidence, ask)) {
    signal.throwIfAborted();
    if (!page.every((event) => counter.add(event))) return null;
  }
  return counter.regret;
}

function typeValues(types: readonly AssetTypeCounts[]): ValueCounts[] {
  return types.flatMap(({ assetType, currentCount, baselineCount }) =>
    assetType === null ? [] : [{ attribute: assetTypeAttribute, value: assetType, currentCount, baselineCount }],
  );
}

type Minutes = Awaited<ReturnType<EvidenceStore["deathMinutes"]>>;

/** Returns deaths, or assets that newly died: those that die every day would make a burst at the start of a window. */
function readMinutes({ evidence }: Pick<StoreParts, "evidence">, ask: Ask): Promise<Minutes> {
  return ask.count === "assets" ? evidence.newlyDeadMinutes(ask) : evidence.deathMinutes(ask);
}

async function findOnset(store: Pick<StoreParts, "evidence">, ask: Ask, buckets: Minutes) {
  const { interval, count, expectedCount } = ask;
  const windowMs = interval.untilMs - interval.afterMs;
  if (count === "deaths") return onsetAtMs({ buckets, windowMs, expectedCount });
  // Many of the expected assets may have died in the window before, too: they are not newly dead.
  const before = { afterMs: interval.afterMs - windowMs, untilMs: interval.afterMs };
  const newBefore = sumOf(await readMinutes(store, { ...ask, interval: before }));
  return onsetAtMs({ buckets, windowMs, expectedCount: Math.min(expectedCount, newBefore) });
}

async function findExcess(
  store: Pick<StoreParts, "evidence">,
  { slug, interval, thresholds, nowMs, ...counts }: Ask,
  buckets: Minutes,
  onset: number | null,
): Promise<SpikeFacts["excess"]> {
  const windowMs = interval.untilMs - interval.afterMs;
  const untilMs = onset ?? interval.afterMs;
  const before = await store.evidence.deathMinutes({ slug, interval: { afterMs: untilMs - pausesMs, untilMs } });
  const { warnMultiplier } = thresholds;
  return excessOf({ ...counts, buckets, windowMs, warnMultiplier, longestPauseMs: longestPauseOf(before), nowMs });
}

/** Returns the second opinion on the open incident of the organization's spike. */
async function findOpinion({ alerts, incidents }: Pick<StoreParts, "alerts" | "incidents">, slug: string) {
  const live = await alerts.liveOf([{ check: "dead-asset-spike", slug }]);
  const number = live.find(({ kind, state }) => kind === "verdict" && state === "firing")?.incident?.number;
  if (number === undefined) return null;
  return (await incidents.find(number))?.secondOpinion ?? null;
}

function markersNear({ markers }: Pick<StoreParts, "markers">, slug: string, onset: number) {
  return markers.between({ slug, fromMs: onset - markerReachMs, toMs: onset + onsetMinuteMs });
}

/** Returns the earliest known onset of the episode: an earlier run may have found one that has left the window. */
function keptOnset(
  board: Pick<Board, "state">,
  slug: string,
  windowStartMs: number,
  foundAtMs: number | null,
): number | null {
  const last = board.state("dead-asset-spike", slug)?.lastResultReport;
  if (last?.kind !== "result" || last.severity === "ok") return foundAtMs;
  const knownAtMs = last.evidence?.onset?.atMs ?? null;
  if (knownAtMs === null || last.finishedAtMs < windowStartMs) return foundAtMs;
  return foundAtMs === null ? knownAtMs : Math.min(knownAtMs, foundAtMs);
}
