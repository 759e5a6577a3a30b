import { z } from "zod";

import { formatAge } from "../../base/durations.ts";
import { medianOf } from "../../base/numbers.ts";
import { builtIn, type Whole } from "../../base/schema/section.ts";
import { cronPattern, duration } from "../../base/schema/values.ts";
import { dayMs, minuteMs, secondMs } from "../../base/time.ts";
import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import {
  resultOf,
  type CheckKind,
  type CheckSettings,
  type Evaluation,
  type SettingsTarget,
  type StoredEvents,
  readFirstEvent,
  requireEvents,
} from "../kind.ts";

// The days before the last 24 hours that say what is usual.
const usualDays = 7;

const eventFlowSettings = {
  key: "eventFlow",
  needs: "holdsEvents",
  switchedBy: "enabled",
  description: "The check `event-flow`: whether the liveness checker still looks. Stored events only.",
  shape: {
    enabled: builtIn(z.boolean(), false).describe(
      "Whether the check `event-flow` runs; then the spike check of a silent stream is `unknown`, never ok.",
    ),
    schedule: builtIn(cronPattern, "*/5 * * * *").describe("Its cron pattern, in the organization's timezone."),
    maxSilence: builtIn(duration(minuteMs, 365 * dayMs), "24h").describe("`fail` when no event came for longer."),
    maxCoverageDrop: builtIn(z.number().gt(0).max(1), 0.5).describe(
      "`warn` when fewer assets were checked in the last 24 h than usual (the median of the 7 days before, " +
        "where it is at least 20) by more than this share; 1: never.",
    ),
  },
} as const satisfies CheckSettings;
export type EventFlowSettings = Whole<typeof eventFlowSettings.shape>;
export type EventFlowTarget = SettingsTarget<"event-flow", typeof eventFlowSettings>;

/** Whether the liveness checker still looks. */
export const eventFlow = {
  holdsGate: true,
  isSaidByFinding: true,
  canLookBack: true,
  alertName: "FlatlineEventFlow",
  back: "liveness events flow again",
  settings: eventFlowSettings,
  run: async (target: EventFlowTarget, run) => {
    const { check, slug, settings: limits } = target;
    const { nowMs, appUrl } = run;
    const events = requireEvents(run, check);
    const { liveness } = events;
    const lastEventAtMs = await liveness.lastEventAtMs(slug, nowMs);
    // A stream with a last event has begun: the first one need not be read.
    const first = lastEventAtMs === null ? await readFirstEvent(target, run) : undefined;
    const result = evaluateEventFlow({
      slug,
      nowMs,
      limits,
      lastEventAtMs,
      hasBegun: first?.hasBegun !== false,
      checkedAssets: await liveness.distinctAssets(slug, { afterMs: nowMs - dayMs, untilMs: nowMs }),
      checkedAssetsByDay: await usualDaysOf(slug, nowMs, events),
      appUrl,
    });
    return { result, baselineCoverage: null };
  },
} as const satisfies CheckKind;

/** Returns the distinct assets of each whole day after the first event, newest first; the first day is never whole. */
async function usualDaysOf(
  slug: string,
  nowMs: number,
  { liveness, events }: StoredEvents,
): Promise<readonly number[]> {
  const firstMs = await events.firstEventAtMs(slug);
  const byDay: number[] = [];
  for (let day = 1; day <= usualDays; day++) {
    const untilMs = nowMs - day * dayMs;
    const interval = { afterMs: untilMs - dayMs, untilMs };
    if (firstMs === null || firstMs > interval.afterMs) break;
    byDay.push(await liveness.distinctAssets(slug, interval));
  }
  return byDay;
}

interface EventFlowInput extends Evaluation {
  readonly limits: Pick<EventFlowSettings, "maxSilenceMs" | "maxCoverageDrop">;
  /** null: none is stored up to now. */
  readonly lastEventAtMs: number | null;
  /** false: no event was ever stored, which is no silence. */
  readonly hasBegun: boolean;
  /** Distinct assets with an event of any status in the last 24 hours. */
  readonly checkedAssets: number;
  /** The same for each whole day before, newest first, back to the organization's first event. */
  readonly checkedAssetsByDay: readonly number[];
}

// With fewer assets a day, a drop to a half may be chance.
const leastUsual = 20;

/** Returns whether no event of any status came for longer than `maxSilenceMs`. */
export function isSilent(lastEventAtMs: number | null, nowMs: number, maxSilenceMs: number): boolean {
  return lastEventAtMs === null || nowMs - lastEventAtMs > maxSilenceMs;
}

/**
 * Returns the verdict over the flow of liveness events. A checker that looks at nothing finds no deaths, which must not
 * read as ok. The usual coverage is the median of the days before: one day of an outage does not move it.
 */
export function evaluateEventFlow(input: EventFlowInput): HealthcheckResult {
  const { slug, nowMs, limits, lastEventAtMs, checkedAssets } = input;
  const usual = medianOf(input.checkedAssetsByDay);
  const drop = usual === null || usual === 0 ? null : Math.max(0, 1 - checkedAssets / usual);
  const silent = input.hasBegun && isSilent(lastEventAtMs, nowMs, limits.maxSilenceMs);
  const isThin = drop !== null && (usual ?? 0) >= leastUsual && drop > limits.maxCoverageDrop;
  const silenceSeconds = lastEventAtMs === null ? null : Math.max(0, Math.floor((nowMs - lastEventAtMs) / secondMs));
  return resultOf(input, {
    id: "event-flow",
    title: "Flow of liveness events",
    category: "assets",
    severity: silent ? "fail" : isThin ? "warn" : "ok",
    observed: {
      lastEventAt: lastEventAtMs === null ? null : new Date(lastEventAtMs).toISOString(),
      silenceSeconds,
      checkedAssets,
      usualCheckedAssets: usual,
      coverageDrop: drop,
    },
    threshold: { maxSilenceSeconds: limits.maxSilenceMs / secondMs, maxCoverageDrop: limits.maxCoverageDrop },
    findings: [
      ...(silent ? [silence(input, silenceSeconds)] : []),
      ...(isThin ? [coverage(slug, silent ? "fail" : "warn", checkedAssets, usual, drop)] : []),
    ],
    advice:
      "See whether the liveness checker still runs and whether its events still arrive: " +
      "until they do, no deaths means that no asset was looked at.",
  });
}

function silence({ slug, nowMs, lastEventAtMs }: EventFlowInput, silenceSeconds: number | null): Finding {
  const message =
    lastEventAtMs === null
      ? `no liveness event of any status is stored up to ${new Date(nowMs).toISOString()}`
      : `no liveness event of any status for ${formatAge((silenceSeconds ?? 0) * secondMs)}, ` +
        `the last at ${new Date(lastEventAtMs).toISOString()}`;
  return { kind: "event-flow.silence", ref: slug, severity: "fail", message };
}

function coverage(
  slug: string,
  severity: Finding["severity"],
  checked: number,
  usual: number | null,
  drop: number,
): Finding {
  const fewer = `${Math.round(drop * 100)} % fewer`;
  const message = `${checked} assets were checked in the last 24 h, usually ${usual}: ${fewer}`;
  return { kind: "event-flow.coverage", ref: slug, severity, message };
}
