import { randomUUID } from "node:crypto";

import type { Command } from "commander";

import { endPause } from "../alerting/deliver/outbox-acts.ts";
import { deliverTest, unknownReceiver } from "../alerting/deliver/test-delivery.ts";
import { asFlatlineError } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import type { Config } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import { receiverTestSchema, type ReceiverTestAnswer } from "../contract/v1/operator.ts";
import { createReceiver } from "../receivers/receivers.ts";
import { deliveryName } from "../store/alerts/outbox-entry.ts";
import { createCommandLogger } from "./command-logger.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { daemonCommand, type DaemonFlags } from "./daemon-flags.ts";
import { withStore } from "./with-store.ts";

interface NotifyFlags extends DaemonFlags {
  readonly incident?: boolean;
}

/** `flatline notify test RECEIVER`, through the running daemon's HTTP API, else from here. */
export const registerNotify: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("notify")
    .description("try a receiver")
    .command("test")
    .description("send a marked test notification to one receiver now, and say what it answered")
    .argument("<receiver>", "name of a receiver of the configuration")
    .option("--incident", "send a sample incident, its begin and its end, in place of the test");
  daemonCommand(command, context, {
    json: "print {receiver, outcome, detail, deliveries}: one delivery for each recipient of a mail and each message",
    help,
    ask: async (daemon, { incident }: NotifyFlags, name: string) => {
      const path = `/api/v1/receivers/${encodeURIComponent(name)}/test${incident === true ? "?incident=true" : ""}`;
      const { deliveries } = await daemon.send("POST", path, undefined, receiverTestSchema, true);
      context.stderr.write("sent by the running daemon, by the configuration that it has loaded\n");
      return withWorst(name, deliveries);
    },
    here: async (config, { incident = false }, name: string) =>
      withWorst(name, await sendTest(config, context, { name, isIncident: incident })),
    say: ({ receiver, deliveries }) =>
      deliveries
        .map(({ recipient, event, outcome, detail }) => {
          const what = event === undefined ? "" : `, ${event}`;
          const word = outcome === "accepted" ? "accepted" : "not accepted";
          return `${deliveryName(receiver, recipient)}${what}: ${word}, ${detail}\n`;
        })
        .join(""),
    exitCode: ({ outcome }) => (outcome === "accepted" ? 0 : 1),
  });
};

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

type Deliveries = ReceiverTestAnswer["deliveries"];

function withWorst(receiver: string, deliveries: Deliveries) {
  const outcomes = ["rejected", "retry", "accepted"];
  const [worst] = deliveries.toSorted(
    (left, right) => outcomes.indexOf(left.outcome) - outcomes.indexOf(right.outcome),
  );
  return { receiver, outcome: worst?.outcome, detail: worst?.detail, deliveries };
}

/** Sends a test to each recipient of one receiver, bypassing the outbox. @throws not_found */
async function sendTest(
  config: Config,
  context: CliContext,
  { name, isIncident }: { readonly name: string; readonly isIncident: boolean },
): Promise<Deliveries> {
  const found = config.receivers.find((candidate) => candidate.name === name);
  if (found === undefined) throw unknownReceiver(name, config.receivers);
  const dispatcher = createHttpDispatcher({ env: context.env });
  try {
    const receiver = createReceiver(found, { dispatcher, logger: createCommandLogger(config, context) });
    const { externalUrl } = config.alerting;
    const sent = await deliverTest(receiver, {
      ...context,
      newId: randomUUID,
      timeoutMs: found.timeoutMs,
      externalUrl,
      isIncident,
    });
    await endPauseOf(config, context, name);
    return sent.map(({ name: _name, attempt: _attempt, ...delivery }) => delivery);
  } finally {
    await dispatcher.destroy();
  }
}

/** A person who tests a receiver wants it to be used again. The test counts also where the store cannot be opened from here. */
async function endPauseOf(config: Config, context: CliContext, receiver: string): Promise<void> {
  try {
    const act = { receiver, author: actor(context.userName(), "cli"), nowMs: context.clock.nowMs() };
    if (await withStore(config, context, ({ store }) => endPause(store, act), { writes: true }))
      context.stderr.write(`${receiver} was paused (Retry-After): the pause is ended\n`);
  } catch (error) {
    const { code, fault, message } = asFlatlineError(error);
    if (fault === "bug") throw error;
    // Nothing has run here yet.
    if (code === "no_input") return;
    context.stderr.write(`a pause of ${receiver}, if it has one, could not be ended: ${message}\n`);
  }
}
