import { createInterface } from "node:readline";
import { Writable } from "node:stream";

import { FlatlineError } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import type { CliContext } from "./context.ts";
import { namesText } from "./values.ts";

/** A dialogue: it asks on stderr and reads lines of the terminal. */
export interface Questions extends Disposable {
  /**
   * Returns the typed line, trimmed; an empty one is `fallback`. Asks again while `problemOf` returns a problem.
   * @throws unavailable at the end of the input and at Ctrl-C
   */
  ask(question: string, options?: QuestionOptions): Promise<string>;
}

export interface QuestionOptions {
  /** The answer for an empty line [""]. */
  readonly fallback?: string;
  /** The typed text is not shown [false]. */
  readonly isSecret?: boolean;
  /** Returns the problem of an answer, as "must be …"; null: none [none]. */
  readonly problemOf?: (answer: string) => string | null;
}

export function openQuestions({ stdin, stderr, signal }: CliContext): Questions {
  let isShown = false;
  const echo = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (isShown) stderr.write(chunk.toString());
      done();
    },
  });
  // `terminal` lets it hide a secret; it reads Ctrl-C itself then.
  const lines = createInterface({ input: stdin, output: echo, terminal: true, historySize: 0 });
  const close = (): void => lines.close();
  lines.on("SIGINT", close);
  // Text that is pasted before its question may be a secret.
  lines.on("line", () => (isShown = false));
  signal.addEventListener("abort", close, { once: true });
  const typed = lines[Symbol.asyncIterator]();

  return {
    ask: async (question, { fallback = "", isSecret = false, problemOf = () => null } = {}) => {
      for (;;) {
        stderr.write(question);
        isShown = !isSecret;
        const { value, done } = await typed.next();
        if (isSecret || done === true) stderr.write("\n");
        if (done === true) throw new FlatlineError("unavailable", "stopped: nothing was written");
        const answer = value.trim() === "" ? fallback : value.trim();
        const problem = problemOf(answer);
        if (problem === null) return answer;
        stderr.write(`  It ${problem}.\n`);
      }
    },
    [Symbol.dispose]: () => {
      signal.removeEventListener("abort", close);
      lines.close();
    },
  };
}

/** Asks on stderr and reads one line; only y and yes confirm, not the end of the input or Ctrl-C. */
export async function askYesNo(question: string, context: CliContext): Promise<boolean> {
  if (context.signal.aborted) return false;
  using questions = openQuestions(context);
  return await questions.ask(question).then(isYes, () => false);
}

/** Whether an answer is y or yes. */
export function isYes(answer: string | undefined): boolean {
  return /^y(es)?$/i.test(answer ?? "");
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
