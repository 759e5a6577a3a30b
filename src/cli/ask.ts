import { z } from "zod";

import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import type { ApiClient } from "./api-client.ts";
import {
  command,
  configFlag,
  flag,
  value,
  type CommandSpec,
  type Complete,
  type FlagsOf,
  type FlagSpecs,
  type Given,
  type WordsOf,
  type WordSpec,
} from "./command.ts";
import type { AskFlags, CliContext } from "./context.ts";
import { askApi, type Without } from "./door.ts";
import { confirmOpening } from "./questions.ts";

/** The flags of a command that asks the HTTP API. */
export const askFlags = {
  ...configFlag,
  url: value("<url>", "address of the daemon [$FLATLINE_URL, else server.listen]"),
  tokenFile: value("<file>", "file that holds a token [$FLATLINE_TOKEN, else that of the configuration]"),
};
/** The flag of a command that acts. */
export const byFlag = { by: value("<name>", "who acts [the operating system's user]") };
const yesFlag = { yes: flag("open gates without asking") };

/** The typed line, the author, and the API to ask. */
interface Asked<Flags, Words> extends Given<Flags & { readonly by: string }, Words> {
  readonly api: ApiClient;
}

/** A command that asks the HTTP API once and prints the answer. */
interface AskingSpec<Flags extends FlagSpecs, Words extends readonly WordSpec[], Answer> extends Omit<
  CommandSpec<Flags, Words, Answer>,
  "run"
> {
  /** It acts, so it has `--by` [false]. */
  readonly acts?: boolean;
  /** [either] */
  readonly without?: Without;
  readonly ask: (asked: Asked<FlagsOf<Flags>, WordsOf<Words>>) => Promise<Answer | undefined>;
  /** Returns the gates that it would open; it asks before it does, unless `--yes` or `--dry-run` is set [none]. */
  readonly opens?: (asked: Asked<FlagsOf<Flags>, WordsOf<Words>>) => Promise<readonly string[]>;
}

/** Completes a command that asks the HTTP API. */
export function asking<Answer, Flags extends FlagSpecs, const Words extends readonly WordSpec[] = readonly []>({
  acts = false,
  without,
  ask,
  opens,
  ...spec
}: AskingSpec<Flags, Words, Answer>): Complete {
  const shared = { ...(acts ? byFlag : {}), ...(opens === undefined ? {} : yesFlag), ...askFlags };
  return command<Answer, Flags, Words>({
    ...spec,
    flags: { ...(spec.flags as Flags), ...shared },
    run: async (given) => {
      const { context } = given;
      const typed: FlagsOf<Flags> & AskFlags = given.flags;
      const asked = <Result>(work: (all: Asked<FlagsOf<Flags>, WordsOf<Words>>) => Promise<Result>): Promise<Result> =>
        askApi(typed, context, (api) => work({ ...given, flags: { ...typed, by: api.user }, api }), without);
      if (opens !== undefined && typed.yes !== true && typed.dryRun !== true) {
        // A separate request, so that the store is free while a person thinks.
        const gates = await asked(opens);
        if (gates.length > 0 && !(await confirmOpening(gates, context))) {
          context.stderr.write("nothing was done\n");
          context.setExitCode(1);
          return undefined;
        }
      }
      return asked(ask);
    },
  });
}

/** Acts on each name. One that does not exist or is in use is printed and sets the exit code; the others go on. */
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

/** Completes a command that acts on each of its ids. */
export function actingOnEach(
  description: string,
  {
    example,
    shownBy,
    path,
    request: [method, suffix] = ["DELETE", ""],
    done,
    without = "either",
  }: {
    /** The command without its ids. */
    readonly example: string;
    readonly shownBy: string;
    readonly path: string;
    /** The method, and the end of the path after the id [DELETE]. */
    readonly request?: readonly [method: "POST" | "DELETE", suffix: string];
    /** Printed after each id. */
    readonly done: string;
    readonly without?: Without;
  },
): Complete {
  return asking({
    description,
    words: [["<id...>", `ids that \`${shownBy}\` shows`]],
    acts: true,
    without,
    help: `\nExample:\n  flatline ${example} 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n`,
    // Each is printed at once: what was done before an error must be seen.
    ask: ({ api, context, words: [ids] }) =>
      forEachNamed(ids, context, async (id) => {
        await api.send(method, `${path}/${encodeURIComponent(id)}${suffix}`, undefined, z.unknown());
        context.stdout.write(`${id}: ${done}\n`);
      }),
    say: () => "",
  });
}

/** Returns a handler that throws an error of the API again, with another code. */
export function recode(codes: Partial<Record<ErrorCode, ErrorCode>>): (error: unknown) => never {
  return (error) => {
    const code = error instanceof FlatlineError ? codes[error.code] : undefined;
    if (!(error instanceof FlatlineError) || code === undefined) throw error;
    throw new FlatlineError(code, error.message, { cause: error, issues: error.issues });
  };
}
