import { z } from "zod";

import { outboxEntrySchema } from "../contract/v1/operator.ts";
import { deliveryName } from "../store/alerts/outbox.ts";
import { actingOnEach, asking } from "./ask.ts";
import { group } from "./command.ts";
import { renderTable } from "./table.ts";

const shared = { path: "/api/v1/outbox", shownBy: "outbox list", without: "store" } as const;

export const outbox = group("notifications that wait for their receiver, or that flatline gave up", {
  list: asking({
    description: "list what is queued or was given up, oldest first",
    without: "store",
    json: "print an array of {id, receiver, recipient, state, attempts, createdAt, nextAttemptAt, lastError, incident}",
    help: "\nExample:\n  flatline outbox list --json | jq '.[] | select(.state == \"dead\") | .id'\n",
    ask: ({ api }) => api.read(shared.path, z.array(outboxEntrySchema)),
    say: (listed, { context }) =>
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
  }),
  retry: actingOnEach("queue these again, due now; a running daemon delivers them within 5 s", {
    ...shared,
    example: "outbox retry",
    request: ["POST", "/retry"],
    done: "queued again",
  }),
  discard: actingOnEach("delete these for good", { ...shared, example: "outbox discard", done: "discarded" }),
});
