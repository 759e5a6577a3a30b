import { readFile } from "node:fs/promises";
import { isSpike } from "../checks/checks.ts";
import { memoized } from "../base/memo.ts";
import { secondMs } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { describeConfig } from "../config/render.ts";
import type { Actor } from "../contract/actor.ts";
import { checkKey } from "../contract/check-key.ts";
import { createProber } from "../monitor/probe.ts";
import { createFailureNotes } from "../web/access/failures.ts";
import { createAlertAssets } from "../web/read/dead-assets.ts";
import { createFleetSnapshots } from "../web/read/fleet.ts";
import type { Running } from "../web/read/running.ts";
import { createStandby } from "../web/standby.ts";
import { createWeb, type WebAddress } from "../web/web.ts";
import type { Alerting } from "./alerting.ts";
import type { Checking } from "./checking.ts";
import { createFleetGauges } from "./fleet-gauges.ts";
import { createVersion, type AppDeps, type Ground, type Part } from "./ground.ts";
import { offerLocalToken } from "./local-token.ts";
import { createOutsidePorts } from "./outside.ts";
import { storeLocation } from "./parts.ts";
import type { Sourcing } from "./sourcing.ts";
import type { StopSequence } from "./stop-sequence.ts";
import type { Upkeep } from "./upkeep.ts";

// For requests that still run when the work has ended.
const webGraceMs = 1_000;
// A connection takes some 10 kB before its first request, and containers often have a million descriptors.
const mostConnections = 4_096;
/** The time that a run may wait for its turn. */
const runNowMarginMs = 10 * secondMs;

/** Creates the HTTP server; each request uses the current configuration. */
export async function createServing(
  ground: Ground,
  {
    sourcing,
    checking,
    alerting,
    upkeep,
  }: {
    readonly sourcing: Sourcing;
    readonly checking: Checking;
    readonly alerting: Alerting;
    readonly upkeep: Upkeep;
  },
  {
    standby,
    ...options
  }: {
    readonly standby: ReturnType<typeof createStandingBy>;
    readonly isStarted: () => boolean;
    readonly reload: (author: Actor) => Promise<void>;
  },
) {
  const { store, clock, logger, metrics, bus, signal, stop, localToken } = ground;
  const { runtime, config, discovery } = sourcing;
  const { scheduler, fleet } = checking;
  const { current } = runtime;
  const settings = () => current().settings;
  const onChange = (): void => void bus.emit("changed");
  const version = createVersion(bus, clock);
  const running: Running = {
    ...ground,
    checks: checking.states,
    storeProblem: fleet.storeProblem,
    reloads: sourcing.reloading.reloads,
    config: () => current().config,
    checkNames: () => current().checkNames,
    source: () => settings().source,
    holdsEvents: () => current().config.source.holdsEvents,
    receivers: () => current().receivers,
    discovery: discovery.sources,
    runNow: async (check, slug, author) => {
      // A person may know that the service answers again.
      current().checkDeps.source.endPause?.(slug);
      try {
        const report = await scheduler.runNow(check, slug, clock.timeout(current().runTimeoutMs + runNowMarginMs));
        const detail = { severity: report.severity };
        await store.audit.append({ atMs: clock.nowMs(), actor: author, action: "run", slug, subject: check, detail });
        return report;
      } finally {
        onChange();
      }
    },
    thresholdsOf: (slug) => {
      const target = current().targetByKey.get(checkKey({ check: "dead-asset-spike", slug }));
      return target !== undefined && isSpike(target) ? target.thresholds : null;
    },
    countsAssets: (slug) => current().ruleOf(slug).count === "assets",
    settings,
    canLook: () => current().looks !== null,
    look: (incident) => alerting.looks.ask(incident),
    onAct: onChange,
    onJudged: (check, verdict) => metrics.alertJudged(check, verdict),
    version,
    fleet: createFleetSnapshots({ ...ground, settings, version: createVersion(bus, clock, secondMs) }),
  };
  const gauges = createFleetGauges(ground, sourcing, upkeep, running.fleet, fleet.isStoreAway);
  const prober = createProber({
    clock,
    run: (target, ending) => scheduler.runBeside(() => runtime.probe(target, ending), ending),
  });
  // Each request asks several times: the settings are made once for each configuration.
  const accessOf = memoized(1, ({ server, alerting: { externalUrl } }: Config) => ({
    ...server,
    externalUrl,
    localToken,
  }));
  const noteFailure = createFailureNotes(ground, metrics.authFailed);
  const service = config.source.holdsEvents ? await import("./api-plugin.ts") : null;
  const web = createWeb({
    ...ground,
    ...options,
    mostConnections: await connectionLimit(),
    plugins: (bodies) =>
      service === null ? [] : [service.createApiPlugin({ ...ground, runtime, noteFailure, bodies })],
    noteFailure,
    access: () => accessOf(current().config),
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
      unhealthy: upkeep.stalled,
      unready: () =>
        [
          signal.aborted ? "flatline is stopping" : null,
          fleet.isStoreAway() ? "the store cannot be reached" : null,
          fleet.storeProblem(),
        ].filter((reason) => reason !== null),
    },
    running,
    silences: alerting.silences,
    events: () => sourcing.ingest,
    unwatched: upkeep.unwatched,
    alertAssets: createAlertAssets(running),
    showConfiguration: () => describeConfig(current().config),
    ...createOutsidePorts(ground, runtime, onChange),
  });
  stop.doors.add("web", (limitMs) => web.close(Math.min(webGraceMs, limitMs / 2)));
  let address: WebAddress | null = null;

  const part: Part = {
    start: async () => {
      await web.endStaleSessions();
      await standby.end();
      const location = storeLocation(config, ground.cwd);
      if ("path" in location)
        stop.doors.add("token of this machine", offerLocalToken(location.path, localToken, logger));
      address = await web.listen(config.server.listen);
    },
    apply: () => web.endStaleSessions(),
  };
  return { ...part, web, address: () => address };
}

/**
 * Returns the limit of connections: `mostConnections`, or half of the process's descriptors where Linux reports fewer,
 * so that deliveries, sources and the store always find one.
 */
async function connectionLimit(): Promise<number> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const found = /^Max open files +(\d+)/m.exec(text)?.[1];
  const descriptors = found === undefined ? Infinity : Number(found);
  return Math.min(mostConnections, Math.floor(descriptors / 2));
}

/** Creates the server for the time in which another process writes to the store. */
export function createStandingBy(
  { server }: Pick<Config, "server">,
  { logger, version, nodeVersion, transport }: Pick<AppDeps, "logger" | "nodeVersion" | "transport" | "version">,
  stop: StopSequence,
) {
  let listening: Promise<void> | null = null;
  const standby = createStandby({ version, node: nodeVersion }, transport);

  async function listen(holder: string): Promise<void> {
    try {
      const { url } = await standby.listen(server.listen);
      logger.info({ url, writer: holder }, "flatline stands by");
    } catch (error) {
      // The active process may be on this machine and have the same address.
      logger.warn({ err: error, writer: holder }, "flatline stands by, and cannot say so");
    }
  }

  return {
    begin: (holder: string): void => {
      stop.doors.add("web of the standby", () => standby.close());
      listening = listen(holder);
    },
    end: async (): Promise<void> => {
      await listening;
      if (listening !== null) await standby.close();
    },
  };
}
