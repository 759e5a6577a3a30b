import { acknowledgeAlert } from "../../alerting/acknowledge.ts";
import { mostStartingAlike } from "../../contract/alert-id.ts";
import type { AlertState, KeptAlert } from "../../store/alerts/alerts.ts";
import { unacknowledgeAlert } from "../../alerting/unacknowledge.ts";
import { commentOnAlert } from "../../alerting/acts/comment.ts";
import { judgeAlert, type ActContext } from "../../alerting/acts/judge.ts";
import type { SilenceBook } from "../../alerting/silence-book.ts";
import { alertViewer, readAlertingView, viewFleet, type AlertView } from "../../alerting/view.ts";
import { secondMs, type Clock } from "../../base/time.ts";
import { describeConfig } from "../../config/render.ts";
import type { Actor } from "../../contract/actor.ts";
import { isSpike } from "../../checks/checks.ts";
import type { CheckName, ResultReport } from "../../contract/report.ts";
import type { AppMetrics } from "../../metrics/app-metrics.ts";
import type { Prober } from "../../monitor/probe.ts";
import type { Scheduler } from "../../monitor/scheduler.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { History } from "../../store/runs/history.ts";
import type { Store } from "../../store/store.ts";
import type { AlertDetail, AlertSnapshot } from "../../web/ports/alerts.ts";
import type { CheckSnapshot, CheckState } from "../../web/ports/checks.ts";
import type { AlertAssetsPort } from "../../web/ports/dead-assets.ts";
import type { EventsPort, UnwatchedPort } from "../../web/ports/events.ts";
import type { GatePort } from "../../web/ports/gate.ts";
import type { HealthVerdict } from "../../web/ports/health.ts";
import type { MarkersPort } from "../../web/ports/markers.ts";
import { createIncidentReading } from "../../web/read/incidents.ts";
import type { Running } from "../../web/read/running.ts";
import type { WebOptions } from "../../web/web.ts";
import type { CheckStates } from "../check-states.ts";
import type { DiscoveredFleet } from "../applied/discovered-fleet.ts";
import { createFleetGauges } from "../fleet-gauges.ts";
import { readStoredResult } from "../evidence/stored-result.ts";
import type { FleetView } from "../fleet-view.ts";
import type { Applied, Runtime } from "../runtime.ts";
import { createOutboxPort } from "./outbox.ts";
import { createSessionsPort } from "./sessions.ts";

export interface WebPortsOptions {
  readonly store: Store;
  readonly states: CheckStates;
  readonly runtime: Runtime;
  readonly history: History;
  readonly clock: Clock;
  readonly metrics: AppMetrics;
  readonly discovered: Pick<DiscoveredFleet, "gauges">;
  readonly fleet: Pick<FleetView, "refresh" | "showNoted" | "isStoreAway" | "storeProblem">;
  readonly prober: Prober;
  readonly scheduler: Scheduler;
  readonly silences: SilenceBook;
  readonly markers: MarkersPort;
  readonly gate: GatePort;
  /** null while the source is not a local one. */
  readonly ingest: EventsPort | null;
  readonly unwatched: UnwatchedPort;
  readonly alertAssets: AlertAssetsPort;
  /** Begins a look at an incident. */
  readonly look: Running["look"];
  readonly endedAlerts: WebPorts["checks"]["ended"];
  /** What has stalled, in words; empty: all is well. */
  readonly health: () => readonly string[];
  readonly isStopping: () => boolean;
  readonly reload: (author: Actor) => Promise<void>;
  /** Called after an alert was acknowledged or judged. */
  readonly onAct: () => void;
  /** Ids of test notifications, unique over all time. */
  readonly newId: () => string;
  /** Called after an entry was queued again. */
  readonly onOutboxChanged: () => void;
}

type WebPorts = Pick<
  WebOptions,
  | "access"
  | "externalUrl"
  | "renderMetrics"
  | "probe"
  | "health"
  | "reload"
  | "checks"
  | "alerts"
  | "alertAssets"
  | "incidents"
  | "running"
  | "sessions"
  | "silences"
  | "markers"
  | "gate"
  | "events"
  | "outbox"
  | "audit"
  | "showConfiguration"
  | "unwatched"
>;

/** Creates the rooms as the HTTP server sees them. */
export function createWebPorts(options: WebPortsOptions): WebPorts {
  const { store, states, runtime, clock, metrics, prober, scheduler, silences } = options;
  const current = (): Applied => runtime.current();
  const gauges = createFleetGauges({ ...options, isStoreAway: () => options.fleet.isStoreAway() });

  const actContext = (): ActContext => ({ store, settings: current().settings, nowMs: clock.nowMs() });

  const running: Running = {
    store,
    clock,
    history: options.history,
    checks: states,
    source: () => {
      const { source } = current().config;
      return source.isLocal ? source.type : new URL(source.baseUrl).host;
    },
    holdsEvents: () => current().config.source.holdsEvents,
    thresholdsOf: (slug) => {
      const target = current().targetByKey.get(checkKey({ check: "dead-asset-spike", slug }));
      return target !== undefined && isSpike(target) ? target.thresholds : null;
    },
    countsAssets: (slug) => current().ruleOf(slug).count === "assets",
    settings: () => current().settings,
    canLook: () => current().looks !== null,
    look: options.look,
    newId: options.newId,
    onAct: options.onAct,
    onJudged: (check, verdict) => metrics.alertJudged(check, verdict),
  };

  async function alertsByCheck(): Promise<Map<string, AlertView[]>> {
    const { alerts } = await readAlertingView(store, current().settings, clock.nowMs());
    return Map.groupBy(alerts, ({ alert }) => checkKey(alert));
  }

  function snapshot(state: CheckState, alerts: readonly AlertView[]): CheckSnapshot {
    return {
      state,
      alerts: alerts.map(({ alert, isSilenced }) => ({ ...alert, silenced: isSilenced })),
      staleAfterMs: states.staleAfterMs(state),
      ...states.paceOf(state),
    };
  }

  /** What the last run found of what a live alert is about, unless it is stale. */
  function lastResultOf({ check, slug, kind }: AlertState): ResultReport | null {
    const state = states.of(check, slug);
    const report = state?.lastReport;
    if (state === null || report?.kind !== "result" || kind !== "verdict") return null;
    return clock.nowMs() - report.finishedAtMs > states.staleAfterMs(state) ? null : report;
  }

  async function alertSnapshots(views: readonly AlertView[]): Promise<AlertSnapshot[]> {
    const notified = await store.deliveries.firstAccepted(views.map(({ alert }) => alert.id));
    return views.map((view) => alertSnapshot(view, notified, lastResultOf(view.alert)));
  }

  /** Of what is over, no silence holds anything back, and the last result speaks no longer. */
  async function snapshots(kept: readonly KeptAlert[]): Promise<readonly AlertSnapshot[]> {
    const view = await alertViewer(store, current().settings, clock.nowMs());
    const notified = await store.deliveries.firstAccepted(kept.map(({ alert }) => alert.id));
    return kept.map(({ alert, end }) => {
      const seen = view(alert);
      if (end === null) return alertSnapshot(seen, notified, lastResultOf(alert));
      return alertSnapshot({ ...seen, isSilenced: false }, notified, null);
    });
  }

  /** The alert as it is now; as the act left it, when it has ended since. */
  async function afterAct(left: AlertState): Promise<AlertSnapshot> {
    const live = await store.alerts.byId(left.id);
    const view = await alertViewer(store, current().settings, clock.nowMs());
    const notified = await store.deliveries.firstAccepted([left.id]);
    if (live === null) return alertSnapshot({ alert: left, isSilenced: false, target: null }, notified, null);
    return alertSnapshot(view(live), notified, lastResultOf(live));
  }

  async function find(alertId: string): Promise<AlertDetail | null> {
    const kept = await store.alerts.find(alertId);
    if (kept === null) return null;
    const { alert, end } = kept;
    const [snapshot] = await snapshots([kept]);
    if (snapshot === undefined) return null;
    return {
      ...snapshot,
      endsAtMs: end?.atMs ?? null,
      judgements: await store.judgements.of(alertId),
      comments: await store.comments.of(alert),
      worstResult: await readStoredResult(store.runs, kept),
      history: await store.alertHistory.of(alertId),
    };
  }

  return {
    access: () => {
      const { server, alerting } = current().config;
      return { ...server, externalUrl: alerting.externalUrl };
    },
    externalUrl: () => current().config.alerting.externalUrl,
    renderMetrics: async (format, encoding) => {
      await options.fleet.refresh().catch(ignore);
      const read = await gauges();
      options.fleet.showNoted();
      return metrics.render(format, encoding, read);
    },
    probe: async (check, slug, timeoutMs) => {
      const target = current().targetByKey.get(checkKey({ check, slug }));
      return target === undefined ? null : prober.probe(target, timeoutMs);
    },
    health: {
      isHealthy: () => verdict(options.health()),
      isReady: () => {
        const reasons = [
          options.isStopping() ? "flatline is stopping" : null,
          options.fleet.isStoreAway() ? "the store cannot be reached" : null,
          options.fleet.storeProblem(),
        ];
        return verdict(reasons.filter((reason) => reason !== null));
      },
    },
    reload: options.reload,
    checks: {
      names: () => current().checkNames,
      list: async () => {
        const alerts = await alertsByCheck();
        return states.all().map((state) => snapshot(state, alerts.get(checkKey(state)) ?? []));
      },
      get: async (check, slug) => {
        const state = states.of(check, slug);
        if (state === null) return null;
        return snapshot(state, (await alertsByCheck()).get(checkKey(state)) ?? []);
      },
      ended: options.endedAlerts,
      runNow: async (check: CheckName, slug: string, author: Actor) => {
        // A person wants an answer now, and may know that the service answers again.
        current().checkDeps.source.endPause?.(slug);
        const report = await scheduler.runNow(check, slug, clock.timeout(current().runTimeoutMs + runNowMarginMs));
        const { severity } = report;
        await store.audit.append({
          atMs: clock.nowMs(),
          actor: author,
          action: "run",
          slug,
          subject: check,
          detail: { severity },
        });
        return report;
      },
    },
    alerts: {
      list: async () => {
        const view = await readAlertingView(store, current().settings, clock.nowMs());
        const reportOf = (slug: string) => states.of("dead-asset-spike", slug)?.lastResultReport ?? null;
        return { alerts: await alertSnapshots(view.alerts), fleet: viewFleet(view, reportOf) };
      },
      snapshots,
      slugOf: async (alertId) => (await store.alerts.find(alertId))?.alert.slug ?? null,
      startingWith: (prefix) => store.alerts.idsFrom(prefix, mostStartingAlike),
      acknowledge: async (alertId, author, comment, mayOpenGate) => {
        const acknowledged = await acknowledgeAlert(actContext(), { alertId, author, comment, mayOpenGate });
        options.onAct();
        return afterAct(acknowledged);
      },
      unacknowledge: async (alertId, author) => {
        const open = await unacknowledgeAlert(store, {
          alertId,
          author,
          nowMs: clock.nowMs(),
          settings: current().settings,
        });
        options.onAct();
        return afterAct(open);
      },
      comment: async (alertId, author, text) => {
        const comment = await commentOnAlert(actContext(), { alertId, author, text });
        options.onAct();
        return comment;
      },
      find,
      judge: async (alertId, verdict, said) => {
        const { alert } = await judgeAlert(actContext(), { alertId, verdict, ...said });
        if (verdict !== null) metrics.alertJudged(alert.check, verdict);
        options.onAct();
        return find(alertId);
      },
    },
    running,
    incidents: createIncidentReading(running),
    sessions: createSessionsPort(store),
    silences: {
      ...silences,
      slugOf: async (id) => (await store.silences.byId(id))?.slug ?? null,
    },
    markers: options.markers,
    gate: options.gate,
    events: () => options.ingest,
    outbox: createOutboxPort({ ...options, onChanged: options.onOutboxChanged }),
    unwatched: options.unwatched,
    alertAssets: options.alertAssets,
    audit: store.audit,
    showConfiguration: () => describeConfig(current().config),
  };
}

function verdict(reasons: readonly string[]): HealthVerdict {
  return { ok: reasons.length === 0, reasons };
}

function ignore(): void {
  // What others ran is shown when it can be read.
}

function alertSnapshot(
  { alert, isSilenced, target }: AlertView,
  notified: ReadonlyMap<string, number>,
  lastResult: ResultReport | null,
): AlertSnapshot {
  const notifiedAtMs = notified.get(alert.id) ?? null;
  const { labels = {}, url = null } = target ?? {};
  return { state: alert, lastResult, silenced: isSilenced, notifiedAtMs, labels, url };
}

/** For a run that waits for its place, beyond the run itself. */
export const runNowMarginMs = 10 * secondMs;
