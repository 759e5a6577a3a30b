import { randomBytes, randomUUID } from "node:crypto";
import { createNotifier } from "../alerting/notify/notifier.ts";
import { createOutbox } from "../alerting/deliver/outbox.ts";
import { Board } from "../store/runs/board.ts";
import { createSilenceBook } from "../alerting/silence-book.ts";
import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { Secret } from "../base/secret.ts";
import type { Actor } from "../contract/actor.ts";
import type { Config } from "../config/config.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { createProber } from "../monitor/probe.ts";
import { createLooks } from "../look/looks.ts";
import { createFailureNotes } from "../web/access/failures.ts";
import { createStandby } from "../web/standby.ts";
import { createWeb, type Web, type WebAddress, type WebTransport } from "../web/web.ts";
import { createApiPlugins } from "./api-plugin.ts";
import { startFilling } from "./backfill.ts";
import { connectionLimit } from "./connection-limits.ts";
import { createChecking } from "./checking.ts";
import { createAlertSample } from "./evidence/alert-sample.ts";
import { createLookAssets } from "./evidence/look-assets.ts";
import { createAlertAssets } from "../web/read/alert-assets.ts";
import { createDiscovery } from "../discovery/discovery.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { offerLocalToken } from "./local-token.ts";
import { openIngest } from "./ingest.ts";
import { createMaintenance } from "./maintenance.ts";
import { createUnwatched } from "../web/read/unwatched.ts";
import { openParts, storeLocation, type DoorOptions, type PartsDeps } from "./parts.ts";
import { createChanges } from "./changes.ts";
import { createReloading } from "./applied/reloading.ts";
import { createRuntime } from "./runtime.ts";
import { requireStore } from "./store-watch.ts";
import { drainOf, type StopSequence } from "./stop-sequence.ts";
import { createOutsidePorts } from "./outside.ts";
import { createWebParts } from "./web-parts.ts";
import type { ImportTarget } from "../store/events/import.ts";
import type { EventAuthor } from "../web/ports/events.ts";

export interface AppDeps extends PartsDeps {
  /** Version of Node.js, without a leading v. */
  readonly nodeVersion: string;
  readonly logger: Logger;
  /** Reads the configuration again, for a reload. Rejects with invalid_config. */
  readonly readConfig: () => Promise<Config>;
  /** A UUID for an alert, a notification, a silence, or this process as the owner of deliveries [a random one]. */
  readonly newId?: () => string;
  /** How the web listens [on a socket]. */
  readonly transport?: WebTransport;
  /** process_* and nodejs_* series too [true]. */
  readonly withProcessMetrics?: boolean;
  /** Only answers what is injected: nothing runs, is sent or goes, and nobody is listened to [it is a daemon]. */
  readonly door?: DoorOptions;
  /** What a command on this machine shows [a random one, in a file beside the store]. */
  readonly localToken?: Secret;
  /** Called when another process has taken over the store: this one can write nothing any more, and has to end [not called]. */
  readonly onTaken?: (error: FlatlineError) => void;
}

// Time for requests that are still running when the work has ended.
const webGraceMs = 1_000;
const localTokenBytes = 32;

/** A daemon that runs. */
export interface Running {
  /** null: nobody is listened to. */
  readonly address: WebAddress | null;
  readonly inject: Web["inject"];
  /** Takes an import of this process; null while the source is not a local one. */
  readonly importTarget: ((author: EventAuthor) => ImportTarget) | null;
  /** How many checks are running. */
  running(): number;
  settings(): Config["server"];
  reload(author: Actor): Promise<void>;
}

/**
 * Starts the application. The composition root: wires every room by `written` and what its sources list, and begins. Touches neither argv nor signals. Registers with `stop` what
 * has to be ended, as soon as it is there. Rejects when something cannot be done, or the signal has aborted.
 */
export async function startApp(
  written: Config,
  deps: AppDeps & { readonly signal: AbortSignal },
  stop: StopSequence,
  reload: (author: Actor) => Promise<void>,
): Promise<Running> {
  const { signal, clock } = deps;
  const standby = createStandingBy(written, deps, stop);
  const parts = await openParts(written, { ...deps, standBy: standby.begin }, stop.store);
  if (signal.aborted) throw stoppedEarly();
  const { store, writer, dispatcher } = parts;
  writer.lost.addEventListener("abort", () => deps.onTaken?.(asFlatlineError(writer.lost.reason)), { once: true });
  const { logger, random, readConfig, newId = randomUUID } = deps;
  const { localToken = new Secret(randomBytes(localTokenBytes).toString("base64url")) } = deps;
  const metrics = createMetrics({
    version: deps.version,
    nodeVersion: deps.nodeVersion,
    withProcess: deps.withProcessMetrics ?? true,
  });
  const changes = createChanges(clock);
  // Rows that are written to a deleted or replaced file are lost with this process.
  stop.doors.add("file of the store", () => requireStore(store), { stores: true });
  const board = new Board();
  const discovery = createDiscovery({
    ...deps,
    config: written,
    store,
    dispatcher,
    apply: (read) => reloading.applyDiscovered(read),
  });
  stop.work.add("discovery", () => discovery.stop());
  const config = await discovery.join(written);
  if (signal.aborted) throw stoppedEarly();
  const runtime = createRuntime(config, parts, {
    ...deps,
    board,
    onRequest: ({ operation, code }) => metrics.sourceRequest(operation, code),
  });
  const settings = () => runtime.current().settings;
  let isStarted = false;
  // A stop ends the loops, and itself in time: nothing is restarted that is about to end.
  const stalled = () => (signal.aborted ? [] : fleet.stalled({ scheduler, outbox, notifier }));

  const receiverOf = (name: string) => runtime.current().receiverByName.get(name) ?? null;
  const onEnqueued = (): void => outbox.wake();
  const readSample = createAlertSample(() => runtime.current().config);
  const notifier = createNotifier({ store, board, clock, logger, newId, settings, receiverOf, readSample, onEnqueued });
  const outbox = createOutbox({
    store,
    clock,
    random,
    logger,
    metrics,
    receivers: runtime.current().receivers,
    resend: (receiver) => notifier.resend(receiver),
    onAnswered: () => changes.changed(),
  });
  const checking = createChecking({
    config,
    store,
    board,
    runtime,
    clock,
    logger,
    newId,
    settings,
    metrics,
    changes,
    onChange: () => {
      notifier.changed();
      changes.changed();
    },
    onStoreFailed: () => [notifier, outbox].forEach((loop) => loop.wake()),
    writer,
    isImporting: (slug) => ingest?.isImporting(slug) === true,
  });
  const { recorder, scheduler, states, fleet } = checking;
  const wake = (): void => {
    notifier.wake();
    changes.acted();
  };
  const silences = createSilenceBook({ store, clock, logger, newId, settings, onChange: wake });
  const ingest = config.source.holdsEvents
    ? await openIngest({
        store,
        clock,
        logger,
        metrics,
        isAlone: deps.door !== undefined,
        onChange: () => changes.changed(),
      })
    : null;
  if (ingest !== null) stop.doors.add("event ingest", () => ingest.close());
  const prober = createProber({
    clock,
    run: (target, signal) => scheduler.runBeside(() => runtime.probe(target, signal), signal),
  });

  function showNames(): void {
    const { checkNames, config } = runtime.current();
    metrics.show({ checks: checkNames, receivers: config.receivers.map(({ name }) => name) });
  }

  async function apply(): Promise<void> {
    const { receivers } = runtime.current();
    await checking.apply();
    await recorder.endUnconfigured();
    await outbox.setReceivers(receivers);
    await web.endStaleSessions();
    showNames();
    fleet.showAll();
    notifier.wake();
    heartbeat.wake();
    changes.acted();
  }

  const reloading = createReloading({
    runtime,
    discovery,
    clock,
    logger,
    metrics,
    audit: store.audit,
    apply,
    readConfig,
  });

  const alertAssets = createAlertAssets({
    store,
    clock,
    logger,
    isOurs: () => runtime.current().config.source.holdsEvents,
  });
  const looks = createLooks({
    store,
    clock,
    logger,
    dispatcher,
    metrics,
    newId,
    sources: createLookAssets({ evidence: store.evidence, clock, alertAssets }),
    settings: () => runtime.current().looks,
    onChange: wake,
  });
  const unwatched = createUnwatched({ store, clock, logger }, () => {
    const { config: now, slugs } = runtime.current();
    return { holdsEvents: now.source.holdsEvents, slugs };
  });
  const noteFailure = createFailureNotes({ metrics, logger, clock });
  const web = createWeb({
    version: deps.version,
    clock,
    logger,
    isStarted: () => isStarted,
    ...(deps.transport === undefined ? {} : { transport: deps.transport }),
    mostConnections: await connectionLimit(),
    plugins: (bodies) => createApiPlugins({ ...deps, store, runtime, metrics, noteFailure, bodies }),
    noteFailure,
    ...createWebParts({
      store,
      states,
      runtime,
      clock,
      logger,
      metrics,
      prober,
      scheduler,
      silences,
      ingest,
      unwatched,
      alertAssets,
      look: (incident) => looks.ask(incident),
      fleet,
      discovery,
      health: stalled,
      localToken,
      isStopping: () => signal.aborted,
      reload,
      onAct: wake,
      newId,
      onOutboxChanged: () => {
        outbox.wake();
        changes.acted();
      },
      publish: () => changes.acted(),
      version: () => changes.version(),
      reloads: () => reloading.reloads(),
    }),
    ...createOutsidePorts({ store, runtime, clock, logger, newId, onChange: wake }),
  });
  const heartbeat = createHeartbeat({
    clock,
    logger,
    dispatcher,
    settings: () => runtime.current().config.heartbeat,
    isAlive: () => !fleet.isStoreAway() && stalled().length === 0,
  });
  const maintenance = createMaintenance({
    store,
    clock,
    logger,
    storage: () => runtime.current().config.storage,
    server: () => runtime.current().config.server,
    organizations: () => runtime.current().config.organizations,
    gateOf: (slug) => settings().gateOf(slug),
    beforeEventsGo: alertAssets.keepCosts,
  });

  const running: Running = {
    address: null,
    inject: (request) => web.inject(request),
    importTarget: ingest === null ? null : (author) => ingest.target(author),
    running: () => scheduler.running(),
    settings: () => runtime.current().config.server,
    reload: (author) => reloading.reload(author),
  };
  if (deps.door !== undefined) {
    stop.doors.add("web", () => web.close(0));
    await checking.load();
    isStarted = true;
    return running;
  }

  // This comes before they start: a loop that is stopped then does not begin.
  stop.work.add("heartbeat", () => heartbeat.stop());
  stop.work.add("checks", (limitMs) => checking.stop(drainOf(limitMs)), { stores: true });
  stop.work.add("outbox", (limitMs) => outbox.stop(drainOf(limitMs)), { stores: true });
  stop.work.add("notifier", () => notifier.stop(), { stores: true });
  stop.work.add("view of the fleet", () => fleet.stop());
  stop.work.add("maintenance", () => maintenance.stop());
  stop.work.add("second opinions", () => looks.stop());
  stop.work.add("unwatched slugs", () => unwatched.stop());

  // This comes before the first check runs: a second process must neither ask an upstream nor notify a receiver.
  await web.endStaleSessions();
  await standby.end();
  const location = storeLocation(config, deps.cwd);
  if ("path" in location) stop.doors.add("token of this machine", offerLocalToken(location.path, localToken, logger));
  const address = await web.listen(config.server.listen);
  stop.doors.add("web", (limitMs) => web.close(Math.min(webGraceMs, limitMs / 2)));
  if (signal.aborted) throw stoppedEarly();

  await checking.load();
  checking.start();
  await recorder.endUnconfigured();
  showNames();
  fleet.showAll();
  metrics.configReloaded(true, clock.nowMs());
  fleet.start();
  outbox.start();
  notifier.start();
  maintenance.start();
  looks.start();
  unwatched.start();
  heartbeat.start();
  discovery.start();
  if (signal.aborted) throw stoppedEarly();
  if (config.source.holdsEvents) {
    const filling = startFilling({
      store,
      clock,
      logger,
      organizations: config.organizations,
      onFilled: () => changes.changed(),
    });
    stop.work.add("past of the organizations", () => filling.stop());
  }
  isStarted = true;
  logger.info(
    { url: address.url, organizations: config.organizations.length, source: config.source.type },
    "flatline started",
  );

  return { ...running, address };
}

/** Answers requests while another process writes to the store. */
function createStandingBy(
  { server }: Pick<Config, "server">,
  deps: AppDeps & { readonly signal: AbortSignal },
  stop: StopSequence,
): { readonly begin: (holder: string) => void; readonly end: () => Promise<void> } {
  let listening: Promise<void> | null = null;
  const standby = createStandby(deps);

  async function listen(holder: string): Promise<void> {
    try {
      const { url } = await standby.listen(server.listen);
      deps.logger.info({ url, writer: holder }, "flatline stands by");
    } catch (error) {
      // The process that it waits for may be on this machine, and listen there.
      deps.logger.warn({ err: error, writer: holder }, "flatline stands by, and cannot say so");
    }
  }

  return {
    begin: (holder) => {
      stop.doors.add("web of the standby", () => standby.close());
      listening = listen(holder);
    },
    end: async () => {
      await listening;
      if (listening !== null) await standby.close();
    },
  };
}

function stoppedEarly(): FlatlineError {
  return new FlatlineError("unavailable", "flatline was stopped while it started");
}
