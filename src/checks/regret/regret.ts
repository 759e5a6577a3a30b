import { eventLoopTurn } from "../../base/time.ts";
import type { EventPlace } from "../../store/events/asset-events.ts";
import type { EventReads } from "../event-reads.ts";
import type { CheckedOrganization, CheckKind, Evaluated } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import type { EventTarget } from "../target.ts";
import { evaluateRegret, type RegretLimits } from "./evaluate.ts";
import { regretSettings } from "./settings.ts";
import { DeathJudge, regretShares, regretStartMs, type JudgedDeaths } from "./shares.ts";

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
    limits === null
      ? []
      : [{ check: "regret", slug, schedule, limits, ...(whenNoEvents === null ? {} : { whenNoEvents }) }],
  /** @throws FlatlineError unavailable when there are too many deaths to judge each */
  run: async (target: RegretTarget, run): Promise<Evaluated> => {
    const { slug, limits } = target;
    const { nowMs, appUrl } = run;
    await readFirstEvent(target, run);
    const events = requireEvents(run, target.check);
    const { windowMs, maturityMs } = limits;
    const deaths = await judgedDeaths(slug, regretStartMs({ nowMs, windowMs, maturityMs }), nowMs, events);
    const firstEventAtMs = await events.firstEventAtMs(slug);
    const shares = regretShares(deaths, { nowMs, windowMs, maturityMs, firstEventAtMs });
    return { result: evaluateRegret({ slug, nowMs, limits, shares, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

/** Page by page, each in a turn of its own: other work does not wait for all of them. */
async function judgedDeaths(
  slug: string,
  afterMs: number,
  untilMs: number,
  { evidence }: EventReads,
): Promise<JudgedDeaths> {
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
