import { deathsBeginAtMs } from "../../alerting/decide/gate.ts";
import { stretchOf } from "../../alerting/decide/stretch.ts";
import type { JudgedStretch } from "../../contract/judgement.ts";
import { readRegret } from "../../daemon/evidence/regret-reading.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import type { Regret } from "../../evidence/regret.ts";
import type { KeptAlert } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import type { ExplainedJudgement } from "./explanation.ts";

/**
 * Returns the spike alerts of an organization that were judged by an instant, as that judgement and their end stood then: what
 * was said or happened later is left out.
 */
export async function judgedBy(
  { alerts, judgements }: Pick<Store, "alerts" | "judgements">,
  slug: string,
  atMs: number,
): Promise<KeptAlert[]> {
  const said = (await judgements.ofOrganization(slug)).filter((entry) => entry.atMs <= atMs);
  const last = [...new Map(said.map((entry) => [entry.alertId, entry])).values()];
  const found: KeptAlert[] = [];
  for (const { alertId, check, verdict, comment, by, note, atMs: judgedAtMs } of last) {
    if (verdict === null || check !== "dead-asset-spike") continue;
    const kept = await alerts.find(alertId);
    if (kept?.alert.kind !== "verdict") continue;
    const judgement = { verdict, comment, by, note, atMs: judgedAtMs };
    found.push({
      alert: { ...kept.alert, judgement },
      end: kept.end !== null && kept.end.atMs <= atMs ? kept.end : null,
    });
  }
  return found;
}

/** Returns what leaves the baseline of these. */
export function stretchesOf(judged: readonly KeptAlert[], windowHours: number): JudgedStretch[] {
  return judged.flatMap((kept) => stretchOf(kept, windowHours) ?? []);
}

/** Returns what was said of alerts whose deaths lie in a stretch of time, the oldest alert first. */
export function judgementsIn(
  judged: readonly KeptAlert[],
  { afterMs, untilMs }: Interval,
  windowHours: number,
): ExplainedJudgement[] {
  return judged
    .flatMap(({ alert, end }): ExplainedJudgement[] => {
      const { id: alertId, judgement } = alert;
      if (judgement === undefined) return [];
      const { verdict, comment, by, atMs } = judgement;
      const fromMs = deathsBeginAtMs(alert, windowHours);
      return [{ alertId, verdict, comment, by, atMs, fromMs, toMs: end?.atMs ?? null }];
    })
    .filter(({ fromMs, toMs }) => fromMs <= untilMs && (toMs ?? untilMs) > afterMs)
    .toSorted((left, right) => left.fromMs - right.fromMs);
}

/** Returns how many deaths of the window had been undone by its end; `knownAtMs` counts only what had arrived by then. */
export function revivalsOf(
  evidence: Store["evidence"],
  { slug, window, knownAtMs }: { readonly slug: string; readonly window: Interval; readonly knownAtMs?: number },
  signal: AbortSignal,
): Promise<Regret | null> {
  const store: Pick<Store["evidence"], "assetEvents"> = {
    assetEvents: (query) => evidence.assetEvents({ ...query, ...(knownAtMs === undefined ? {} : { knownAtMs }) }),
  };
  return readRegret(store, { slug, deaths: window, untilMs: window.untilMs }, signal);
}
