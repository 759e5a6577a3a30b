import { deathsBeginAtMs } from "../alerting/decide/gate.ts";
import { hourMs } from "../base/time.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import { leastApartMs } from "./score.ts";
import type { Incident } from "./truth.ts";

/**
 * Returns the truth from judgements of `dead-asset-spike` verdicts: `checker` gives incidents, `real` and `expected`
 * mass deaths. Each lasts from its first death to the last unusual one, a window before the alert's end. Incidents too
 * close for an alert between them are one.
 */
export function judgedTruth(
  judged: readonly Alert[],
  /** `windowHoursOf` is for alerts without a window of their own. */
  { nowMs, windowHoursOf }: { readonly nowMs: number; readonly windowHoursOf: (slug: string) => number },
) {
  const counts = { checker: 0, real: 0, expected: 0 };
  const found = new Map<string, { incidents: Incident[]; massDeaths: Incident[] }>();
  let sinceMs: number | null = null;
  for (const alert of judged) {
    const verdict = alert.judgement?.verdict;
    if (alert.check !== "dead-asset-spike" || alert.kind !== "verdict" || verdict === undefined) continue;
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
  /** Truths of judged organizations by slug, the number of each judgement, and when the first deaths began. */
  return { truths: new Map(truths), counts, sinceMs };
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
