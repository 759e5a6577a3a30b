import { createInterface } from "node:readline";
import { formatCount } from "../../base/numbers.ts";
import type { CliContext } from "../context.ts";

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

/** Returns names for a question: at most twenty, and how many more there are. */
export function namesOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return [...names.slice(0, mostNamed), ...(more > 0 ? [`${formatCount(more)} more`] : [])].join(", ");
}
