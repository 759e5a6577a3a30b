import type { Command } from "commander";
import { z } from "zod";

import { discardEntry, retryEntry, viewOutboxEntry } from "../alerting/deliver/outbox-acts.ts";
import { actor } from "../contract/actor.ts";
import { outboxEntrySchema, type OutboxEntryAnswer } from "../contract/v1/operator.ts";
import { deliveryName } from "../store/alerts/outbox-entry.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { daemonCommand, forEachNamed } from "./daemon-flags.ts";
import { renderTable } from "./table.ts";
import { withStore } from "./with-store.ts";

/** `flatline outbox list|retry|discard`, through the running daemon's HTTP API, else from the store. */
export const registerOutbox: RegisterCommand = (program: Command, context: CliContext): void => {
  const outbox = program
    .command("outbox")
    .description("notifications that wait for their receiver, or are dead-lettered");
  addList(outbox, context);
  addChange(outbox, context, {
    name: "retry",
    description: "queue these again, due now; the running daemon delivers them within 5 s",
    done: "queued again",
    request: ["POST", "/retry"],
    change: retryEntry,
  });
  addChange(outbox, context, {
    name: "discard",
    description: "delete these for good",
    done: "discarded",
    request: ["DELETE", ""],
    change: discardEntry,
  });
};

function addList(outbox: Command, context: CliContext): void {
  const command = outbox.command("list").description("list what is queued or dead-lettered, oldest first");
  daemonCommand(command, context, {
    json: "print an array of {id, receiver, recipient, state, attempts, createdAt, nextAttemptAt, lastError, subjects}",
    help: "\nExample:\n  flatline outbox list --json | jq '.[] | select(.state == \"dead\") | .id'\n",
    ask: (daemon): Promise<readonly OutboxEntryAnswer[]> => daemon.read("/api/v1/outbox", z.array(outboxEntrySchema)),
    here: (config) => withStore(config, context, async ({ store }) => (await store.outbox.list()).map(viewOutboxEntry)),
    say: (entries) => (entries.length === 0 ? "the outbox is empty\n" : renderEntries(entries, context)),
  });
}

function renderEntries(entries: readonly OutboxEntryAnswer[], context: CliContext): string {
  const rows = entries.map(({ id, receiver, recipient, state, attempts, nextAttemptAt, lastError }) => [
    id,
    deliveryName(receiver, recipient),
    state,
    String(attempts),
    nextAttemptAt ?? "–",
    lastError ?? "",
  ]);
  const head = ["ID", "RECEIVER", "STATE", "ATTEMPTS", "NEXT ATTEMPT", "LAST ERROR"];
  return renderTable(head, rows, { right: ["ATTEMPTS"], context });
}

interface ChangeCommand {
  readonly name: "retry" | "discard";
  readonly description: string;
  readonly done: string;
  /** The request to the HTTP API: its method, and what follows the path of a notification. */
  readonly request: readonly [method: "POST" | "DELETE", suffix: string];
  readonly change: typeof retryEntry;
}

function addChange(outbox: Command, context: CliContext, { name, description, done, request, change }: ChangeCommand) {
  const command = outbox.command(name).description(description).argument("<id...>", "ids that `outbox list` shows");
  const changeEach = (ids: readonly string[], changeOne: (id: string) => Promise<unknown>): Promise<void> =>
    forEachNamed(ids, context, async (id) => {
      await changeOne(id);
      context.stdout.write(`${id}: ${done}\n`);
    });
  const [method, suffix] = request;
  daemonCommand(command, context, {
    help: `\nExample:\n  flatline outbox ${name} 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n`,
    ask: (daemon, _flags, ids: readonly string[]) =>
      changeEach(ids, (id) =>
        daemon.send(method, `/api/v1/outbox/${encodeURIComponent(id)}${suffix}`, undefined, z.unknown()),
      ),
    here: (config, _flags, ids: readonly string[]) =>
      withStore(
        config,
        context,
        ({ store }) =>
          changeEach(ids, (id) =>
            change(store, { id, author: actor(context.userName(), "cli"), nowMs: context.clock.nowMs() }),
          ),
        { writes: true },
      ),
    say: () => "",
  });
}
