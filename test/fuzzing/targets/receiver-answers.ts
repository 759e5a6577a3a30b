import * as fc from "fast-check";

import type { DeliveryOutcome, Receiver } from "../../../src/alerting/deliver/receiver.ts";
import { createHttpDispatcher } from "../../../src/base/http-dispatcher.ts";
import { createSilentLogger } from "../../../src/base/logger.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { ReceiverDeps } from "../../../src/receivers/kind.ts";
import { createReceiver } from "../../../src/receivers/receivers.ts";
import { sampleNotifications } from "../../../src/receivers/sample-notifications.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedBytes, mutatedTree } from "../mutate.ts";
import { complaintsOfText } from "../promises.ts";
import { answerOf, startRawServer, type Said } from "../raw-server.ts";
import { treeOf } from "../tree.ts";

const password = "the-password-in-the-path";
const nowMs = Date.UTC(2026, 10, 22);

const answers = [
  { status: 200, headers: {}, body: "ok" },
  { status: 202, headers: { "content-type": "application/json" }, body: { status: "success", dedup_key: "x" } },
  { status: 400, headers: {}, body: { message: `invalid ${password}`, errors: ["so"] } },
  { status: 429, headers: { "retry-after": "30" }, body: { retry_after: 0.5, global: false } },
  { status: 503, headers: { "retry-after": "Sun, 22 Nov 2026 00:01:00 GMT" }, body: "" },
  { status: 302, headers: { location: "https://elsewhere.example/" }, body: "" },
].map(treeOf);

interface Answer {
  readonly receiver: number;
  readonly said: Said;
}

/** Answers of receivers: accepted, worth another attempt or refused by their status, whatever else is said. */
export const receiverAnswersTarget: Target = { name: "receiver-answers", tries: 150, open };

async function open(): Promise<OpenTarget> {
  const server = await startRawServer();
  const dispatcher = createHttpDispatcher({ env: {} });
  const deps = { dispatcher, logger: createSilentLogger() };
  const receivers = await receiversAt(`${server.url}/${password}`, deps);
  const [notification] = Object.values(sampleNotifications());
  let accepted = 0;

  async function attempt({ receiver: index, said }: Answer): Promise<readonly string[]> {
    const receiver = receivers[index % receivers.length];
    if (receiver === undefined || notification === undefined) return ["there is nothing to send"];
    const { bytes, whole: answer } = answerOf(said);
    server.answer = bytes;
    const outcome = await receiver.deliver(notification, { signal: AbortSignal.timeout(1_500), nowMs });
    const text = outcome.kind === "accepted" ? outcome.detail : outcome.error;
    const complaints = complaintsOfText(text);
    if (text.includes(password)) complaints.push(`${receiver.type} shows its address: ${text}`);
    if (text.length > 1_000) complaints.push(`${receiver.type} says ${text.length} characters`);
    if (outcome.kind === "accepted") accepted++;
    if (outcome.kind === "retry" && !isWait(outcome.retryAfterMs))
      complaints.push(`${receiver.type} waits ${outcome.retryAfterMs} ms`);
    // What is broken in transit is tried again; a whole answer has one meaning.
    const isBroken = outcome.kind === "retry" && !outcome.error.startsWith("HTTP ");
    if (answer !== null && !isBroken && outcome.kind !== kindOf(answer.status))
      complaints.push(`${receiver.type} is ${outcome.kind} after ${answer.status}: ${text}`);
    return complaints;
  }

  return untyped({
    inputs: fc.record({
      receiver: fc.nat({ max: receivers.length - 1 }),
      said: fc.oneof(
        { weight: 3, arbitrary: mutatedTree(answers) },
        { weight: 1, arbitrary: mutatedBytes(answers.map((tree) => answerOf(tree).bytes)) },
      ),
    }),
    attempt,
    show: ({ receiver, said }: Answer) => `${receivers[receiver]?.type}: ${answerOf(said).bytes.toString("latin1")}`,
    accepted: () => accepted,
    [Symbol.asyncDispose]: async () => {
      await dispatcher.destroy();
      await server[Symbol.asyncDispose]();
    },
  });
}

/** One of each type that speaks HTTP, as a configuration makes them. */
async function receiversAt(url: string, deps: ReceiverDeps): Promise<readonly Receiver[]> {
  await using folder = await makeProgramFolder(`
source: { type: embedded }
organizations: [acme]
receivers:
  - { name: ops, type: webhook, url: "${url}" }
  - { name: slack, type: slack, url: "${url}" }
  - { name: discord, type: discord, url: "${url}" }
  - { name: teams, type: msteams, url: "${url}" }
  - { name: pager, type: pagerduty, url: "${url}", routingKey: ${password} }
  - { name: am, type: alertmanager, url: "${url}" }
`);
  const config = await loadConfig({ path: "flatline.yaml", cwd: folder.path, env: {} });
  return config.receivers.map((settings) => createReceiver(settings, deps));
}

/** CONTRACT 7, Delivery. */
function kindOf(status: number): DeliveryOutcome["kind"] {
  if (status >= 200 && status < 300) return "accepted";
  return status === 408 || status === 429 || status >= 500 ? "retry" : "rejected";
}

function isWait(waitMs: number | null): boolean {
  return waitMs === null || (waitMs >= 0 && Number.isSafeInteger(waitMs));
}
