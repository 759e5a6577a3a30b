import { actOnAlert } from "../../alerting/acts/alert-acts.ts";
import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { alertViewer, type AlertView } from "../../alerting/view.ts";
import type { Actor } from "../../contract/actor.ts";
import type { ResultReport } from "../../contract/report.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/log.ts";
import { isStale, type Running } from "./running.ts";

/** An alert as it stands now, and what is known beside it. */
export interface ShownAlert extends AlertView {
  /** When a receiver first accepted a message about it; null: none did. */
  readonly notifiedAtMs: number | null;
  /** What the last run of its check found; null: it gave no result or is stale, or the alert is over or not about a verdict. */
  readonly lastResult: ResultReport | null;
}

/** An alert, live or ended, with all that people said of it. */
export type AlertDetail = NonNullable<Awaited<ReturnType<typeof findAlert>>>;

/** Returns them in their order. */
export async function showAlerts(
  { store, checks, clock }: Pick<Running, "store" | "checks" | "clock">,
  alerts: readonly AlertView[],
): Promise<readonly ShownAlert[]> {
  const notified = await store.deliveries.firstAccepted(alerts.map(({ id }) => id));
  return alerts.map((one) => {
    const { check, slug, kind, id } = one;
    const state = one.end === null && kind === "verdict" ? checks.of(check, slug) : null;
    const report = state?.last?.lastReport;
    const isKnown = state !== null && report?.kind === "result" && !isStale(state, clock.nowMs());
    return { ...one, notifiedAtMs: notified.get(id) ?? null, lastResult: isKnown ? report : null };
  });
}

/** Live, or ended and still kept; null: there is none. */
export async function findAlert(running: Running, alertId: string) {
  const { store, clock, settings } = running;
  const kept = await store.alerts.find(alertId);
  if (kept === null) return null;
  const view = await alertViewer(store, settings(), clock.nowMs());
  const [shown] = await showAlerts(running, [view(kept)]);
  return {
    ...(shown as ShownAlert),
    /** Oldest first, what was withdrawn included. */
    judgements: await store.log.judgementsOf(alertId),
    /** Oldest first, those that came with acts included. */
    comments: await store.log.commentsOf(kept),
    worstResult: await readStoredResult(store.runs, kept),
  };
}

/** Does what its incident's act does to this member; returns the comment that is kept of it. @throws FlatlineError as actOnAlert */
export async function actOnOne(
  running: Running,
  alertId: string,
  act: IncidentAct,
  author: Actor,
): Promise<AlertComment | null> {
  const { store, clock, settings, newId } = running;
  const context = { settings: settings(), nowMs: clock.nowMs(), newId };
  const { changed, comment } = await actOnAlert(store, context, { alertId, act, author });
  if (act.kind === "judge") for (const { check } of changed) running.onJudged(check, act.verdict);
  running.onAct();
  return comment;
}

// Of what is not ok a report is stored once an hour: the last eight days of an alert, and of a longer one that is enough.
const mostReports = 200;

/**
 * Returns the last stored result of an alert that is over, of a run in which it was as bad as it ever was; where none of
 * these is kept, of one in which it was not ok. Null: it lives, it is of kind unknown, or the history has none any more.
 */
async function readStoredResult(
  runs: Pick<Running["store"]["runs"], "reports">,
  { check, slug, kind, startsAtMs, peak, end }: Alert,
) {
  if (end === null || kind !== "verdict") return null;
  // A run counts from when it was due, and its report is stored when it is over.
  const span = { fromMs: startsAtMs - 1, toMs: end.atMs };
  const found = (await runs.reports({ check, slug, ...span, limit: mostReports })).flatMap((report) =>
    report.kind === "result" && report.severity !== "ok" ? [report] : [],
  );
  const last = found.findLast(({ severity }) => severity === peak.severity) ?? found.at(-1);
  return last === undefined ? null : { result: last.result, atMs: last.startedAtMs };
}
