import { proposeJudgement, speaksForChecker } from "../../../contract/judgement.ts";
import type { AlertState } from "../../../store/alerts/alerts.ts";
import type { WordSubject } from "../../parts/words.ts";
import type { PageActRules, PageAlert } from "../ports.ts";
import type { BulkSubject, HoldFacts } from "./act-facts.ts";

export type AlertGroup = "firing" | "acknowledged" | "pending" | "silenced" | "ended";

/** Open ones first, as they are shown. */
export const alertGroups: readonly AlertGroup[] = ["firing", "acknowledged", "pending", "silenced", "ended"];

/** In which part of the list an alert stands. */
export function groupOf({ alert, endsAtMs, isSilenced }: PageAlert): AlertGroup {
  if (endsAtMs !== null) return "ended";
  if (alert.state === "pending") return "pending";
  if (isSilenced) return "silenced";
  return alert.acknowledgement === null ? "firing" : "acknowledged";
}

/** Returns when its deaths began; where unknown, the first run that was not ok. */
export function beganMs({ onset, startsAtMs }: AlertState): number {
  return onset?.atMs ?? startsAtMs;
}

/** Returns the last of its people: who judged it, else who acknowledged it. */
export function whoOf({ judgement, acknowledgement }: AlertState): string | null {
  if (judgement !== undefined && judgement.atMs >= (acknowledgement?.atMs ?? 0)) return judgement.by;
  return acknowledgement?.by ?? null;
}

/** Returns the share of its deaths that were undone, 0–1; null: unknown. */
export function undoneShare({ deaths }: Pick<PageAlert, "deaths">): number | null {
  return deaths === null || deaths.judgedCount === 0 ? null : deaths.revivedCount / deaths.judgedCount;
}

/** Returns whether so many of its deaths were undone that the checker was wrong. */
export function isMuchUndone({ deaths }: Pick<PageAlert, "deaths">): boolean {
  const share = undoneShare({ deaths });
  return deaths !== null && share !== null && speaksForChecker({ revivedCount: deaths.revivedCount, share });
}

/** Returns the judgement that its undone deaths propose; null: none. */
export function proposalOf({ deaths, alert }: Pick<PageAlert, "deaths" | "alert">): string | null {
  const share = undoneShare({ deaths });
  if (deaths === null || share === null || alert.judgement !== undefined) return null;
  return proposeJudgement({ revivedCount: deaths.revivedCount, share });
}

/** Returns what the words of the filter are held against. */
export function alertSubject(view: PageAlert, nowMs: number): WordSubject {
  const { alert, endsAtMs, labels } = view;
  const group = groupOf(view);
  return {
    slug: alert.slug,
    labels,
    names: [alert.severity, group, alert.check, ...(group === "acknowledged" ? ["firing"] : [])],
    undone: undoneShare(view),
    who: whoOf(alert),
    judged: alert.judgement?.verdict ?? null,
    lastedMs: (endsAtMs ?? nowMs) - beganMs(alert),
  };
}

/** Returns what the dialogs need of an alert; `rules` is null where its organization is not configured. */
export function bulkSubject(view: PageAlert, rules: PageActRules | null, hold: HoldFacts): BulkSubject {
  const { alert, endsAtMs } = view;
  const { id, slug, severity, check, kind, state, acknowledgement, judgement, peak } = alert;
  const isSpike = check === "dead-asset-spike" && kind === "verdict";
  return {
    id,
    slug,
    severity,
    group: groupOf(view),
    isAcknowledged: acknowledgement !== null,
    verdict: judgement?.verdict ?? null,
    isMember: isSpike && state === "firing" && endsAtMs === null && rules !== null,
    deaths: isSpike ? peak.currentCount : null,
    undone: undoneShare(view),
    isHeld: hold.now || hold.others > 0,
    releaseOn: rules?.releaseOn ?? [],
    hold,
    hasReminders: (rules?.repeatIntervalMs ?? 0) > 0,
  };
}
