import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Config } from "../config/config.ts";
import type { Actor } from "../contract/actor.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { Board } from "../store/runs/board.ts";
import type { ImportTarget } from "../store/events/import.ts";
import type { EventAuthor } from "../web/api/event-routes.ts";
import type { Web, WebAddress } from "../web/web.ts";
import { createAlerting } from "./alerting.ts";
import { createChecking } from "./checking.ts";
import type { AppDeps, Bus, Ground, Part } from "./ground.ts";
import { openParts } from "./parts.ts";
import { createServing, createStandingBy } from "./serving.ts";
import { createSourcing } from "./sourcing.ts";
import { requireStore } from "./store-watch.ts";
import type { StopSequence } from "./stop-sequence.ts";
import { createUpkeep } from "./upkeep.ts";

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
 * Starts the application: makes its parts, each once, and begins with them in order. Touches neither argv nor signals. Each part
 * registers with `stop` what ends it. Rejects when something cannot be done, or the signal has aborted.
 */
export async function startApp(
  written: Config,
  deps: AppDeps & { readonly signal: AbortSignal },
  stop: StopSequence,
  reload: (author: Actor) => Promise<void>,
): Promise<Running> {
  const { signal, logger, door } = deps;
  const goOn = (): void => {
    if (signal.aborted) throw new FlatlineError("unavailable", "flatline was stopped while it started");
  };
  const standby = createStandingBy(written, deps, stop);
  const opened = await openParts(written, { ...deps, standBy: standby.begin }, stop.store);
  goOn();
  const { store, writer } = opened;
  writer.lost.addEventListener("abort", () => deps.onTaken?.(asFlatlineError(writer.lost.reason)), { once: true });
  // Rows that are written to a deleted or replaced file are lost with this process.
  stop.doors.add("file of the store", () => requireStore(store), { stores: true });
  const bus: Bus = new EventEmitter();
  const ground: Ground = {
    newId: randomUUID,
    ...deps,
    ...opened,
    bus,
    metrics: createMetrics({ ...deps, withProcess: deps.withProcessMetrics ?? true }),
    board: new Board(),
    // What does not begin has nothing to end.
    stop: door === undefined ? stop : { ...stop, work: new ReleaseGroup() },
  };
  const apply = async (): Promise<void> => {
    for (const part of parts) await part.apply?.();
    bus.emit("applied");
  };
  let isStarted = false;

  const sourcing = await createSourcing(written, ground, apply);
  goOn();
  const { runtime, config, ingest } = sourcing;
  const checking = createChecking(ground, sourcing);
  const alerting = createAlerting(ground, runtime);
  const upkeep = createUpkeep(ground, runtime, alerting, checking);
  const serving = await createServing(ground, {
    sourcing,
    checking,
    alerting,
    upkeep,
    standby,
    reload,
    isStarted: () => isStarted,
  });
  // It listens before the first check runs: a second process must neither ask an upstream nor notify a receiver.
  const parts: readonly Part[] = [serving, checking, alerting, upkeep, sourcing];

  if (door === undefined)
    for (const part of parts) {
      await part.start?.();
      goOn();
    }
  else await checking.load();
  isStarted = true;
  const address = serving.address();
  if (address !== null)
    logger.info(
      { url: address.url, organizations: config.organizations.length, source: config.source.type },
      "flatline started",
    );
  return {
    address,
    inject: (request) => serving.web.inject(request),
    importTarget: ingest === null ? null : (author) => ingest.target(author),
    running: () => checking.scheduler.running(),
    settings: () => runtime.current().config.server,
    reload: (author) => sourcing.reloading.reload(author),
  };
}
