import { deathsBeginAtMs } from "../alerting/decide/gate.ts";
import { hourMs } from "../base/time.ts";
import type { JudgementVerdict } from "../contract/judgement.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import { leastApartMs } from "./score.ts";
import type { Incident, Truth } from "./truth.ts";

/** The judgements of people on the alerts of a fleet, as a truth for replays. */
export interface JudgedTruth {
  /** The truths by slug; an organization without a judgement is absent. */
  readonly truths: ReadonlyMap<string, Truth>;
  /** How many alerts were judged so. */
  readonly counts: Readonly<Record<JudgementVerdict, number>>;
  /** Instant at which the deaths of the first judged alert began; before it nothing is known. null: nothing is judged. */
  readonly sinceMs: number | null;
}

export interface JudgedTruthAsk {
  readonly nowMs: number;
  /** Returns the window for alerts that do not know that of their check. */
  readonly windowHoursOf: (slug: string) => number;
}

/**
 * Returns the truth by judgements: of verdict alerts of `dead-asset-spike`, those judged `checker` are incidents, those
 * judged `real` or `expected` are deaths that an alert may be about. Each from the instant at which its deaths began to the last
 * at which they were not usual: an alert stands until they have left the window. Stretches that no alert could separate are
 * one, as neighbouring days are in labels.
 */
export function judgedTruth(judged: readonly Alert[], { nowMs, windowHoursOf }: JudgedTruthAsk): JudgedTruth {
  const counts = { checker: 0, real: 0, expected: 0 };
  const found = new Map<string, { incidents: Incident[]; massDeaths: Incident[] }>();
  let sinceMs: number | null = null;
  for (const alert of judged) {
    const verdict = alert.judgement?.verdict;
    if (!isSpike(alert) || verdict === undefined) continue;
    const windowHours = alert.windowHours ?? windowHoursOf(alert.slug);
    const fromMs = deathsBeginAtMs(alert, windowHours);
    const toMs = alert.end === null ? nowMs : Math.max(fromMs, alert.end.atMs - windowHours * hourMs);
    const truth = found.get(alert.slug) ?? { incidents: [], massDeaths: [] };
    found.set(alert.slug, truth);
    (verdict === "checker" ? truth.incidents : truth.massDeaths).push({ fromMs, toMs });
    counts[verdict]++;
    sinceMs = Math.min(sinceMs ?? fromMs, fromMs);
  }
  const truths = [...found].map(([slug, { incidents, massDeaths }]) => {
    return [slug, { incidents: joined(incidents), massDeaths: joined(massDeaths) }] as const;
  });
  return { truths: new Map(truths), counts, sinceMs };
}

/** Returns whether an alert is one that a replay makes, too. */
export function isSpike({ check, kind }: Pick<Alert, "check" | "kind">): boolean {
  return check === "dead-asset-spike" && kind === "verdict";
}

function joined(stretches: readonly Incident[]): Incident[] {
  const found: Incident[] = [];
  for (const stretch of stretches.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const last = found.at(-1);
    if (last === undefined || stretch.fromMs > last.toMs + leastApartMs) found.push(stretch);
    else found[found.length - 1] = { ...last, toMs: Math.max(last.toMs, stretch.toMs) };
  }
  return found;
}
