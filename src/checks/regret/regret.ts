import { eventLoopTurn, dayMs, hourMs } from "../../base/time.ts";
import type { EventPlace } from "../../store/events/asset-events.ts";
import type { CheckedOrganization, CheckKind, Evaluated, StoredEvents, CheckSettings } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import type { EventTarget } from "../target.ts";
import { evaluateRegret, type RegretLimits } from "./evaluate.ts";
import { DeathJudge, regretStartMs, leastRevivalMs, type RegretAsk } from "./shares.ts";
import { z } from "zod";
import { formatDuration } from "../../base/durations.ts";
import { layered } from "../../base/layers.ts";
import { duration, strictObject, wholeNumber } from "../../base/schema/values.ts";

/**
 * Set by a measurement (docs/detection.md): of real mass deaths a median of 17 % was reversed within 60 days.
 */
const builtin = {
  warnAbove: 0.45,
  failAbove: 0.65,
  minDeaths: 20,
  window: dayMs,
  maturity: 3 * dayMs,
} as const;
const share = z.number().gt(0).max(1);

const schema = strictObject({
  warnAbove: share
    .optional()
    .describe("`warn` when the assets of a larger share of the deaths were found alive; 1: never.")
    .meta({ default: builtin.warnAbove }),
  failAbove: share
    .optional()
    .describe("`fail` when the assets of a larger share of the deaths were found alive; 1: never.")
    .meta({ default: builtin.failAbove }),
  minDeaths: wholeNumber({ min: 1, max: 1_000_000 })
    .optional()
    .describe("With fewer deaths of known assets in seven windows the verdict is `ok`.")
    .meta({ default: builtin.minDeaths }),
  window: duration({ minMs: hourMs, maxMs: 30 * dayMs })
    .optional()
    .describe("The stretch of deaths that is judged; seven of them are judged too, and the smaller share decides.")
    .meta({ default: formatDuration(builtin.window) }),
  maturity: duration({ minMs: leastRevivalMs, maxMs: 60 * dayMs })
    .optional()
    .describe("How long ago the judged deaths are, so that they could be undone.")
    .meta({ default: formatDuration(builtin.maturity) }),
}).describe(
  "The check `regret`: the share of deaths whose asset was found alive 6 h later or more. It runs where this is set (`regret: {}`), on the organization's schedule. Stored events only.",
);

/** `regret` in the configuration; off where nothing says it. */
const regretSettings = {
  key: "regret",
  needs: "holdsEvents",
  schema,
  switchOf: () => [],
  resolve: (layers: readonly (z.output<typeof schema> | undefined)[]): RegretLimits | null => {
    if (layers.every((layer) => layer === undefined)) return null;
    const { window, maturity, ...limits } = layered(builtin, ...layers);
    return { ...limits, windowMs: window, maturityMs: maturity };
  },
  describe: ({ windowMs, maturityMs, ...limits }: RegretLimits) => ({
    ...limits,
    window: formatDuration(windowMs),
    maturity: formatDuration(maturityMs),
  }),
} as const satisfies CheckSettings;

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
  targetsOf: ({ slug, schedule, whenNoEvents, regret: limits }: RegretOrganization): RegretTarget[] =>
    limits === null ? [] : [{ check: "regret", slug, schedule, limits, whenNoEvents }],
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
