import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { formatDuration } from "../../base/durations.ts";
import { formatPercent } from "../../base/numbers.ts";
import { builtIn, type Whole } from "../../base/schema/section.ts";
import { duration, wholeNumber } from "../../base/schema/values.ts";
import { eventLoopTurn, dayMs, hourMs, secondMs } from "../../base/time.ts";
import { AssetBook, type AssetLook } from "../../contract/assets.ts";
import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import type { EventPlace } from "../../store/events/asset-events.ts";
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

/** Windows in the longer stretch. */
const longWindows = 7;
/** A sooner look that finds an asset alive may come from a checker that flaps. */
export const leastRevivalMs = 6 * hourMs;

const share = z.number().gt(0).max(1);

/** `regret` in the configuration; off without it. */
const regretSettings = {
  key: "regret",
  needs: "holdsEvents",
  description:
    "The check `regret`: the share of deaths whose asset was found alive 6 h later or more. " +
    "It runs where this is set (`regret: {}`), on the organization's schedule. Stored events only.",
  shape: {
    // Measured (docs/detection.md): a median of 17 % of real mass deaths was reversed within 60 days.
    warnAbove: builtIn(share, 0.45).describe("`warn` when a larger share of the deaths was found alive; 1: never."),
    failAbove: builtIn(share, 0.65).describe("`fail` when a larger share of the deaths was found alive; 1: never."),
    minDeaths: builtIn(wholeNumber(1, 1_000_000), 20).describe("With fewer deaths of named assets it is `ok`."),
    window: builtIn(duration(hourMs, 30 * dayMs), "24h").describe(
      "The stretch of deaths that is judged; seven of them are judged too, and the smaller share decides.",
    ),
    maturity: builtIn(duration(leastRevivalMs, 60 * dayMs), "3d").describe("How long ago the judged deaths are."),
  },
} as const satisfies CheckSettings;

export type RegretLimits = Whole<typeof regretSettings.shape>;

export type RegretTarget = SettingsTarget<"regret", typeof regretSettings>;

/** Deaths whose asset was found alive later. */
export const regret = {
  holdsGate: true,
  isSaidByFinding: true,
  canLookBack: true,
  alertName: "FlatlineRegret",
  back: "fewer dead assets are found alive",
  settings: regretSettings,
  /** @throws FlatlineError unavailable when there are too many deaths to judge each */
  run: async (target: RegretTarget, run) => {
    const { slug, settings: limits } = target;
    const { nowMs, appUrl } = run;
    await readFirstEvent(target, run);
    const events = requireEvents(run, target.check);
    const judge = await judgeDeaths(slug, { nowMs, ...limits }, events);
    const shares = judge.shares(await events.events.firstEventAtMs(slug));
    return { result: evaluateRegret({ slug, nowMs, limits, shares, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

/** The deaths that are judged, and the time of the judgement. */
interface RegretAsk {
  readonly nowMs: number;
  readonly windowMs: number;
  /** The deaths are at least this old, so that a later look could undo them. */
  readonly maturityMs: number;
}

/** Deaths, and those whose asset was found alive, of one window and of seven; both end `maturityMs` ago. */
export interface RegretShares {
  readonly deaths: number;
  readonly revived: number;
  /** 0–1; null without deaths, or while the events do not reach back far enough. */
  readonly share: number | null;
  readonly longDeaths: number;
  readonly longRevived: number;
  readonly longShare: number | null;
}

// Some 100 MB; no organization that people watch has so many deaths.
const mostDeaths = 500_000;

/** Returns the instant after which looks count, epoch ms. */
function regretStartMs({ nowMs, windowMs, maturityMs }: RegretAsk): number {
  return nowMs - maturityMs - longWindows * windowMs;
}

/** Judges deaths by the later looks at their assets (CONTRACT 12). */
export class DeathJudge {
  readonly #ask: RegretAsk;
  readonly #deaths = { short: 0, long: 0 };
  readonly #revived = { short: 0, long: 0 };
  /** Deaths by asset that no later look has undone. */
  readonly #pending = new AssetBook<AssetLook[]>();
  #seen = 0;

  constructor(ask: RegretAsk) {
    this.#ask = ask;
  }

  /** Takes looks after `regretStartMs` in the order of their time. @throws unavailable with too many deaths */
  add(look: AssetLook): void {
    if (look.isDeath) return this.#addDeath(look);
    for (const [name, pending] of this.#pending.meant(look)) {
      // A look that finds an asset alive at the instant of its death does not undo it.
      const left = pending.filter(({ atMs }) => atMs >= look.atMs);
      for (const death of pending)
        if (look.atMs > death.atMs && look.atMs - death.atMs >= leastRevivalMs) this.#count(this.#revived, death);
      if (left.length === 0) this.#pending.delete(name);
      else this.#pending.set(name, left);
    }
  }

  shares(firstEventAtMs: number | null): RegretShares {
    const isCovered = firstEventAtMs !== null && firstEventAtMs <= regretStartMs(this.#ask);
    const shareOf = (stretch: "short" | "long"): number | null =>
      !isCovered || this.#deaths[stretch] === 0 ? null : this.#revived[stretch] / this.#deaths[stretch];
    return {
      deaths: this.#deaths.short,
      revived: this.#revived.short,
      share: shareOf("short"),
      longDeaths: this.#deaths.long,
      longRevived: this.#revived.long,
      longShare: shareOf("long"),
    };
  }

  #addDeath(death: AssetLook): void {
    const { nowMs, maturityMs } = this.#ask;
    if (death.atMs > nowMs - maturityMs) return;
    if (++this.#seen > mostDeaths)
      throw new FlatlineError("unavailable", `more than ${mostDeaths} deaths are too many to judge each`);
    this.#count(this.#deaths, death);
    const pending = this.#pending.get(death);
    if (pending === undefined) this.#pending.set(death, [death]);
    else pending.push(death);
  }

  #count(counts: { short: number; long: number }, { atMs, count }: AssetLook): void {
    const { nowMs, windowMs, maturityMs } = this.#ask;
    counts.long += count;
    if (atMs > nowMs - maturityMs - windowMs) counts.short += count;
  }
}

/** Reads page by page, so that other work can run between two pages. */
async function judgeDeaths(slug: string, ask: RegretAsk, { evidence }: StoredEvents): Promise<DeathJudge> {
  const judge = new DeathJudge(ask);
  const interval = { afterMs: regretStartMs(ask), untilMs: ask.nowMs };
  let after: EventPlace | null = null;
  for (;;) {
    const page = await evidence.assetEvents({ slug, interval, after });
    for (const look of page) judge.add(look);
    const last = page.at(-1);
    if (last === undefined) return judge;
    after = last;
    await eventLoopTurn();
  }
}

interface RegretInput extends Evaluation {
  readonly limits: RegretLimits;
  readonly shares: RegretShares;
}

/**
 * Returns the verdict over deaths whose asset was found alive later (CONTRACT 12). A checker that breaks slowly moves
 * its baseline, but not this share. The smaller share of one window and of seven decides: neither one bad hour nor an
 * incident that is over is enough.
 */
export function evaluateRegret(input: RegretInput): HealthcheckResult {
  const { limits, shares } = input;
  const { maturityMs } = limits;
  const { deaths, revived, share, longDeaths, longRevived, longShare } = shares;
  const decisive =
    share === null || longShare === null || longDeaths < limits.minDeaths ? 0 : Math.min(share, longShare);
  const severity = decisive > limits.failAbove ? "fail" : decisive > limits.warnAbove ? "warn" : "ok";
  return resultOf(input, {
    id: "regret",
    title: "Dead assets that were found alive",
    category: "assets",
    severity,
    observed: { deaths, revived, share, longDeaths, longRevived, longShare, maturitySeconds: maturityMs / secondMs },
    threshold: {
      warnAbove: limits.warnAbove,
      failAbove: limits.failAbove,
      minDeaths: limits.minDeaths,
      windowSeconds: limits.windowMs / secondMs,
    },
    findings: severity === "ok" ? [] : [findingOf(severity, input)],
    advice:
      "Look at what the liveness checker reported about the assets that were found alive: " +
      "while it is wrong about so many, close no takedown because of its deaths.",
  });
}

function findingOf(severity: Finding["severity"], { slug, nowMs, limits, shares }: RegretInput): Finding {
  const { windowMs, maturityMs } = limits;
  const { deaths, revived, longDeaths, longRevived, longShare } = shares;
  const until = new Date(nowMs - maturityMs).toISOString();
  const message =
    `${longRevived} of ${longDeaths} deaths (${formatPercent(longShare ?? 0)}) ` +
    `of the ${formatDuration(longWindows * windowMs)} before ${until} ` +
    `were found alive since, and ${revived} of ${deaths} of the last ${formatDuration(windowMs)} of them`;
  return { kind: "regret", ref: slug, severity, message };
}
