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

/** The flags that say who is asked. */
export const askFlags = {
  ...configFlag,
  url: value("<url>", "address of the daemon [$FLATLINE_URL, else server.listen]"),
  tokenFile: value("<file>", "file that holds a token [$FLATLINE_TOKEN, else that of the configuration]"),
};
/** The flag of a command that acts. */
export const byFlag = { by: value("<name>", "who acts [the operating system's user]") };
const yesFlag = { yes: flag("open gates without asking") };

/** What was typed, who acts, and whom to ask. */
interface Asked<Flags, Words> extends Given<Flags & { readonly by: string }, Words> {
  readonly api: ApiClient;
}

/** A command that asks the HTTP API once, and prints the answer. */
interface AskingSpec<Flags extends FlagSpecs, Words extends readonly WordSpec[], Answer> extends Omit<
  CommandSpec<Flags, Words, Answer>,
  "run"
> {
  /** It acts, and says who does. */
  readonly acts?: boolean;
  /** [either] */
  readonly without?: Without;
  readonly ask: (asked: Asked<FlagsOf<Flags>, WordsOf<Words>>) => Promise<Answer | undefined>;
  /** Asks which gates it would open; a person is asked before it does, unless `--yes` or `--dry-run` is there [none]. */
  readonly opens?: (asked: Asked<FlagsOf<Flags>, WordsOf<Words>>) => Promise<readonly string[]>;
}

/** Returns what completes a command that asks. */
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
        // A request of its own: nobody is kept from the store while a person thinks.
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

/** Returns what completes a command that acts on each id that is named, which another command shows. */
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
    /** The request: its method, and what follows the id in its path [DELETE]. */
    readonly request?: readonly [method: "POST" | "DELETE", suffix: string];
    /** What it says of each that it was done to. */
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
    ask: async ({ api, context, words: [ids] }) => {
      const acted: string[] = [];
      await forEachNamed(ids, context, async (id) => {
        await api.send(method, `${path}/${encodeURIComponent(id)}${suffix}`, undefined, z.unknown());
        acted.push(id);
      });
      return acted;
    },
    say: (acted) => acted.map((id) => `${id}: ${done}\n`).join(""),
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
