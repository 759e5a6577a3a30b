import { receiverTestSchema, type ReceiverTestAnswer } from "../contract/v1/operator.ts";
import { deliveryName } from "../store/alerts/outbox.ts";
import type { ApiClient } from "./api-client.ts";
import { asking } from "./ask.ts";
import { flag, group } from "./command.ts";

/** Sends a test to a receiver; returns its answers and the worst outcome. */
export async function testReceiver(api: ApiClient, name: string, incident = false) {
  const path = `/api/v1/receivers/${encodeURIComponent(name)}/test${incident ? "?incident=true" : ""}`;
  const { receiver, deliveries } = await api.send("POST", path, undefined, receiverTestSchema, { isSlow: true });
  const outcomes = ["rejected", "retry", "accepted"];
  const [worst] = deliveries.toSorted(
    (left, right) => outcomes.indexOf(left.outcome) - outcomes.indexOf(right.outcome),
  );
  return { receiver, outcome: worst?.outcome, detail: worst?.detail, deliveries };
}

/** Formats the answers of a receiver, a line for each delivery. */
export function renderTest({ receiver, deliveries }: Pick<ReceiverTestAnswer, "receiver" | "deliveries">): string {
  return deliveries
    .map(({ recipient, event, outcome, detail }) => {
      const what = event === undefined ? "" : `, ${event}`;
      const word = outcome === "accepted" ? "accepted" : "not accepted";
      return `${deliveryName(receiver, recipient)}${what}: ${word}, ${detail}\n`;
    })
    .join("");
}

export const notify = group("try a receiver", {
  test: asking({
    description: "send a marked test notification to one receiver now, and say what it answered",
    words: [["<receiver>", "name of a receiver of the configuration"]],
    flags: { incident: flag("send a sample incident, its begin and its end, in place of the test") },
    acts: true,
    without: "no store",
    json: "print {receiver, outcome, detail, deliveries}: one delivery for each recipient of a mail and each message",
    help: `
A running daemon sends it, with the configuration that it has loaded: reload it after a change.
Without one it is sent from here. A pause that the receiver asked for (Retry-After) ends: what waits
for it goes out within 5 s.

\`--incident\` sends what an incident of one organization looks like when it begins and when it is over.
Its numbers are made up, its title begins with [TEST], and \`isDrill\` is true in the body of a webhook.

Exit code: 0 accepted, by every recipient of a mail; 1 not accepted.

Examples:
  flatline notify test trust-slack
  flatline notify test pager --incident
`,
    ask: ({ api, flags: { incident }, words: [name] }) => testReceiver(api, name, incident),
    say: (test) => renderTest(test),
    exitCode: ({ outcome }) => (outcome === "accepted" ? 0 : 1),
  }),
});
