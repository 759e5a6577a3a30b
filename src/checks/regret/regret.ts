import { z } from "zod";

import { builtIn, type Whole } from "../../base/schema/section.ts";
import { duration, wholeNumber } from "../../base/schema/values.ts";
import { eventLoopTurn, dayMs, hourMs } from "../../base/time.ts";
import type { EventPlace } from "../../store/events/asset-events.ts";
import type { CheckedOrganization, CheckKind, CheckSettings, Evaluated, StoredEvents } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import { scheduleOf, type EventTarget } from "../target.ts";
import { evaluateRegret } from "./evaluate.ts";
import { DeathJudge, regretStartMs, leastRevivalMs, type RegretAsk } from "./shares.ts";

const share = z.number().gt(0).max(1);

/** `regret` in the configuration; off where nothing says it. */
const regretSettings = {
  key: "regret",
  needs: "holdsEvents",
  description:
    "The check `regret`: the share of deaths whose asset was found alive 6 h later or more. It runs where this is set (`regret: {}`), on the organization's schedule. Stored events only.",
  shape: {
    // Set by a measurement (docs/detection.md): of real mass deaths a median of 17 % was reversed within 60 days.
    warnAbove: builtIn(share, 0.45).describe(
      "`warn` when the assets of a larger share of the deaths were found alive; 1: never.",
    ),
    failAbove: builtIn(share, 0.65).describe(
      "`fail` when the assets of a larger share of the deaths were found alive; 1: never.",
    ),
    minDeaths: builtIn(wholeNumber({ min: 1, max: 1_000_000 }), 20).describe(
      "With fewer deaths of known assets in seven windows the verdict is `ok`.",
    ),
    window: builtIn(duration({ minMs: hourMs, maxMs: 30 * dayMs }), "24h").describe(
      "The stretch of deaths that is judged; seven of them are judged too, and the smaller share decides.",
    ),
    maturity: builtIn(duration({ minMs: leastRevivalMs, maxMs: 60 * dayMs }), "3d").describe(
      "How long ago the judged deaths are, so that they could be undone.",
    ),
  },
} as const satisfies CheckSettings;

export type RegretLimits = Whole<typeof regretSettings.shape>;

export interface RegretTarget extends EventTarget {
  readonly check: "regret";
  readonly limits: RegretLimits;
}

/** `regret` of the configuration; null: the check does not run. */
type RegretOrganization = CheckedOrganization & { readonly regret: RegretLimits | null };

/** Deaths whose asset was found alive later. */
export const regret = {
  holdsGate: true,
  isSaidByFinding: true,
  canLookBack: true,
  alertName: "FlatlineRegret",
  back: "fewer dead assets are found alive",
  settings: regretSettings,
  targetsOf: ({ regret: limits, ...organization }: RegretOrganization): RegretTarget[] => {
    const { slug, whenNoEvents } = organization;
    return limits === null ? [] : [{ check: "regret", slug, schedule: scheduleOf(organization), limits, whenNoEvents }];
  },
  /** @throws FlatlineError unavailable when there are too many deaths to judge each */
  run: async (target: RegretTarget, run): Promise<Evaluated> => {
    const { slug, limits } = target;
    const { nowMs, appUrl } = run;
    await readFirstEvent(target, run);
    const events = requireEvents(run, target.check);
    const judge = await judgeDeaths(slug, { nowMs, ...limits }, events);
    const shares = judge.shares(await events.events.firstEventAtMs(slug));
    return { result: evaluateRegret({ slug, nowMs, limits, shares, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

/** Page by page, each in a turn of its own: other work does not wait for all of them. */
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
