import { FlatlineError } from "../../base/errors.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { FirstEvents } from "../../contract/liveness-counts.ts";
import { noEvidence } from "../../contract/spike-evidence.ts";
import type { SpikeEvaluation } from "../../spike/evaluate.ts";
import { spikeWindow, windowCoverage } from "../../spike/spike.ts";
import { isSilent, type EventFlowSettings } from "../event-flow/event-flow.ts";
import {
  type CheckedOrganization,
  type CheckKind,
  type CheckRun,
  type Evaluated,
  type StoredEvents,
  firstEventOf,
  scheduleOf,
  type EventTarget,
  type SpikeThresholds,
} from "../kind.ts";

export interface SpikeTarget extends EventTarget {
  readonly check: "dead-asset-spike";
  readonly thresholds: SpikeThresholds;
  /** After a longer time without any event there is no result; null: not watched. */
  readonly maxSilenceMs?: number | null;
}

export function spikeTarget(
  organization: CheckedOrganization & { readonly thresholds: SpikeThresholds; readonly eventFlow: EventFlowSettings },
): SpikeTarget {
  const { slug, whenNoEvents, thresholds, eventFlow } = organization;
  const maxSilenceMs = eventFlow.enabled ? eventFlow.maxSilenceMs : null;
  const schedule = scheduleOf(organization);
  return { check: "dead-asset-spike", slug, schedule, thresholds, maxSilenceMs, whenNoEvents };
}

/** The check of the platform: many more deaths than usual. */
export const deadAssetSpike = {
  holdsGate: true,
  isSaidByFinding: false,
  countsDeaths: true,
  canLookBack: true,
  alertName: "FlatlineDeadAssetSpike",
  back: "the rate is back under the threshold",
  run,
} as const satisfies CheckKind;

async function run(target: SpikeTarget, asked: CheckRun): Promise<Evaluated> {
  const { slug, thresholds, maxSilenceMs = null } = target;
  const { nowMs, events, evidence, signal } = asked;
  const firstEvents = (await asked.firstEvents?.([slug])) ?? null;
  const hasBegun = firstEventOf(target, firstEvents)?.hasBegun !== false;
  if (maxSilenceMs !== null && hasBegun && events !== undefined)
    await refuseSilence({ slug, nowMs, maxSilenceMs }, events);
  const asks = async () => ({ result: await asked.api().deadAssetSpike({ slug, ...thresholds }, { signal }) });
  const found = spikeFound(target, asked.evaluation ?? (await asks()), { nowMs, firstEvents });
  if (found.result.severity === "ok" || evidence === undefined) return found;
  return { ...found, ...(await evidence(found, target, signal)) };
}

/** Returns the result of a run without further evidence. @throws FlatlineError no_events */
export function spikeFound(
  target: SpikeTarget,
  evaluation: { readonly result: HealthcheckResult; readonly assetTypes?: SpikeEvaluation["assetTypes"] },
  { nowMs, firstEvents }: { readonly nowMs: number; readonly firstEvents: FirstEvents | null },
): Evaluated {
  const first = firstEventOf(target, firstEvents);
  const { result, assetTypes } = evaluation;
  const isEvident = assetTypes !== undefined && result.severity !== "ok";
  return {
    result,
    baselineCoverage: first === undefined ? null : windowCoverage(spikeWindow(nowMs, target.thresholds), first.atMs),
    ...(isEvident
      ? { evidence: { ...noEvidence, assetTypes: assetTypes.map(({ assetType, excess }) => ({ assetType, excess })) } }
      : {}),
  };
}

/** @throws FlatlineError stream_silent when no event of any status came for longer than `maxSilenceMs` */
export async function refuseSilence(
  { slug, nowMs, maxSilenceMs }: { readonly slug: string; readonly nowMs: number; readonly maxSilenceMs: number },
  { liveness }: Pick<StoredEvents, "liveness">,
): Promise<void> {
  const lastEventAtMs = await liveness.lastEventAtMs(slug, nowMs);
  if (!isSilent(lastEventAtMs, nowMs, maxSilenceMs)) return;
  const since =
    lastEventAtMs === null
      ? `up to ${new Date(nowMs).toISOString()}`
      : `since ${new Date(lastEventAtMs).toISOString()}`;
  throw new FlatlineError(
    "stream_silent",
    `no liveness event ${since}: without any there are no deaths to count, see whether the liveness checker still runs`,
  );
}
