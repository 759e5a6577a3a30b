import { discardEntry, endPause, retryEntry } from "../alerting/deliver/outbox-acts.ts";
import { FlatlineError } from "../base/errors.ts";
import { actor, type Actor } from "../contract/actor.ts";
import type { Config } from "../config/config.ts";
import { deliveryName, type OutboxEntry } from "../store/alerts/outbox-entry.ts";
import type { Store } from "../store/store.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import { withStore, type ActDeps } from "./with-store.ts";

/** The result for one id of a command. */
export interface OutboxChange {
  readonly id: string;
  /** `under_way`: it is being delivered at this moment. */
  readonly outcome: "changed" | "unknown" | "under_way";
}

/** An entry with the name of its delivery. */
export type ListedEntry = OutboxEntry & { readonly name: string };

/** Lists waiting notifications and dead letters, oldest first; works while the daemon runs. */
export function listOutbox(config: Config, deps: PartsDeps): Promise<readonly ListedEntry[]> {
  return withStore(config, deps, async ({ store }) =>
    (await store.outbox.list()).map((entry) => ({ ...entry, name: deliveryName(entry.receiver, entry.recipient) })),
  );
}

/** Queues these again, due now; the daemon sends them within 5 s (CONTRACT 3). */
export function retryOutbox(config: Config, deps: ActDeps, ids: readonly string[]): Promise<OutboxChange[]> {
  return withStore(config, deps, ({ store }) =>
    changeEach(store, ids, (id) => retryEntry(store, { id, ...byCommand(deps) })),
  );
}

/** Deletes these permanently. */
export function discardOutbox(config: Config, deps: ActDeps, ids: readonly string[]): Promise<OutboxChange[]> {
  return withStore(config, deps, ({ store }) =>
    changeEach(store, ids, (id) => discardEntry(store, { id, ...byCommand(deps) })),
  );
}

/**
 * Ends the pause of a receiver; the daemon resumes its deliveries within 5 s. Returns false if there was no pause, or if the
 * store does not exist.
 */
export async function endReceiverPause(config: Config, deps: ActDeps, receiver: string): Promise<boolean> {
  try {
    return await withStore(config, deps, ({ store }) => endPause(store, { receiver, ...byCommand(deps) }));
  } catch (error) {
    if (error instanceof FlatlineError && error.code === "no_input") return false;
    throw error;
  }
}

function byCommand({ clock, userName }: ActDeps): { readonly author: Actor; readonly nowMs: number } {
  return { author: actor(userName(), "cli"), nowMs: clock.nowMs() };
}

async function changeEach(
  { outbox }: Pick<Store, "outbox">,
  ids: readonly string[],
  change: (id: string) => Promise<boolean>,
): Promise<OutboxChange[]> {
  const changes: OutboxChange[] = [];
  for (const id of ids) {
    const isKnown = (await outbox.addresseeOf(id)) !== null;
    const isChanged = await change(id);
    changes.push({ id, outcome: isChanged ? "changed" : isKnown ? "under_way" : "unknown" });
  }
  return changes;
}
