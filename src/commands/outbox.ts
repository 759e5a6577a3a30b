import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { deliveryName, type OutboxEntry } from "../store/alerts/outbox.ts";
import type { OutboxStore } from "../store/alerts/outbox.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import { withStore } from "./with-store.ts";

/** The result for one id of a command. */
export interface OutboxChange {
  readonly id: string;
  /** False: the entry does not exist, or is being delivered. */
  readonly changed: boolean;
}

/** An entry with the name of its delivery. */
export type ListedEntry = OutboxEntry & { readonly name: string };

/** Lists waiting notifications and dead letters, oldest first; works while the daemon runs. */
export function listOutbox(config: Config, deps: PartsDeps): Promise<readonly ListedEntry[]> {
  return withOutbox(config, deps, async (outbox) =>
    (await outbox.list()).map((entry) => ({ ...entry, name: deliveryName(entry.receiver, entry.recipient) })),
  );
}

/** Queues these again, due now; the daemon sends them within 5 s (CONTRACT 3). */
export function retryOutbox(config: Config, deps: PartsDeps, ids: readonly string[]): Promise<OutboxChange[]> {
  return withOutbox(config, deps, (outbox) => changeEach(ids, (id) => outbox.retry(id, deps.clock.nowMs())));
}

/** Deletes these permanently. */
export function discardOutbox(config: Config, deps: PartsDeps, ids: readonly string[]): Promise<OutboxChange[]> {
  return withOutbox(config, deps, (outbox) => changeEach(ids, (id) => outbox.discard(id)));
}

/**
 * Ends the pause of a receiver; the daemon resumes its deliveries within 5 s. Returns false if there was no pause, or if the
 * store does not exist.
 */
export async function endReceiverPause(config: Config, deps: PartsDeps, receiver: string): Promise<boolean> {
  try {
    return await withOutbox(config, deps, (outbox) => outbox.endPause(receiver, deps.clock.nowMs()));
  } catch (error) {
    if (error instanceof FlatlineError && error.code === "no_input") return false;
    throw error;
  }
}

async function changeEach(ids: readonly string[], change: (id: string) => Promise<boolean>): Promise<OutboxChange[]> {
  const changes: OutboxChange[] = [];
  for (const id of ids) changes.push({ id, changed: await change(id) });
  return changes;
}

function withOutbox<Result>(
  config: Config,
  deps: PartsDeps,
  work: (outbox: OutboxStore) => Promise<Result>,
): Promise<Result> {
  return withStore(config, deps, ({ store }) => work(store.outbox));
}
