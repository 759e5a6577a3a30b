import { createRest, dayMs, hourMs } from "../base/time.ts";
import { isSilent } from "../checks/event-flow/event-flow.ts";
import type { OrganizationConfig } from "../config/config.ts";
import { evaluateLocally } from "../service/local-evaluation.ts";
import { spikeRuleOf } from "../spike/evaluate.ts";
import type { PastVerdict } from "../store/runs/history.ts";
import type { Ground } from "./ground.ts";

const reachMs = 7 * dayMs;
// A shorter part of a baseline tells nothing. With a longer part, a spike is left out that a whole baseline at the same
// pace would not show.
const leastCoverage = 0.25;

/**
 * Evaluates the hours before the first run of each organization from the stored events, so that its chart is not empty.
 * No alert begins, and existing rows stay as they are. Returns the function that ends it.
 */
export function startFilling(ground: Ground, organizations: readonly OrganizationConfig[]): () => Promise<void> {
  const stopping = new AbortController();
  const filled = fillPast(ground, organizations, stopping.signal);
  return () => {
    stopping.abort();
    return filled;
  };
}

async function fillPast(
  ground: Ground,
  organizations: readonly OrganizationConfig[],
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, logger, bus } = ground;
  const rest = createRest(clock);
  for (const organization of organizations) {
    const { slug } = organization;
    if (signal.aborted) return;
    try {
      const past = await evaluatePast(ground, organization, signal);
      if (past.length > 0) {
        await store.runs.addPast("dead-asset-spike", slug, past);
        bus.emit("stored", "else");
        logger.debug({ slug, hours: past.length }, "past evaluated from stored events");
      }
    } catch (error) {
      logger.warn({ err: error, slug }, "past could not be evaluated");
    }
    await rest(signal);
  }
}

async function evaluatePast(
  { store, clock }: Ground,
  organization: OrganizationConfig,
  signal: AbortSignal,
): Promise<PastVerdict[]> {
  const { slug, thresholds, eventFlow } = organization;
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
    // Zero deaths without any events are unknown, never ok.
    if (eventFlow.enabled) {
      const lastEventAtMs = await store.liveness.lastEventAtMs(slug, atMs);
      if (isSilent(lastEventAtMs, atMs, eventFlow.maxSilenceMs)) continue;
    }
    const evaluation = { ...spikeRuleOf(organization), slug, thresholds, appUrl: null, nowMs: atMs };
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
