import type { Command } from "commander";
import type { z } from "zod";

import { receiverTestSchema } from "../contract/v1/operator.ts";
import { deliveryName } from "../store/alerts/outbox.ts";
import type { ApiClient } from "./api-client.ts";
import { askingCommand } from "./ask.ts";
import { askApi } from "./door.ts";
import type { AskFlags, CliContext, RegisterCommand } from "./context.ts";

/** `flatline notify test RECEIVER` */
export const registerNotify: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("notify")
    .description("try a receiver")
    .command("test")
    .description("send a marked test notification to one receiver now, and say what it answered")
    .argument("<receiver>", "name of a receiver of the configuration")
    .option("--incident", "send a sample incident, its begin and its end, in place of the test");
  askingCommand(command, context, {
    json: "print {receiver, outcome, detail, deliveries}: one delivery for each recipient of a mail and each message",
    help,
    acts: true,
    without: "no store",
    ask: (api, { incident }: AskFlags & { readonly incident?: boolean }, name: string) => test(api, name, incident),
    say: ({ deliveries, receiver }) => renderTest(receiver, deliveries),
    exitCode: ({ outcome }) => (outcome === "accepted" ? 0 : 1),
  });
};

async function test(api: ApiClient, name: string, incident = false) {
  const path = `/api/v1/receivers/${encodeURIComponent(name)}/test${incident ? "?incident=true" : ""}`;
  const { receiver, deliveries } = await api.send("POST", path, undefined, receiverTestSchema, { isSlow: true });
  const outcomes = ["rejected", "retry", "accepted"];
  const [worst] = deliveries.toSorted(
    (left, right) => outcomes.indexOf(left.outcome) - outcomes.indexOf(right.outcome),
  );
  return { receiver, outcome: worst?.outcome, detail: worst?.detail, deliveries };
}

/** Sends a receiver of a configuration the test, from here where no daemon runs; what it answered, also in words. */
export async function testReceiver(name: string, flags: AskFlags, context: CliContext) {
  const { outcome, receiver, deliveries } = await askApi(flags, context, (api) => test(api, name), "no store");
  return { outcome, text: renderTest(receiver, deliveries) };
}

function renderTest(receiver: string, deliveries: z.infer<typeof receiverTestSchema>["deliveries"]): string {
  return deliveries
    .map(({ recipient, event, outcome, detail }) => {
      const what = event === undefined ? "" : `, ${event}`;
      const word = outcome === "accepted" ? "accepted" : "not accepted";
      return `${deliveryName(receiver, recipient)}${what}: ${word}, ${detail}\n`;
    })
    .join("");
}

const help = `
A running daemon sends it, with the configuration that it has loaded: reload it after a change. Without one it is sent from
here. A pause that the receiver asked for (Retry-After) ends: what waits for it goes out within 5 s.

\`--incident\` sends what an incident of one organization looks like when it begins and when it is over. Its numbers are made
up, its title begins with [TEST], and \`isDrill\` is true in the body of a webhook.

Exit code: 0 accepted, by every recipient of a mail; 1 not accepted.

Examples:
  flatline notify test trust-slack
  flatline notify test pager --incident
`;
