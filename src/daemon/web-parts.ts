import type { Logger } from "../base/logger.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { SilenceBook } from "../alerting/silence-book.ts";
import { isSpike } from "../checks/checks.ts";
import { describeConfig } from "../config/render.ts";
import type { Actor } from "../contract/actor.ts";
import { checkKey } from "../contract/check-key.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Prober } from "../monitor/probe.ts";
import type { Scheduler } from "../monitor/scheduler.ts";
import type { Store } from "../store/store.ts";
import type { AccessSettings } from "../web/access/settings.ts";
import type { HealthVerdict } from "../web/api/health-routes.ts";
import type { AlertAssets } from "../web/read/alert-assets.ts";
import type { EventsPort } from "../web/ports/events.ts";
import { createFleetSnapshots } from "../web/read/fleet.ts";
import { createGateReading } from "../web/read/gate.ts";
import { createIncidentReading } from "../web/read/incidents.ts";
import type { Running, RunningChecks } from "../web/read/running.ts";
import type { Unwatched } from "../web/read/unwatched.ts";
import type { WebOptions } from "../web/web.ts";
import type { Discovery } from "../discovery/discovery.ts";
import { createFleetGauges } from "./fleet-gauges.ts";
import type { FleetView } from "./fleet-view.ts";
import type { Applied, Runtime } from "./runtime.ts";

export interface WebPartsOptions
  extends
    Pick<AccessSettings, "localToken">,
    Pick<Running, "look" | "newId" | "onAct" | "onOutboxChanged" | "publish" | "reloads" | "version"> {
  readonly store: Store;
  readonly states: RunningChecks;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly discovery: Pick<Discovery, "sources">;
  readonly fleet: Pick<FleetView, "showNoted" | "isStoreAway" | "storeProblem">;
  readonly prober: Prober;
  readonly scheduler: Scheduler;
  readonly silences: SilenceBook;
  /** null while the source is not a local one. */
  readonly ingest: EventsPort | null;
  readonly unwatched: Unwatched;
  readonly alertAssets: AlertAssets;
  /** What has stalled, in words; empty: all is well. */
  readonly health: () => readonly string[];
  readonly isStopping: () => boolean;
  readonly reload: (author: Actor) => Promise<void>;
}

type WebParts = Omit<
  WebOptions,
  "version" | "clock" | "logger" | "hooks" | "links" | "plugins" | "mostConnections" | "transport"
>;

/** Returns what the HTTP server reads and acts on: the daemon as it runs, by the configuration that holds at each request. */
export function createWebParts(options: WebPartsOptions): WebParts {
  const { store, states, runtime, clock, metrics, prober, scheduler, fleet } = options;
  const current = (): Applied => runtime.current();
  const running: Running = {
    ...options,
    checks: states,
    storeProblem: () => fleet.storeProblem(),
    config: () => current().config,
    checkNames: () => current().checkNames,
    source: () => current().settings.source,
    holdsEvents: () => current().config.source.holdsEvents,
    receivers: () => current().receivers,
    discovery: () => options.discovery.sources(),
    runNow: async (check, slug, author) => {
      // A person wants an answer now, and may know that the service answers again.
      current().checkDeps.source.endPause?.(slug);
      try {
        const report = await scheduler.runNow(check, slug, clock.timeout(current().runTimeoutMs + runNowMarginMs));
        const detail = { severity: report.severity };
        await store.audit.append({ atMs: clock.nowMs(), actor: author, action: "run", slug, subject: check, detail });
        return report;
      } finally {
        options.publish();
      }
    },
    thresholdsOf: (slug) => {
      const target = current().targetByKey.get(checkKey({ check: "dead-asset-spike", slug }));
      return target !== undefined && isSpike(target) ? target.thresholds : null;
    },
    countsAssets: (slug) => current().ruleOf(slug).count === "assets",
    settings: () => current().settings,
    canLook: () => current().looks !== null,
    onJudged: (check, verdict) => metrics.alertJudged(check, verdict),
    fleet: createFleetSnapshots({ ...options, settings: () => current().settings }),
  };
  const gauges = createFleetGauges({ ...options, fleet: running.fleet, isStoreAway: () => fleet.isStoreAway() });
  return {
    access: () => {
      const { server, alerting } = current().config;
      return { ...server, externalUrl: alerting.externalUrl, localToken: options.localToken };
    },
    externalUrl: () => current().config.alerting.externalUrl,
    renderMetrics: async () => {
      const read = await gauges();
      fleet.showNoted();
      return metrics.render(read, clock.nowMs());
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
          fleet.isStoreAway() ? "the store cannot be reached" : null,
          fleet.storeProblem(),
        ];
        return verdict(reasons.filter((reason) => reason !== null));
      },
    },
    reload: options.reload,
    running,
    incidents: createIncidentReading(running),
    sessions: store,
    silences: options.silences,
    gate: createGateReading(running),
    events: () => options.ingest,
    unwatched: options.unwatched,
    alertAssets: options.alertAssets,
    audit: store.audit,
    showConfiguration: () => describeConfig(current().config),
  };
}

function verdict(reasons: readonly string[]): HealthVerdict {
  return { ok: reasons.length === 0, reasons };
}

/** The time that a run may wait for its place, beyond the run itself. */
const runNowMarginMs = 10 * secondMs;
