import type { Command } from "commander";

import { discardEntry, endPause, retryEntry } from "../alerting/deliver/outbox-acts.ts";
import { FlatlineError } from "../base/errors.ts";
import { withStore, type ActDeps } from "./with-store.ts";
import type { Config } from "../config/config.ts";
import { actor, type Actor } from "../contract/actor.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import { deliveryName, type OutboxEntry } from "../store/alerts/outbox-entry.ts";
import type { Store } from "../store/store.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { asJson } from "./values.ts";

interface OutboxFlags {
  readonly config?: string;
  readonly json?: boolean;
}

/** `flatline outbox list|retry|discard`; all work while the daemon runs. */
export const registerOutbox: RegisterCommand = (program: Command, context: CliContext): void => {
  const outbox = program
    .command("outbox")
    .description("notifications that wait for their receiver, or are dead-lettered");
  addList(outbox, context);
  addChange(outbox, context, {
    name: "retry",
    description: "queue these again, due now; the running daemon delivers them within 5 s",
    done: "queued again",
    change: retryOutbox,
  });
  addChange(outbox, context, {
    name: "discard",
    description: "delete these for good",
    done: "discarded",
    change: discardOutbox,
  });
};

function addList(outbox: Command, context: CliContext): void {
  outbox
    .command("list")
    .description("list what is queued or dead-lettered, oldest first")
    .option("-c, --config <file>", "configuration file")
    .option(
      "--json",
      "print an array of {id, receiver, recipient, state, attempts, createdAt, nextAttemptAt, lastError, subjects}",
    )
    .addHelpText("after", "\nExample:\n  flatline outbox list --json | jq '.[] | select(.state == \"dead\") | .id'\n")
    .action(async (flags: OutboxFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const listed = await listOutbox(config, context);
      const entries = listed.map((entry) => ({
        id: entry.id,
        receiver: entry.receiver,
        recipient: entry.recipient,
        state: entry.state,
        attempts: entry.attempts,
        createdAt: new Date(entry.createdAtMs).toISOString(),
        nextAttemptAt: entry.state === "dead" ? null : new Date(entry.nextAttemptAtMs).toISOString(),
        lastError: entry.lastError,
        subjects: entry.subjects,
      }));
      if (flags.json === true) {
        context.stdout.write(asJson(entries));
        return;
      }
      if (entries.length === 0) {
        context.stdout.write("the outbox is empty\n");
        return;
      }
      const rows = entries.map((entry, index) => [
        entry.id,
        listed[index]?.name ?? entry.receiver,
        entry.state,
        String(entry.attempts),
        entry.nextAttemptAt ?? "–",
        entry.lastError ?? "",
      ]);
      const head = ["ID", "RECEIVER", "STATE", "ATTEMPTS", "NEXT ATTEMPT", "LAST ERROR"];
      context.stdout.write(renderTable(head, rows, { right: ["ATTEMPTS"], context }));
    });
}

const problems = {
  unknown: "no notification that waits, and no dead letter, has this id",
  under_way: "is being delivered at this moment",
} as const;

interface ChangeCommand {
  readonly name: "retry" | "discard";
  readonly description: string;
  readonly done: string;
  readonly change: typeof retryOutbox;
}

function addChange(outbox: Command, context: CliContext, { name, description, done, change }: ChangeCommand): void {
  outbox
    .command(name)
    .description(description)
    .argument("<id...>", "ids that `outbox list` shows")
    .option("-c, --config <file>", "configuration file")
    .addHelpText("after", `\nExample:\n  flatline outbox ${name} 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n`)
    .action(async (ids: string[], flags: OutboxFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const changes = await change(config, context, ids);
      for (const { id, outcome } of changes) {
        if (outcome === "changed") context.stdout.write(`${id}: ${done}\n`);
        else {
          const code = outcome === "unknown" ? "not_found" : "conflict";
          context.stderr.write(`flatline: ${id}: ${problems[outcome]}\n`);
          context.setExitCode(new FlatlineError(code, problems[outcome]).exitCode);
        }
      }
    });
}

/** The result for one id of a command. */
interface OutboxChange {
  readonly id: string;
  /** `under_way`: it is being delivered at this moment. */
  readonly outcome: "changed" | "unknown" | "under_way";
}

/** An entry with the name of its delivery. */
type ListedEntry = OutboxEntry & { readonly name: string };

/** Lists waiting notifications and dead letters, oldest first; works while the daemon runs. */
function listOutbox(config: Config, deps: PartsDeps): Promise<readonly ListedEntry[]> {
  return withStore(config, deps, async ({ store }) =>
    (await store.outbox.list()).map((entry) => ({ ...entry, name: deliveryName(entry.receiver, entry.recipient) })),
  );
}

/** Queues these again, due now; the daemon sends them within 5 s (CONTRACT 3). */
function retryOutbox(config: Config, deps: ActDeps, ids: readonly string[]): Promise<OutboxChange[]> {
  return withStore(config, deps, ({ store }) =>
    changeEach(store, ids, (id) => retryEntry(store, { id, ...byCommand(deps) })),
  );
}

/** Deletes these permanently. */
function discardOutbox(config: Config, deps: ActDeps, ids: readonly string[]): Promise<OutboxChange[]> {
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
