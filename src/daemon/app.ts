import { randomBytes } from "node:crypto";
import { FlatlineError } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import type { Config } from "../config/config.ts";
import type { Actor } from "../contract/actor.ts";
import type { ImportTarget } from "../store/events/import.ts";
import type { EventAuthor } from "../web/api/event-routes.ts";
import type { Web, WebAddress } from "../web/web.ts";
import { createAlerting } from "./alerting.ts";
import { createChecking } from "./checking.ts";
import { openGround, type AppDeps, type Part } from "./ground.ts";
import { createServing, createStandingBy } from "./serving.ts";
import { createSourcing } from "./sourcing.ts";
import { createStopSequence, stopAll, type Stopped } from "./stop-sequence.ts";
import { createUpkeep } from "./upkeep.ts";

/** One daemon, or its routes alone for a command (`deps.door`). Two can live in one process. */
export type App = ReturnType<typeof createApp>;

const tokenBytes = 32;

/** Creates a daemon. Touches neither argv nor signals. */
export function createApp(written: Config, deps: AppDeps) {
  const { logger, door } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = createStopSequence();
  /** Gives commands on this machine every right. */
  const localToken = new Secret(randomBytes(tokenBytes).toString("base64url"));
  let beginning: ReturnType<typeof begin> | null = null;
  let running: Awaited<ReturnType<typeof begin>> | null = null;
  let stopped: Promise<Stopped> | null = null;

  function goOn(): void {
    if (signal.aborted) throw new FlatlineError("unavailable", "flatline was stopped while it started");
  }

  /** Makes the parts and starts them in order. Each registers with `stop` what ends it. */
  async function begin() {
    const standby = createStandingBy(written, deps, stop);
    const ground = await openGround(written, { ...deps, signal, localToken, standBy: standby.begin }, stop);
    goOn();
    const apply = async (): Promise<void> => {
      for (const part of parts) await part.apply?.();
      ground.bus.emit("applied");
    };

    const sourcing = await createSourcing(written, ground, apply);
    goOn();
    const { runtime, config } = sourcing;
    const checking = createChecking(ground, sourcing);
    const alerting = createAlerting(ground, runtime);
    const upkeep = createUpkeep(ground, runtime, alerting, checking);
    const isStarted = (): boolean => running !== null;
    const made = { sourcing, checking, alerting, upkeep };
    const serving = await createServing(ground, made, { standby, reload, isStarted });
    // It listens first: a second process fails there, before it runs a check or notifies a receiver.
    const parts: readonly Part[] = [serving, checking, alerting, upkeep, sourcing];

    if (door === undefined)
      for (const part of parts) {
        await part.start?.();
        goOn();
      }
    else await checking.load();
    const url = serving.address()?.url;
    if (url !== undefined)
      logger.info({ url, organizations: config.organizations.length, source: config.source.type }, "flatline started");
    return { sourcing, checking, serving };
  }

  /** Starts to listen and to check. Rejects, with all released, when it cannot or was stopped meanwhile. */
  async function start(): Promise<void> {
    beginning = begin();
    try {
      running = await beginning;
    } catch (error) {
      if (stopped === null) await stopAll(stop, { ...deps, drainMs: 0 });
      throw error;
    }
  }

  async function begun(): Promise<NonNullable<typeof running>> {
    await beginning?.catch(() => undefined);
    if (running === null || signal.aborted) throw new FlatlineError("unavailable", "flatline is not running");
    return running;
  }

  /** Reads the configuration again and applies it for `author`. @throws invalid_config; nothing changes then */
  async function reload(author: Actor): Promise<void> {
    await (await begun()).sourcing.reloading.reload(author);
  }

  async function end(givenMs: number | undefined): Promise<Stopped> {
    stopping.abort();
    const drainMs = givenMs ?? (running?.sourcing.runtime.current().config ?? written).server.drainTimeoutMs;
    if (door === undefined)
      logger.info({ drainMs, running: running?.checking.scheduler.running() ?? 0 }, "flatline stops");
    // The caller of `start` gets its error.
    stop.work.add("start", async () => void (await beginning?.catch(() => undefined)));
    const outcome = await stopAll(stop, { ...deps, drainMs });
    if (door === undefined) logger.info({}, "flatline stopped");
    return outcome;
  }

  return {
    start,
    reload,
    /** null: it does not listen. */
    address: (): WebAddress | null => (signal.aborted ? null : (running?.serving.address() ?? null)),
    /** Sends a request to its routes. */
    inject: async (...asked: Parameters<Web["inject"]>) => (await begun()).serving.web.inject(...asked),
    localToken,
    /** null: the source holds no events. */
    importTarget: (author: EventAuthor): ImportTarget | null => running?.sourcing.ingest?.target(author) ?? null,
    /** Ends within `drainMs` [`server.drainTimeout`], which runs and deliveries have, and 1.2 s; never rejects. */
    stop: (drainMs?: number): Promise<Stopped> => (stopped ??= end(drainMs)),
  };
}
