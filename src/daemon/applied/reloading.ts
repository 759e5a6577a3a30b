import { FlatlineError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { retrying } from "../../base/retry.ts";
import { secondMs, type Clock } from "../../base/time.ts";
import type { Config } from "../../config/config.ts";
import type { Actor } from "../../contract/actor.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { AuditStore } from "../../store/acts/audit.ts";
import type { Runtime } from "../runtime.ts";
import type { Discovery } from "../../discovery/discovery.ts";

/** The instant of the last applied configuration, and the result of the last reload. */
export interface Reloads {
  readonly appliedAtMs: number;
  /** null: none since the start. */
  readonly lastReload: { readonly atMs: number; readonly problem: string | null } | null;
}

/** Replaces the configuration that runs: by what the file says now, or by what discovery sources list. */
export interface Reloading {
  reloads(): Reloads;
  /** Reads the file again and applies it, which is an act of `author`; a bad one changes nothing and rejects with invalid_config. */
  reload(author: Actor): Promise<void>;
  /** Applies the same file with other discovered organizations. */
  applyDiscovered(read: () => Config): Promise<void>;
}

export interface ReloadingOptions {
  readonly runtime: Runtime;
  readonly discovery: Pick<Discovery, "join" | "settle">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "configReloaded">;
  readonly audit: Pick<AuditStore, "append">;
  readonly readConfig: () => Promise<Config>;
  /** Gives every part what the runtime holds now, in place of what held before. */
  readonly apply: () => Promise<void>;
}

// Every step can be repeated; one whose answer was lost may have been done, and must not be taken back then.
const patience = {
  withinMs: 5 * secondMs,
  firstMs: 100,
  longestMs: secondMs,
  isPassing: (error: unknown): boolean => error instanceof FlatlineError && error.code.startsWith("store_"),
};

/**
 * Creates the queue of changes, which are made one at a time, in the order of the requests: two at once could leave the older
 * one behind.
 */
export function createReloading(options: ReloadingOptions): Reloading {
  const { runtime, discovery, clock, logger, metrics, audit } = options;
  let reloads: Reloads = { appliedAtMs: clock.nowMs(), lastReload: null };
  let last: Promise<unknown> = Promise.resolve();

  function inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  }

  async function replace(next: Config): Promise<void> {
    const before = runtime.current();
    try {
      runtime.replace(next);
      await retrying(options.apply, { ...patience, clock });
    } catch (error) {
      runtime.restore(before);
      // Some parts have taken the next configuration already: they return to the current one, as far as the store lets them.
      await options
        .apply()
        .catch((again: unknown) => logger.warn({ err: again }, "not every part has the running configuration again"));
      throw error;
    }
  }

  async function readAndApply(author: Actor): Promise<void> {
    await readFiles();
    try {
      await audit.append({ atMs: clock.nowMs(), actor: author, action: "reload", slug: null, subject: null });
    } catch (error) {
      logger.error(
        { err: error, actor: author.name, via: author.via },
        "the reload was applied, its audit row could not be stored",
      );
      throw error;
    }
  }

  async function readFiles(): Promise<void> {
    try {
      const written = await options.readConfig();
      const next = await discovery.join(written);
      await replace(next);
      discovery.settle(written);
      metrics.configReloaded(true, clock.nowMs());
      reloads = { appliedAtMs: clock.nowMs(), lastReload: { atMs: clock.nowMs(), problem: null } };
      logger.info({ organizations: next.organizations.length }, "configuration reloaded");
    } catch (error) {
      metrics.configReloaded(false, clock.nowMs());
      reloads = { ...reloads, lastReload: { atMs: clock.nowMs(), problem: describeProblem(error) } };
      logger.error({ err: error }, "configuration not reloaded, the running one goes on");
      throw error;
    }
  }

  return {
    reloads: () => reloads,
    reload: (author) => inOrder(() => readAndApply(author)),
    applyDiscovered: (read) => inOrder(() => replace(read())),
  };
}

/** Returns what was wrong with a configuration, in the words that name file and line. */
function describeProblem(error: unknown): string {
  if (error instanceof FlatlineError && error.issues.length > 0) return error.issues.join("\n");
  return messageOf(error);
}
