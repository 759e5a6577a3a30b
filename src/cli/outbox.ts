import type { Command } from "commander";
import { z } from "zod";

import { outboxEntrySchema } from "../contract/v1/operator.ts";
import { deliveryName } from "../store/alerts/outbox.ts";
import { actingOnEach, askingCommand } from "./ask.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";

const path = "/api/v1/outbox";

/** `flatline outbox list|retry|discard` */
export const registerOutbox: RegisterCommand = (program: Command, context: CliContext): void => {
  const outbox = program
    .command("outbox")
    .description("notifications that wait for their receiver, or that flatline gave up");
  askingCommand(outbox.command("list").description("list what is queued or was given up, oldest first"), context, {
    without: "store",
    json: "print an array of {id, receiver, recipient, state, attempts, createdAt, nextAttemptAt, lastError, incident}",
    help: "\nExample:\n  flatline outbox list --json | jq '.[] | select(.state == \"dead\") | .id'\n",
    ask: (api) => api.read(path, z.array(outboxEntrySchema)),
    say: (listed) =>
      renderTable(
        listed,
        {
          ID: ({ id }) => id,
          RECEIVER: ({ receiver, recipient }) => deliveryName(receiver, recipient),
          STATE: ({ state }) => state,
          ATTEMPTS: ({ attempts }) => String(attempts),
          "NEXT ATTEMPT": ({ nextAttemptAt }) => nextAttemptAt ?? "–",
          "LAST ERROR": ({ lastError }) => lastError,
        },
        { right: ["ATTEMPTS"], empty: "the outbox is empty", context },
      ),
  });
  const shared = { path, shownBy: "outbox list", without: "store" } as const;
  const retry = outbox
    .command("retry")
    .description("queue these again, due now; a running daemon delivers them within 5 s");
  actingOnEach(retry, context, { ...shared, request: ["POST", "/retry"], done: "queued again" });
  const discard = outbox.command("discard").description("delete these for good");
  actingOnEach(discard, context, { ...shared, done: "discarded" });
};
