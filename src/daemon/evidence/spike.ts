import type { Logger } from "../../base/logger.ts";
import { minuteMs, type Clock } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import { assetTypeAttribute, type ValueCounts } from "../../evidence/attribution.ts";
import { withEvidence, type SpikeEvidence } from "../../evidence/enrichment.ts";
import { markerBefore, markerReachMs, onsetMinuteMs } from "../../evidence/marker.ts";
import { onsetAtMs } from "../../evidence/onset.ts";
import type { RunCheckDeps } from "../../monitor/run-check.ts";
import { spikeWindow } from "../../spike/window.ts";
import type { AssetTypeCounts, CountQuery } from "../../store/events/events.ts";
import type { Board } from "../../store/runs/board.ts";
import type { Store, StoreParts } from "../../store/store.ts";
import { createFleetEvidence, type FleetEvidenceOptions } from "./fleet.ts";
import { readRegret } from "./regret-reading.ts";

export interface SpikeEvidenceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where runs follow each other: an episode then keeps the onset that was found while it was in the window; null: they do not. */
  readonly board: Pick<Board, "state"> | null;
  readonly fleet: FleetEvidenceOptions["fleet"];
  /** How many organizations are checked. */
  readonly organizations: number;
}

// Beside the verdict, which is there already: an alert does not wait longer than this for its reasons.
const withinMs = 5_000;
// At a day's window a bucket is a minute; a year's is some six hours.
const mostBuckets = 1_440;

type Evidence = NonNullable<RunCheckDeps["evidence"]>;

/** Adds what the stored events say to a spike's result; on failure or out of time the result stays as it is. */
export function createSpikeEvidence(options: SpikeEvidenceOptions): Evidence {
  const { store, board, clock, logger } = options;
  const isFleet = createFleetEvidence(options);
  return async (result, { slug, thresholds }, signal) => {
    const bounded = clock.timeout(withinMs, signal);
    try {
      const nowMs = Date.parse(result.generatedAt);
      const query = { slug, ...spikeWindow(nowMs, thresholds) };
      const counts = await readCounts(store, query, bounded);
      const interval = { afterMs: query.windowStartMs, untilMs: query.endMs };
      const regret = await readRegret(store.evidence, { slug, deaths: interval, untilMs: nowMs }, bounded);
      const found = await findOnset(store, result, slug, interval);
      const onset = board === null ? found : keptOnset(board, slug, query.windowStartMs, found);
      const evidence: SpikeEvidence = {
        counts,
        regret,
        onsetAtMs: onset,
        marker: onset === null ? null : await findMarker(store, slug, onset),
        isFleet: await isFleet(slug),
      };
      return withEvidence(result, evidence);
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn({ err: error, slug }, "evidence of a spike could not be read, its result is told without");
      return result;
    }
  };
}

/** Deaths by asset type and attribute; where no event ever had attributes, from the sums that need no single event. */
async function readCounts(
  { events, evidence }: Pick<StoreParts, "events" | "evidence">,
  query: CountQuery,
  signal: AbortSignal,
): Promise<SpikeEvidence["counts"]> {
  if (!(await evidence.hasAttributes())) {
    const types = await events.counts(query);
    const total = (key: "currentCount" | "baselineCount"): number => types.reduce((sum, one) => sum + one[key], 0);
    const counts = { currentCount: total("currentCount"), baselineCount: total("baselineCount"), attributedCount: 0 };
    return { ...counts, values: typeValues(types) };
  }
  const counts = await evidence.attributeCounts(query, { signal });
  return counts === null ? null : { ...counts, values: [...typeValues(counts.assetTypes), ...counts.values] };
}

function typeValues(types: readonly AssetTypeCounts[]): ValueCounts[] {
  return types.flatMap(({ assetType, currentCount, baselineCount }) =>
    assetType === null ? [] : [{ attribute: assetTypeAttribute, value: assetType, currentCount, baselineCount }],
  );
}

async function findOnset(
  { evidence }: Pick<StoreParts, "evidence">,
  { observed }: HealthcheckResult,
  slug: string,
  interval: { readonly afterMs: number; readonly untilMs: number },
): Promise<number | null> {
  const windowMs = interval.untilMs - interval.afterMs;
  const bucketMinutes = Math.max(1, Math.ceil(windowMs / minuteMs / mostBuckets));
  const buckets = await evidence.deathBuckets({ slug, interval, bucketMinutes });
  const { expectedCount } = observed;
  return onsetAtMs({ buckets, windowMs, expectedCount: typeof expectedCount === "number" ? expectedCount : 0 });
}

async function findMarker(
  { markers }: Pick<StoreParts, "markers">,
  slug: string,
  onset: number,
): Promise<SpikeEvidence["marker"]> {
  const near = await markers.between({ slug, fromMs: onset - markerReachMs, toMs: onset + onsetMinuteMs });
  return markerBefore(near, onset);
}

/** The onset of the episode under way: an earlier run has seen what has left the window since. */
function keptOnset(
  board: Pick<Board, "state">,
  slug: string,
  windowStartMs: number,
  foundAtMs: number | null,
): number | null {
  const last = board.state("dead-asset-spike", slug)?.lastResultReport;
  if (last?.kind !== "result" || last.severity === "ok") return foundAtMs;
  const text = last.result.observed["onsetAt"];
  const knownAtMs = typeof text === "string" ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(knownAtMs) || last.finishedAtMs < windowStartMs) return foundAtMs;
  return foundAtMs === null ? knownAtMs : Math.min(knownAtMs, foundAtMs);
}
