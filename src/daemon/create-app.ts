import { FlatlineError } from "../base/errors.ts";
import { ReleaseStack } from "../base/lifecycle.ts";
import type { Config } from "../config/config.ts";
import type { WebAddress } from "../web/web.ts";
import { startApp, type AppDeps, type Running } from "./app.ts";

/** One daemon. Two of them can live in one process: nothing is shared but the machine. */
export interface App {
  /** Opens the store, begins to check and to listen. Rejects, with everything released, when one of these cannot be done. */
  start(): Promise<void>;
  /** Where it listens; null before start and after stop. */
  address(): WebAddress | null;
  /** Reads the configuration again and applies it; a bad one changes nothing and rejects with invalid_config. */
  reload(): Promise<void>;
  /** Ends gracefully: no new runs, those under way and deliveries get `server.drainTimeout`, leases go back. */
  stop(): Promise<void>;
}

// Beyond the drain: for open connections and the store's last checkpoint.
const releaseWithinMs = 2_000;

/** A daemon by `config`; see app.ts for what it is made of. */
export function createApp(config: Config, deps: AppDeps): App {
  const { clock, logger } = deps;
  const stack = new ReleaseStack();
  let running: Running | null = null;
  let applying: Promise<void> = Promise.resolve();

  async function start(): Promise<void> {
    try {
      running = await startApp(config, deps, stack, reload);
    } catch (error) {
      await stack.releaseAll(clock, releaseWithinMs);
      throw error;
    }
  }

  /** One at a time, in the order asked for: two at once could leave the older configuration behind. */
  function reload(): Promise<void> {
    const next = reloadAfter(applying);
    applying = next.catch(() => undefined);
    return next;
  }

  async function reloadAfter(previous: Promise<void>): Promise<void> {
    await previous;
    if (running === null) throw new FlatlineError("unavailable", "flatline is not running");
    await running.reload();
  }

  async function stop(): Promise<void> {
    const stopping = running;
    running = null;
    await applying;
    if (stopping !== null) await stopping.drain();
    const failed = await stack.releaseAll(clock, releaseWithinMs);
    for (const { name, error } of failed) logger.warn({ err: error, part: name }, "part was not released");
    logger.info({}, "flatline stopped");
  }

  return { start, address: () => running?.address ?? null, reload, stop };
}
