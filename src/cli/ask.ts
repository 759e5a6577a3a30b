import type { Command } from "commander";
import { z } from "zod";

import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import type { ApiClient } from "./api-client.ts";
import type { AskFlags, CliContext } from "./context.ts";
import { askApi, type Without } from "./door.ts";
import { confirmOpening } from "./questions.ts";
import { asJson } from "./values.ts";

/** Adds the flags that say who is asked, and `--json` where `json` says what it prints. */
export function addAskFlags(command: Command, json?: string): Command {
  command
    .option("-c, --config <file>", "configuration file")
    .option("--url <url>", "address of the daemon [$FLATLINE_URL, else server.listen]")
    .option("--token-file <file>", "file that holds a token [$FLATLINE_TOKEN, else that of the configuration]");
  return json === undefined ? command : command.option("--json", json);
}

/** Adds the flag of a command that acts. */
export function addBy(command: Command): Command {
  return command.option("--by <name>", "who acts [the operating system's user]");
}

/** A command that asks once, and prints the answer. */
export interface AskingCommand<Flags extends AskFlags, Words extends readonly unknown[], Answer> {
  /** What `--json` prints, for the help; without it there is no such flag. */
  readonly json?: string;
  /** What the help says after the flags. */
  readonly help: string;
  /** It acts, and says who does. */
  readonly acts?: boolean;
  /** [either] */
  readonly without?: Without;
  /** Asks for the answer; `words` are the command's arguments in their order. */
  readonly ask: (api: ApiClient, flags: Flags, ...words: Words) => Promise<Answer>;
  /** Asks which gates it would open; a person is asked before it does, unless `--yes` or `--dry-run` is there [none]. */
  readonly opens?: (api: ApiClient, flags: Flags, ...words: Words) => Promise<readonly string[]>;
  /** Puts the answer for people, with the end of its last line; `url` is of the daemon that was asked, null where none runs. */
  readonly say: (answer: Answer, flags: Flags, words: Words, url: string | null) => string;
  /** Puts it for `--json` [as JSON]. */
  readonly data?: (answer: Answer) => string;
  /** The exit code that the answer means [0]. */
  readonly exitCode?: (answer: Answer) => number;
}

/** Completes a command that has its name, arguments and own flags. */
export function askingCommand<Flags extends AskFlags, Words extends readonly unknown[], Answer>(
  command: Command,
  context: CliContext,
  { json, help, acts = false, without, ask, opens, say, data = asJson, exitCode }: AskingCommand<Flags, Words, Answer>,
): void {
  if (acts) addBy(command);
  if (opens !== undefined) command.option("--yes", "open gates without asking");
  addAskFlags(command, json)
    .addHelpText("after", help)
    .action(async (...given: unknown[]) => {
      // commander gives the arguments, then the flags, then the command.
      const words = given.slice(0, -2) as unknown as Words;
      const flags = given.at(-2) as Flags;
      if (opens !== undefined && flags.yes !== true && flags.dryRun !== true) {
        // A request of its own: nobody is kept from the store while a person thinks.
        const gates = await askApi(flags, context, (api) => opens(api, flags, ...words), without);
        if (gates.length > 0 && !(await confirmOpening(gates, context))) {
          context.stderr.write("nothing was done\n");
          context.setExitCode(1);
          return;
        }
      }
      let url: string | null = null;
      const work = (api: ApiClient) => ((url = api.url), ask(api, flags, ...words));
      const answer = await askApi(flags, context, work, without);
      context.stdout.write(flags.json === true ? data(answer) : say(answer, flags, words, url));
      if (exitCode !== undefined) context.setExitCode(exitCode(answer));
    });
}

/** Does something to each that is named, also after one that does not exist or is in use: that is said, and is the exit code. */
export async function forEachNamed(
  names: readonly string[],
  context: CliContext,
  act: (name: string) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    try {
      await act(name);
    } catch (error) {
      if (!(error instanceof FlatlineError) || !["not_found", "conflict"].includes(error.code)) throw error;
      context.stderr.write(`flatline: ${name}: ${error.message}\n`);
      context.setExitCode(error.exitCode);
    }
  }
}

/** What a command does to each id that it is given. */
export interface ActOnEach {
  /** What shows the ids, for the help. */
  readonly shownBy: string;
  readonly path: string;
  /** The request: its method, and what follows the id in its path [DELETE]. */
  readonly request?: readonly [method: "POST" | "DELETE", suffix: string];
  /** What it says of each that it was done to. */
  readonly done: string;
  readonly without?: Without;
}

/** Completes a command that acts on each id that is named. */
export function actingOnEach(
  command: Command,
  context: CliContext,
  { shownBy, path, request: [method, suffix] = ["DELETE", ""], done, without = "either" }: ActOnEach,
): void {
  const name = `${command.parent?.name()} ${command.name()}`;
  askingCommand(command.argument("<id...>", `ids that \`${shownBy}\` shows`), context, {
    acts: true,
    without,
    help: `\nExample:\n  flatline ${name} 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n`,
    ask: (api, _flags, ids: readonly string[]) =>
      forEachNamed(ids, context, async (id) => {
        await api.send(method, `${path}/${encodeURIComponent(id)}${suffix}`, undefined, z.unknown());
        context.stdout.write(`${id}: ${done}\n`);
      }),
    say: () => "",
  });
}

/** Says of an error of the API what it means for this command: other codes by those that it has. */
export function recode(codes: Partial<Record<ErrorCode, ErrorCode>>): (error: unknown) => never {
  return (error) => {
    const code = error instanceof FlatlineError ? codes[error.code] : undefined;
    if (!(error instanceof FlatlineError) || code === undefined) throw error;
    throw new FlatlineError(code, error.message, { cause: error, issues: error.issues });
  };
}

/** Takes a "not found" for null. */
export function ifMissing(error: unknown): null {
  if (error instanceof FlatlineError && error.code === "not_found") return null;
  throw error;
}
