import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import type { Actor } from "../contract/actor.ts";
import type { WebAddress } from "../web/web.ts";
import { startApp, type Running } from "./app.ts";
import type { AppDeps } from "./ground.ts";
import { createStopSequence, stopAll, type Stopped } from "./stop-sequence.ts";

/** One daemon. Two of them can live in one process: they share nothing but the machine. */
export interface App {
  /**
   * Opens the store, begins to check and to listen. Rejects, with everything released, when one of these cannot be done, or it
   * was stopped meanwhile.
   */
  start(): Promise<void>;
  /** Where it listens; null before start and after stop. */
  address(): WebAddress | null;
  /** Reads the configuration again and applies it, as an act of `author`; a bad one changes nothing and rejects with invalid_config. */
  reload(author: Actor): Promise<void>;
  /**
   * Ends gracefully: no new runs; running checks and deliveries get `drainMs` [`server.drainTimeout`], and the next process may
   * write. Resolves within that and 1.2 s, whatever fails or hangs; never rejects.
   */
  stop(drainMs?: number): Promise<Stopped>;
}

/** Creates a daemon by `config`; see app.ts for what it is made of. */
export function createApp(config: Config, deps: AppDeps): App {
  const { clock, logger } = deps;
  const stopping = new AbortController();
  const sequence = createStopSequence();
  let running: Running | null = null;
  /** The start and the reloads; never rejects. */
  let applying: Promise<void> = Promise.resolve();
  let stopped: Promise<Stopped> | null = null;

  async function start(): Promise<void> {
    const starting = startApp(config, { ...deps, signal: stopping.signal }, sequence, reload);
    applying = starting.then(ignore, ignore);
    try {
      running = await starting;
    } catch (error) {
      if (stopped === null) await stopAll(sequence, { clock, logger, drainMs: 0 });
      throw error;
    }
  }

  /** Reloads one at a time, in the order of the requests: two at once could leave the older configuration behind. */
  function reload(author: Actor): Promise<void> {
    const next = reloadAfter(applying, author);
    applying = next.catch(() => undefined);
    return next;
  }

  async function reloadAfter(previous: Promise<void>, author: Actor): Promise<void> {
    await previous;
    if (running === null || stopping.signal.aborted) throw new FlatlineError("unavailable", "flatline is not running");
    await running.reload(author);
  }

  function stop(drainMs?: number): Promise<Stopped> {
    stopped ??= end(drainMs);
    return stopped;
  }

  async function end(givenMs: number | undefined): Promise<Stopped> {
    stopping.abort();
    const { drainTimeoutMs } = running?.settings() ?? config.server;
    const drainMs = givenMs ?? drainTimeoutMs;
    logger.info({ drainMs, running: running?.running() ?? 0 }, "flatline stops");
    sequence.work.add("start or reload", () => applying);
    const outcome = await stopAll(sequence, { clock, logger, drainMs });
    logger.info({}, "flatline stopped");
    return outcome;
  }

  return {
    start,
    address: () => (stopping.signal.aborted ? null : (running?.address ?? null)),
    reload,
    stop,
  };
}

function ignore(): void {
  // The caller gets its error.
}
