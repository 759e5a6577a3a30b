import { actOnAlert } from "../../alerting/acts/alert-acts.ts";
import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { alertViewer, type AlertView } from "../../alerting/view.ts";
import type { Actor } from "../../contract/actor.ts";
import type { ResultReport } from "../../contract/report.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { AlertComment, JudgementEntry } from "../../store/alerts/log.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { isStale, type Running } from "./running.ts";

/** A live alert with what the configuration that holds now says of its organization. */
export interface AlertSnapshot {
  /** When a receiver first accepted a message about it; null: none did. */
  readonly notifiedAtMs: number | null;
  readonly state: Alert;
  /** What the last run of its check found; null: it gave no result or is stale, or the alert is over or not about a verdict. */
  readonly lastResult: ResultReport | null;
  readonly silenced: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Where a reader goes from here; null when there is nowhere. */
  readonly url: string | null;
}

/** An alert, live or ended, with all that people said of it. */
export interface AlertDetail extends AlertSnapshot {
  /** null while it lives. */
  readonly endsAtMs: number | null;
  /** Oldest first, what was withdrawn included. */
  readonly judgements: readonly JudgementEntry[];
  /** Oldest first, those that came with acts included. */
  readonly comments: readonly AlertComment[];
  /** What a run found when it was at its worst, of one that is over; null: it lives, or nothing of it is kept. */
  readonly worstResult: (Pick<ResultReport, "result"> & { readonly atMs: number }) | null;
}

/** Alerts as the API shows them, and what people do with one. */
export type AlertReading = ReturnType<typeof createAlertReading>;

/** Returns the readings over what runs. */
export function createAlertReading(running: Running) {
  const { store, clock, settings, checks } = running;

  /** What the last run found of what a live alert is about, unless it is stale. */
  function lastResultOf({ check, slug, kind }: Alert): ResultReport | null {
    const state = checks.of(check, slug);
    const report = state?.lastReport;
    if (state === null || report?.kind !== "result" || kind !== "verdict") return null;
    return isStale(state, clock.nowMs()) ? null : report;
  }

  /** An alert that has ended is shown without a silence, and without the last result. */
  async function snapshots(kept: readonly Alert[]): Promise<readonly AlertSnapshot[]> {
    const view = await alertViewer(store, settings(), clock.nowMs());
    const notified = await store.deliveries.firstAccepted(kept.map((alert) => alert.id));
    return kept.map((one) => snapshotOf(view(one), notified, one.end === null ? lastResultOf(one) : null));
  }

  async function find(alertId: string): Promise<AlertDetail | null> {
    const kept = await store.alerts.find(alertId);
    const [snapshot] = kept === null ? [] : await snapshots([kept]);
    if (kept === null || snapshot === undefined) return null;
    return {
      ...snapshot,
      endsAtMs: kept.end?.atMs ?? null,
      judgements: await store.log.judgementsOf(alertId),
      comments: await store.log.commentsOf(kept),
      worstResult: await readStoredResult(store.runs, kept),
    };
  }

  return {
    /** Firing before pending, then the oldest first. */
    list: async (): Promise<readonly AlertSnapshot[]> => {
      const { alerts } = await running.fleet();
      const notified = await store.deliveries.firstAccepted(alerts.map((alert) => alert.id));
      return alerts.map((one) => snapshotOf(one, notified, lastResultOf(one)));
    },
    /** Returns alerts that are live, or have ended and are kept, in their order. */
    snapshots,
    /** Does what its incident's act does to this member; returns the comment that is kept of it. @throws FlatlineError as actOnAlert */
    act: async (alertId: string, act: IncidentAct, author: Actor): Promise<AlertComment | null> => {
      const context = { settings: settings(), nowMs: clock.nowMs(), newId: running.newId };
      const { changed, comment } = await actOnAlert(store, context, { alertId, act, author });
      if (act.kind === "judge") for (const alert of changed) running.onJudged(alert.check, act.verdict);
      running.onAct();
      return comment;
    },
    /** Live, or ended and still kept; null: there is none. */
    find,
  };
}

function snapshotOf(
  alert: AlertView,
  notified: ReadonlyMap<string, number>,
  lastResult: ResultReport | null,
): AlertSnapshot {
  const { labels = {}, url = null } = alert.target ?? {};
  return {
    state: alert,
    lastResult,
    silenced: alert.isSilenced,
    notifiedAtMs: notified.get(alert.id) ?? null,
    labels,
    url,
  };
}

// Of what is not ok a report is stored once an hour: the last eight days of an alert, and of a longer one that is enough.
const mostReports = 200;

/**
 * Returns the last stored result of an alert that is over, of a run in which it was as bad as it ever was; where none of
 * these is kept, of one in which it was not ok. Null: it lives, it is of kind unknown, or the history has none any more.
 */
async function readStoredResult(
  runs: Pick<StoreParts["runs"], "reports">,
  { check, slug, kind, startsAtMs, peak, end }: Alert,
): Promise<AlertDetail["worstResult"]> {
  if (end === null || kind !== "verdict") return null;
  // A run counts from when it was due, and its report is stored when it is over.
  const span = { fromMs: startsAtMs - 1, toMs: end.atMs };
  const found = (await runs.reports({ check, slug, ...span, limit: mostReports })).flatMap((report) =>
    report.kind === "result" && report.severity !== "ok" ? [report] : [],
  );
  const last = found.findLast(({ severity }) => severity === peak.severity) ?? found.at(-1);
  return last === undefined ? null : { result: last.result, atMs: last.startedAtMs };
}
