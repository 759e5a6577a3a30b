import { actOnAlert } from "../../alerting/acts/alert-acts.ts";
import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { alertViewer, type AlertView } from "../../alerting/view.ts";
import type { Actor } from "../../contract/actor.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/log.ts";
import type { Store } from "../../store/store.ts";
import { isStale, type Running } from "./running.ts";

/** An alert with facts from the store and its check. */
export type ShownAlert = Awaited<ReturnType<typeof showAlerts>>[number];

/** An alert, live or ended, with its judgements and comments. */
export type AlertDetail = NonNullable<Awaited<ReturnType<typeof findAlert>>>;

/** Adds notifications and last results to alerts. */
export async function showAlerts({ store, checks, clock }: Running, alerts: readonly AlertView[]) {
  const notified = await store.deliveries.firstAccepted(alerts.map(({ id }) => id));
  return alerts.map((one) => {
    const { check, slug, kind, id } = one;
    const state = one.end === null && kind === "verdict" ? checks.of(check, slug) : null;
    const report = state?.last?.lastReport;
    const isKnown = state !== null && report?.kind === "result" && !isStale(state, clock.nowMs());
    return {
      ...one,
      /** Time of the first accepted message about it; null: none. */
      notifiedAtMs: notified.get(id) ?? null,
      /** The last result of its check; null: an error, a stale result, an ended alert, or one of kind unknown. */
      lastResult: isKnown ? report : null,
    };
  });
}

/** Returns a live or a kept alert; null: unknown id. */
export async function findAlert(running: Running, alertId: string) {
  const { store, clock, settings } = running;
  const kept = await store.alerts.find(alertId);
  const view = await alertViewer(store, settings(), clock.nowMs());
  const [shown] = await showAlerts(running, kept === null ? [] : [view(kept)]);
  if (kept === null || shown === undefined) return null;
  return {
    ...shown,
    /** Oldest first, with withdrawn ones. */
    judgements: await store.log.judgementsOf(alertId),
    /** Oldest first, with those of acts. */
    comments: await store.log.commentsOf(kept),
    worstResult: await readStoredResult(store, kept),
  };
}

/** Applies an incident's act to one alert; returns its comment; null: none. @throws FlatlineError as actOnAlert */
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

// One report an hour is stored of a bad check: these cover the last eight days of an alert.
const mostReports = 200;

/** Returns an ended alert's last stored result at its peak severity, else its last one not ok; null: none. */
async function readStoredResult({ runs }: Store, { check, slug, kind, startsAtMs, peak, end }: Alert) {
  if (end === null || kind !== "verdict") return null;
  // A run has the time at which it was due; the alert may begin at that instant.
  const span = { fromMs: startsAtMs - 1, toMs: end.atMs };
  const found = (await runs.reports({ check, slug, ...span, limit: mostReports })).flatMap((report) =>
    report.kind === "result" && report.severity !== "ok" ? [report] : [],
  );
  const last = found.findLast(({ severity }) => severity === peak.severity) ?? found.at(-1);
  return last === undefined ? null : { result: last.result, atMs: last.startedAtMs };
}
