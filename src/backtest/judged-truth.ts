import { deathsBeginAtMs } from "../alerting/decide/gate.ts";
import { hourMs } from "../base/time.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import { leastApartMs } from "./score.ts";
import type { Incident } from "./truth.ts";

/**
 * Returns the truth by judgements: of verdict alerts of `dead-asset-spike`, those judged `checker` are incidents, those
 * judged `real` or `expected` are deaths that an alert may be about. Each from the instant at which its deaths began to
 * the last at which they were not usual: an alert stands until they have left the window. Stretches that no alert could
 * separate are one, as neighbouring days are in labels.
 */
export function judgedTruth(
  judged: readonly Alert[],
  /** The window is for alerts that do not know that of their check. */
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
  /** The truths by slug, without those of which nothing is judged; how many were judged so; when the first of their deaths began. */
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
