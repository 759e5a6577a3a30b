import { formatAge } from "../../base/durations.ts";
import { medianOf } from "../../base/numbers.ts";
import { secondMs } from "../../base/time.ts";
import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import type { ResultSeverity } from "../../contract/severity.ts";
import type { EventFlowLimits } from "./event-flow.ts";

/** What one look at an organization's events found. */
export interface EventFlowInput {
  readonly slug: string;
  readonly nowMs: number;
  readonly limits: EventFlowLimits;
  /** null: none is stored up to now. */
  readonly lastEventAtMs: number | null;
  /** false: no event was ever stored, and that is no silence. */
  readonly hasBegun: boolean;
  /** Distinct assets with an event of any status in the last 24 hours. */
  readonly checkedAssets: number;
  /** The same for each of the days before that lie after the organization's first event, newest first. */
  readonly checkedAssetsByDay: readonly number[];
  readonly appUrl: string | null;
}

// With fewer assets a day, half of them is chance, not the checker.
const leastUsual = 20;

/** Returns whether the stream of an organization's events is silent: no event of any status for longer than allowed. */
export function isSilent(lastEventAtMs: number | null, nowMs: number, maxSilenceMs: number): boolean {
  return lastEventAtMs === null || nowMs - lastEventAtMs > maxSilenceMs;
}

/**
 * Returns the verdict over the flow of liveness events, in the shape of a healthcheck result: a checker that looks at nothing finds
 * no deaths either, so that zero deaths from zero checks must never read as ok. The usual coverage is the median of the
 * days before, which one day of an outage or of a double run does not move.
 */
export function evaluateEventFlow(input: EventFlowInput): HealthcheckResult {
  const { slug, nowMs, limits, lastEventAtMs, checkedAssets } = input;
  const usual = medianOf(input.checkedAssetsByDay);
  const drop = usual === null || usual === 0 ? null : Math.max(0, 1 - checkedAssets / usual);
  const silent = input.hasBegun && isSilent(lastEventAtMs, nowMs, limits.maxSilenceMs);
  const isThin = drop !== null && (usual ?? 0) >= leastUsual && drop > limits.maxCoverageDrop;
  const severity: ResultSeverity = silent ? "fail" : isThin ? "warn" : "ok";
  const silenceSeconds = lastEventAtMs === null ? null : Math.max(0, Math.floor((nowMs - lastEventAtMs) / secondMs));
  return {
    id: "event-flow",
    title: "Flow of liveness events",
    category: "assets",
    generatedAt: new Date(nowMs).toISOString(),
    scope: { slug },
    ok: severity === "ok",
    severity,
    observed: {
      lastEventAt: lastEventAtMs === null ? null : new Date(lastEventAtMs).toISOString(),
      silenceSeconds,
      checkedAssets,
      usualCheckedAssets: usual,
      coverageDrop: drop,
    },
    threshold: {
      maxSilenceSeconds: limits.maxSilenceMs / secondMs,
      maxCoverageDrop: limits.maxCoverageDrop,
    },
    findings: [
      ...(silent ? [silence(input, silenceSeconds)] : []),
      ...(isThin ? [coverage(slug, silent ? "fail" : "warn", checkedAssets, usual, drop)] : []),
    ],
    suggestedAction:
      severity === "ok"
        ? null
        : "See whether the liveness checker still runs and whether its events still arrive: until they do, no deaths means that no asset was looked at.",
    appUrl: input.appUrl,
  };
}

function silence({ slug, nowMs, lastEventAtMs }: EventFlowInput, silenceSeconds: number | null): Finding {
  const message =
    lastEventAtMs === null
      ? `no liveness event of any status is stored up to ${new Date(nowMs).toISOString()}`
      : `no liveness event of any status for ${formatAge((silenceSeconds ?? 0) * secondMs)}, the last at ${new Date(lastEventAtMs).toISOString()}`;
  return { kind: "event-flow.silence", ref: slug, severity: "fail", message };
}

function coverage(
  slug: string,
  severity: ResultSeverity,
  checked: number,
  usual: number | null,
  drop: number,
): Finding {
  const message = `${checked} assets were checked in the last 24 h, usually ${usual}: ${Math.round(drop * 100)} % fewer`;
  return { kind: "event-flow.coverage", ref: slug, severity, message };
}
