// A program of its own: what looks at hostile hosts. It may read this file and nothing else, and knows nothing of the daemon
// (prober.ts starts it).
import { createSystemClock } from "../../base/time.ts";
import { linesOf, probeRequestSchema, proberSettingsSchema, type ProbeRequest } from "./exchange.ts";
import { createLookAt } from "./look-at.ts";

/** Answers each request in a line of its own, in the order in which the answers come. */
async function main(): Promise<void> {
  const lines = linesOf(process.stdin);
  const first = await lines.next();
  if (first.done === true) return;
  const lookAt = createLookAt(proberSettingsSchema.parse(JSON.parse(first.value)), createSystemClock());
  const answer = async ({ id, ...request }: ProbeRequest): Promise<void> => {
    process.stdout.write(`${JSON.stringify({ id, ...(await lookAt(request)) })}\n`);
  };
  for await (const line of lines) void answer(probeRequestSchema.parse(JSON.parse(line)));
  // The daemon has gone.
  process.exit(0);
}

void main();
