import { createInterface } from "node:readline";
import type { CliContext } from "../context.ts";

/** Asks on stderr and reads one line of the terminal; anything but y or yes is a no, as are its end and Ctrl-C. */
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
    // After an answer it has no effect any more.
    lines.once("close", () => resolve(false));
    signal.addEventListener("abort", () => lines.close(), { once: true });
  });
}
