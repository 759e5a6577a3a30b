import { FlatlineError } from "../base/errors.ts";
import { dayMs, eventLoopTurn } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { EventPlace, EvidenceStore } from "../store/events/evidence.ts";
import type { AssetStatus, LivenessStore } from "../store/events/liveness.ts";
import {
  coverageIntervals,
  evaluateEventFlow,
  isSilent,
  leastAutoSilenceMs,
  type EventFlowInput,
  type EventFlowLimits,
} from "./event-flow/evaluate.ts";
import { evaluateRegret, type RegretLimits } from "./regret/evaluate.ts";
import { DeathJudge, regretShares, regretStartMs, type JudgedDeaths } from "./regret/shares.ts";
import { evaluateSentinel } from "./sentinel/evaluate.ts";
import { silenceLimitMs, type SilenceAsk } from "./event-flow/silence-limit.ts";

/** What is asked of the stored events beside their counts; local events only. */
export interface LivenessChecks {
  sentinel(ask: {
    slug: string;
    nowMs: number;
    assets: readonly string[];
    appUrl: string | null;
  }): Promise<HealthcheckResult>;
  eventFlow(ask: {
    slug: string;
    nowMs: number;
    limits: EventFlowLimits;
    appUrl: string | null;
  }): Promise<HealthcheckResult>;
  /** @throws FlatlineError unavailable when there are too many deaths to judge each */
  regret(ask: { slug: string; nowMs: number; limits: RegretLimits; appUrl: string | null }): Promise<HealthcheckResult>;
  /** @throws FlatlineError stream_silent when no event of any status came for longer than `maxSilenceMs`. */
  refuseSilence(ask: SilenceAsk): Promise<void>;
}

export interface LivenessChecksOptions {
  readonly liveness: LivenessStore;
  /** Instant of the organization's first stored event; null without one. */
  readonly firstEventAtMs: (slug: string) => Promise<number | null>;
  readonly evidence: Pick<EvidenceStore, "assetEvents" | "eventsVersion">;
}

// What a sentinel was called longer ago than this is history: it would have been seen since.
const sentinelLookbackMs = 90 * dayMs;
// The stretches that are read from now backwards, until each sentinel is found; doubled each time.
const firstStretchMs = 8 * dayMs;

interface Looked {
  readonly assets: string;
  readonly version: string;
  readonly nowMs: number;
  readonly statuses: ReadonlyMap<string, AssetStatus>;
}

/**
 * Creates the checks over single events. A sentinel's past is read again when events came in since, of whatever time, or the clock
 * goes back (`check --at`).
 */
export function createLivenessChecks({ liveness, firstEventAtMs, evidence }: LivenessChecksOptions): LivenessChecks {
  const looked = new Map<string, Looked>();

  async function statusesOf(slug: string, assets: readonly string[], nowMs: number): Promise<readonly AssetStatus[]> {
    const key = JSON.stringify(assets);
    // Before the reads: what comes in between is read again the next time.
    const version = await evidence.eventsVersion();
    const last = looked.get(slug);
    const isKnown = last !== undefined && last.assets === key && last.version === version && nowMs >= last.nowMs;
    const statuses = new Map(isKnown ? last.statuses : []);
    if (isKnown) {
      const interval = { afterMs: last.nowMs, untilMs: nowMs };
      for (const status of await liveness.lastStatuses({ slug, assets, interval })) statuses.set(status.asset, status);
    } else await findStatuses(slug, assets, nowMs, statuses);
    looked.set(slug, { assets: key, version, nowMs, statuses });
    return [...statuses.values()];
  }

  async function findStatuses(
    slug: string,
    assets: readonly string[],
    nowMs: number,
    found: Map<string, AssetStatus>,
  ): Promise<void> {
    const startMs = nowMs - sentinelLookbackMs;
    let stretchMs = firstStretchMs;
    for (let untilMs = nowMs; untilMs > startMs; stretchMs *= 2) {
      const missing = assets.filter((asset) => !found.has(asset));
      if (missing.length === 0) return;
      const afterMs = Math.max(startMs, untilMs - stretchMs);
      const statuses = await liveness.lastStatuses({ slug, assets: missing, interval: { afterMs, untilMs } });
      for (const status of statuses) found.set(status.asset, status);
      untilMs = afterMs;
    }
  }

  /** Of whole days after the first event only: the day on which flatline was set up says nothing of what is usual. */
  async function usualDaysOf(slug: string, nowMs: number): Promise<readonly number[]> {
    const firstMs = await firstEventAtMs(slug);
    const byDay: number[] = [];
    for (const interval of coverageIntervals(nowMs).slice(1)) {
      if (firstMs === null || firstMs > interval.afterMs) break;
      byDay.push(await liveness.distinctAssets(slug, interval));
    }
    return byDay;
  }

  /** Page by page, each in a turn of its own: other work does not wait for all of them. */
  async function judgedDeaths(slug: string, afterMs: number, untilMs: number): Promise<JudgedDeaths> {
    const judge = new DeathJudge();
    let after: EventPlace | null = null;
    for (;;) {
      const page = await evidence.assetEvents({ slug, interval: { afterMs, untilMs }, after });
      for (const look of page) judge.add(look);
      const last = page.at(-1);
      if (last === undefined) return judge.deaths;
      after = last;
      await eventLoopTurn();
    }
  }

  return {
    regret: async ({ slug, nowMs, limits, appUrl }) => {
      const { windowMs, maturityMs } = limits;
      const deaths = await judgedDeaths(slug, regretStartMs({ nowMs, windowMs, maturityMs }), nowMs);
      const shares = regretShares(deaths, {
        nowMs,
        windowMs,
        maturityMs,
        firstEventAtMs: await firstEventAtMs(slug),
      });
      return evaluateRegret({ slug, nowMs, limits, shares, appUrl });
    },
    sentinel: async ({ slug, nowMs, assets, appUrl }) => {
      const statuses = await statusesOf(slug, assets, nowMs);
      return evaluateSentinel({ slug, nowMs, assets, statuses, appUrl });
    },
    eventFlow: async ({ slug, nowMs, limits, appUrl }) => {
      const { maxSilenceMs, maxCoverageDrop } = limits;
      const limitMs = await silenceLimitMs({ slug, nowMs, maxSilenceMs }, { liveness, firstEventAtMs });
      const input: EventFlowInput = {
        slug,
        nowMs,
        thresholds: { maxSilenceMs: limitMs, maxCoverageDrop },
        lastEventAtMs: await liveness.lastEventAtMs(slug, nowMs),
        checkedAssets: await liveness.distinctAssets(slug, { afterMs: nowMs - dayMs, untilMs: nowMs }),
        checkedAssetsByDay: await usualDaysOf(slug, nowMs),
        appUrl,
      };
      return evaluateEventFlow(input);
    },
    refuseSilence: async ({ slug, nowMs, maxSilenceMs }) => {
      const lastEventAtMs = await liveness.lastEventAtMs(slug, nowMs);
      // Most streams are not: what `auto` allows is read for the others only.
      if (!isSilent(lastEventAtMs, nowMs, maxSilenceMs === "auto" ? leastAutoSilenceMs : maxSilenceMs)) return;
      const limitMs = await silenceLimitMs({ slug, nowMs, maxSilenceMs }, { liveness, firstEventAtMs });
      if (!isSilent(lastEventAtMs, nowMs, limitMs)) return;
      const since = lastEventAtMs === null ? "was ever stored" : `since ${new Date(lastEventAtMs).toISOString()}`;
      throw new FlatlineError(
        "stream_silent",
        `no liveness event ${since}: without any there are no deaths to count, see whether the liveness checker still runs`,
      );
    },
  };
}
