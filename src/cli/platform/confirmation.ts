import { createInterface } from "node:readline";
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
