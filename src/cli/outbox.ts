import type { Command } from "commander";
import { z } from "zod";

import { outboxEntrySchema, type OutboxEntryAnswer } from "../contract/v1/operator.ts";
import { deliveryName } from "../store/alerts/outbox.ts";
import { askingCommand, forEachNamed } from "./ask.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";

/** `flatline outbox list|retry|discard` */
export const registerOutbox: RegisterCommand = (program: Command, context: CliContext): void => {
  const outbox = program
    .command("outbox")
    .description("notifications that wait for their receiver, or that flatline gave up");
  askingCommand(outbox.command("list").description("list what is queued or was given up, oldest first"), context, {
    without: "store",
    json: "print an array of {id, receiver, recipient, state, attempts, createdAt, nextAttemptAt, lastError, incident}",
    help: "\nExample:\n  flatline outbox list --json | jq '.[] | select(.state == \"dead\") | .id'\n",
    ask: (api) => api.read("/api/v1/outbox", z.array(outboxEntrySchema)),
    say: (entries) => (entries.length === 0 ? "the outbox is empty\n" : renderEntries(entries, context)),
  });
  addChange(outbox, context, {
    name: "retry",
    description: "queue these again, due now; a running daemon delivers them within 5 s",
    done: "queued again",
    request: ["POST", "/retry"],
  });
  addChange(outbox, context, {
    name: "discard",
    description: "delete these for good",
    done: "discarded",
    request: ["DELETE", ""],
  });
};

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
}

function addChange(outbox: Command, context: CliContext, { name, description, done, request }: ChangeCommand) {
  const command = outbox.command(name).description(description).argument("<id...>", "ids that `outbox list` shows");
  const [method, suffix] = request;
  askingCommand(command, context, {
    acts: true,
    without: "store",
    help: `\nExample:\n  flatline outbox ${name} 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n`,
    ask: (api, _flags, ids: readonly string[]) =>
      forEachNamed(ids, context, async (id) => {
        await api.send(method, `/api/v1/outbox/${encodeURIComponent(id)}${suffix}`, undefined, z.unknown());
        context.stdout.write(`${id}: ${done}\n`);
      }),
    say: () => "",
  });
}
