import { createInterface } from "node:readline";

import { FlatlineError } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import type { CliContext } from "./context.ts";
import { namesText } from "./values.ts";

/** Asks on stderr and reads one line; only y and yes confirm, not the end of the input or Ctrl-C. */
export async function askYesNo(question: string, { stdin, stderr, signal }: CliContext): Promise<boolean> {
  if (signal.aborted) return false;
  stderr.write(question);
  for await (const line of createInterface({ input: stdin, signal })) return /^\s*y(es)?\s*$/i.test(line);
  stderr.write("\n");
  return false;
}

const mostNamed = 20;

/** Asks before gates open, because takedowns cannot be undone. @throws FlatlineError usage without a terminal */
export function confirmOpening(slugs: readonly string[], context: CliContext): Promise<boolean> {
  const names = namesText(slugs, mostNamed);
  const gates = slugs.length === 1 ? `the gate of ${names}` : `${formatCount(slugs.length)} gates (${names})`;
  if (context.stdin.isTTY !== true)
    throw new FlatlineError(
      "usage",
      `this opens ${gates}, and there is no terminal to ask on: nothing was done; --yes opens them without asking`,
    );
  return askYesNo(`Open ${gates}? What takedown pipelines then do, flatline cannot undo. [y/N] `, context);
}
