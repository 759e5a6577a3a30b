import { FlatlineError, messageOf } from "../base/errors.ts";
import { retrying } from "../base/retry.ts";
import { secondMs } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import type { Actor } from "../contract/actor.ts";
import type { Discovery } from "../discovery/discovery.ts";
import type { Ground } from "./ground.ts";
import type { Runtime } from "./runtime.ts";

// Every step can be repeated. A step whose answer was lost may have succeeded, so it is tried again, not undone.
const patience = {
  withinMs: 5 * secondMs,
  firstMs: 100,
  longestMs: secondMs,
  isPassing: (error: unknown): boolean => error instanceof FlatlineError && error.code.startsWith("store_"),
};

/** Replaces the running configuration, after a change of the file or of a discovery source. */
export type Reloading = ReturnType<typeof createReloading>;

/**
 * Creates the queue of changes. They are made one at a time in the order of the requests: two at once could leave the
 * older one. `apply` gives every part the runtime's current configuration.
 */
export function createReloading(
  { store, clock, logger, metrics, readConfig, signal }: Ground,
  runtime: Pick<Runtime, "current" | "replace" | "restore">,
  discovery: Pick<Discovery, "join" | "settle">,
  apply: () => Promise<void>,
) {
  let appliedAtMs = clock.nowMs();
  /** null: none since the start. */
  let lastReload: { readonly atMs: number; readonly problem: string | null } | null = null;
  let last: Promise<unknown> = Promise.resolve();

  function inOrder(work: () => Promise<void>): Promise<void> {
    const next = last.then(() => {
      if (signal.aborted) throw new FlatlineError("unavailable", "flatline is stopping");
      return work();
    });
    last = next.catch(() => undefined);
    return next;
  }

  async function replace(next: Config): Promise<void> {
    const before = runtime.current();
    try {
      runtime.replace(next);
      await retrying(apply, { ...patience, clock });
    } catch (error) {
      runtime.restore(before);
      // Parts that have taken the next configuration return to the current one, unless the store fails.
      await apply().catch((again: unknown) =>
        logger.warn({ err: again }, "not every part has the running configuration again"),
      );
      throw error;
    }
  }

  async function readAndReplace(): Promise<void> {
    let problem: string | null = null;
    try {
      const written = await readConfig();
      const next = await discovery.join(written);
      await replace(next);
      discovery.settle(written);
      appliedAtMs = clock.nowMs();
      logger.info({ organizations: next.organizations.length }, "configuration reloaded");
    } catch (error) {
      // The issues name file and line.
      problem = error instanceof FlatlineError && error.issues.length > 0 ? error.issues.join("\n") : messageOf(error);
      logger.error({ err: error }, "configuration not reloaded, the running one goes on");
      throw error;
    } finally {
      lastReload = { atMs: clock.nowMs(), problem };
      metrics.configReloaded(problem === null, clock.nowMs());
    }
  }

  async function reload(author: Actor): Promise<void> {
    await readAndReplace();
    const row = { atMs: clock.nowMs(), actor: author, action: "reload", slug: null, subject: null } as const;
    await store.audit.append(row).catch((error: unknown) => {
      const by = { actor: author.name, via: author.via };
      logger.error({ err: error, ...by }, "the reload was applied, its audit row could not be stored");
      throw error;
    });
  }

  return {
    /** The instant of the last applied configuration, and the result of the last reload. */
    reloads: () => ({ appliedAtMs, lastReload }),
    /** Reads the file again and applies it, as an act of `author`. @throws invalid_config; nothing changes then */
    reload: (author: Actor): Promise<void> => inOrder(() => reload(author)),
    /** Applies the same file with other discovered organizations. */
    applyDiscovered: (read: () => Config): Promise<void> => inOrder(() => replace(read())),
    /** Resolves when the last change has ended. */
    stop: async (): Promise<void> => void (await last),
  };
}
