import { createInterface } from "node:readline";
import { FlatlineError } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import type { CliContext } from "./context.ts";

/** Asks on stderr and reads one line of the terminal; only y and yes confirm; end of input and Ctrl-C do not. */
export function askYesNo(
  question: string,
  { stdin, stderr, signal }: Pick<CliContext, "stdin" | "stderr" | "signal">,
): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  stderr.write(question);
  const lines = createInterface({ input: stdin, terminal: false });
  return new Promise((resolve) => {
    const answer = (text: string): void => {
      resolve(/^\s*y(es)?\s*$/i.test(text));
      lines.close();
    };
    lines.once("line", answer);
    // Without effect after an answer.
    lines.once("close", () => resolve(false));
    signal.addEventListener("abort", () => lines.close(), { once: true });
  });
}

// A question has to be read; the lists have all of them.
const mostNamed = 20;

/** Asks before gates open: what takedown pipelines do then, nothing takes back. @throws FlatlineError usage without a terminal */
export function confirmOpening(slugs: readonly string[], context: CliContext): Promise<boolean> {
  const gates =
    slugs.length === 1 ? `the gate of ${namesOf(slugs)}` : `${formatCount(slugs.length)} gates (${namesOf(slugs)})`;
  if (context.stdin.isTTY !== true)
    throw new FlatlineError(
      "usage",
      `this opens ${gates}, and there is no terminal to ask on: nothing was done; --yes opens them without asking`,
    );
  return askYesNo(`Open ${gates}? What takedown pipelines then do, flatline cannot undo. [y/N] `, context);
}

/** Returns names for a question: at most twenty, and how many more there are. */
function namesOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return [...names.slice(0, mostNamed), ...(more > 0 ? [`${formatCount(more)} more`] : [])].join(", ");
}
