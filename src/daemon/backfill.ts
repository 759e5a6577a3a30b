import type { Logger } from "../base/logger.ts";
import { createRest, dayMs, hourMs, type Clock } from "../base/time.ts";
import { isSilent, type EventFlowSettings } from "../checks/event-flow/event-flow.ts";
import { evaluateLocally, type SpikeRule } from "../service/local-evaluation.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { Store } from "../store/store.ts";
import type { PastVerdict } from "../store/runs/history.ts";

interface BackfillOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly organizations: readonly PastOrganization[];
  /** Called after an organization got a past. */
  readonly onFilled: () => void;
}

interface PastOrganization extends SpikeRule {
  readonly slug: string;
  readonly thresholds: SpikeThresholds;
  readonly eventFlow: Pick<EventFlowSettings, "enabled" | "maxSilenceMs">;
}

const reachMs = 7 * dayMs;
// A shorter part of a baseline tells nothing. With a longer one, a spike that a whole baseline at the same pace would not
// show is left out: it is only the beginning of the events.
const leastCoverage = 0.25;

/**
 * Evaluates the days before the first run of each organization from the stored events, hour by hour, so that a first look is
 * not an empty chart. History only: no alert comes of it. Existing rows stay as they are. `stop` ends it and waits until it has.
 */
export function startFilling(options: BackfillOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const filled = fillPast(options, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return filled;
    },
  };
}

async function fillPast(options: BackfillOptions, signal: AbortSignal): Promise<void> {
  const { store, clock, logger, organizations, onFilled } = options;
  const rest = createRest(clock);
  for (const organization of organizations) {
    const { slug } = organization;
    if (signal.aborted) return;
    try {
      const past = await evaluatePast(options, organization, signal);
      if (past.length > 0) {
        await store.runs.addPast("dead-asset-spike", slug, past);
        onFilled();
        logger.debug({ slug, hours: past.length }, "past evaluated from stored events");
      }
    } catch (error) {
      logger.warn({ err: error, slug }, "past could not be evaluated");
    }
    await rest(signal);
  }
}

async function evaluatePast(
  { store, clock }: BackfillOptions,
  { slug, thresholds, baseline, count = "deaths", eventFlow }: PastOrganization,
  signal: AbortSignal,
): Promise<PastVerdict[]> {
  const nowMs = clock.nowMs();
  const firstEventAtMs = await store.events.firstEventAtMs(slug);
  if (firstEventAtMs === null) return [];
  const coveredFromMs =
    firstEventAtMs + thresholds.windowHours * hourMs + thresholds.baselineDays * dayMs * leastCoverage;
  const firstRunMs = (await store.runs.firstAtMs("dead-asset-spike", slug)) ?? nowMs;
  const fromMs = Math.max(nowMs - reachMs, coveredFromMs);
  const baselineMs = thresholds.baselineDays * dayMs;
  const past: PastVerdict[] = [];
  for (let atMs = Math.ceil(fromMs / hourMs) * hourMs; atMs < firstRunMs; atMs += hourMs) {
    // No deaths without events mean that nothing is known, as for a run: never ok.
    if (eventFlow.enabled) {
      const lastEventAtMs = await store.liveness.lastEventAtMs(slug, atMs);
      if (isSilent(lastEventAtMs, atMs, eventFlow.maxSilenceMs)) continue;
    }
    const evaluation = { slug, thresholds, baseline, count, appUrl: null, nowMs: atMs };
    const { result } = await evaluateLocally(evaluation, store.events, { signal });
    const { severity, observed } = result;
    const { currentCount, expectedCount } = observed;
    const baselineFromMs = atMs - thresholds.windowHours * hourMs - baselineMs;
    const coverage = 1 - Math.max(0, firstEventAtMs - baselineFromMs) / baselineMs;
    const isBeginning = severity !== "ok" && currentCount <= (expectedCount / coverage) * thresholds.warnMultiplier;
    if (isBeginning) continue;
    past.push({ atMs, severity, currentCount, expectedCount });
  }
  return past;
}
