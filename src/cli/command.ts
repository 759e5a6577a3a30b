import { Argument, Option, type Command } from "commander";

import type { CliContext } from "./context.ts";
import { asJson } from "./values.ts";

/** Adds everything but the name to commander's command. */
export type Complete = (command: Command, context: CliContext) => void;

/** A flag; its name is its key in kebab-case. */
export interface Flag<Value> {
  /** Placeholder of its value, such as `<time>` [it has none]. */
  readonly value?: string;
  readonly description: string;
  /** Parses it; `before` is the result so far of a flag that is repeated [the text itself]. */
  readonly parse?: (text: string, before: never) => Value;
  /** The default [undefined]. */
  readonly initial?: Value;
  readonly choices?: readonly string[];
  readonly isRequired?: boolean;
  readonly conflicts?: string[];
}
export type FlagSpecs = Readonly<Record<string, Flag<unknown>>>;
type ValueOf<Spec> = Spec extends Flag<infer Value> ? Value : never;
/** The values of flags; one that is not given and has no default is absent. */
export type FlagsOf<Specs> = {
  readonly [Name in keyof Specs as undefined extends ValueOf<Specs[Name]> ? never : Name]: ValueOf<Specs[Name]>;
} & {
  readonly [Name in keyof Specs as undefined extends ValueOf<Specs[Name]> ? Name : never]?: Exclude<
    ValueOf<Specs[Name]>,
    undefined
  >;
};

/** Returns a flag without a value. */
export function flag(description: string, ...conflicts: string[]): Flag<boolean | undefined> {
  return { description, conflicts };
}

/** Returns a flag with a value. */
export function value(placeholder: string, description: string): Flag<string | undefined>;
export function value<Value>(
  placeholder: string,
  description: string,
  parse: (text: string, before?: Value) => Value,
): Flag<Value | undefined>;
export function value(placeholder: string, description: string, parse?: Flag<unknown>["parse"]): Flag<unknown> {
  return { value: placeholder, description, ...(parse && { parse }) };
}

/** Returns a flag whose value is one of a few. */
export function choice<Value extends string>(
  placeholder: string,
  description: string,
  choices: readonly Value[],
): Flag<Value | undefined> {
  return { value: placeholder, description, choices };
}

/** Returns a flag with a default. */
export function or<Value>(given: Flag<Value | undefined>, initial: Value): Flag<Value> {
  return { ...(given as Flag<Value>), initial };
}

/** Returns a flag that is required. */
export function required<Value>(given: Flag<Value | undefined>): Flag<Value> {
  return { ...(given as Flag<Value>), isRequired: true };
}

/** An argument, such as `<id>`, `[slug]` or `<file...>`, and its choices [any]. */
export type WordSpec = readonly [name: string, description: string, choices?: readonly string[]];
export type WordsOf<Specs extends readonly WordSpec[]> = { readonly [Place in keyof Specs]: WordOf<Specs[Place][0]> };
type WordOf<Name> = Name extends `${string}...${string}`
  ? readonly string[]
  : Name extends `[${string}`
    ? string | undefined
    : string;

/** The typed line and its context. */
export interface Given<Flags, Words> {
  readonly context: CliContext;
  readonly flags: Flags;
  readonly words: Words;
}

/** A command as data. */
export interface CommandSpec<
  Flags extends FlagSpecs,
  Words extends readonly WordSpec[],
  Answer,
  Typed = Given<FlagsOf<Flags>, WordsOf<Words>>,
> {
  readonly description: string;
  readonly words?: Words;
  readonly flags?: Flags;
  /** Describes the output of `--json`; absent: there is no such flag. */
  readonly json?: string;
  /** The help after the flags. */
  readonly help: string;
  /** Its subcommands [none]. */
  readonly commands?: Readonly<Record<string, Complete>>;
  /** Runs it; undefined: nothing is printed. */
  readonly run: (given: Typed) => Answer | undefined | Promise<Answer | undefined>;
  /** Formats the answer for people, with the last line end. */
  readonly say: (answer: Answer, given: Typed) => string;
  /** Formats the answer for `--json` [JSON]. */
  readonly data?: (answer: Answer) => string;
  /** The exit code of an answer [0]. */
  readonly exitCode?: (answer: Answer) => number;
}

export function command<Answer, Flags extends FlagSpecs, const Words extends readonly WordSpec[] = readonly []>(
  spec: CommandSpec<Flags, Words, Answer>,
): Complete {
  const { description, words = [], json, help, commands = {}, run, say, data = asJson, exitCode } = spec;
  const declared: FlagSpecs = spec.flags ?? {};
  return (command, context) => {
    for (const [name, about, choices] of words) {
      const argument = new Argument(name, about);
      command.addArgument(choices === undefined ? argument : argument.choices(choices));
    }
    const options = Object.entries(declared).map(([name, one]) => [name, one, optionOf(name, one)] as const);
    for (const [, , option] of options) command.addOption(option);
    if (json !== undefined) command.addOption(optionOf("json", flag(json)));
    complete(command.description(description).addHelpText("after", help), commands, context);
    command.action(async (...typed: unknown[]) => {
      // commander gives the arguments, then the flags, then the command.
      const read = typed.at(-2) as Readonly<Record<string, unknown>>;
      const valueOf = ({ initial }: Flag<unknown>, option: Option): unknown =>
        option.negate ? read[option.attributeName()] === false : (read[option.attributeName()] ?? initial);
      const filled = options.map(([name, one, option]) => [name, valueOf(one, option)] as const);
      const flags = Object.fromEntries(filled.filter(([, value]) => value !== undefined)) as FlagsOf<Flags>;
      const given = { context, flags, words: typed.slice(0, -2) as never };
      const answer = await run(given);
      if (answer === undefined) return;
      context.stdout.write(read["json"] === true ? data(answer) : say(answer, given));
      if (exitCode !== undefined) context.setExitCode(exitCode(answer));
    });
  };
}

/** Completes a command that only has subcommands. */
export function group(description: string, commands: Readonly<Record<string, Complete>>, help = ""): Complete {
  return (command, context) => complete(command.description(description).addHelpText("after", help), commands, context);
}

function complete(parent: Command, commands: Readonly<Record<string, Complete>>, context: CliContext): void {
  for (const [name, completeOne] of Object.entries(commands)) completeOne(parent.command(name), context);
}

/** Returns the flag of a key: `--asset-id` for `assetId`. */
export function flagName(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function optionOf(key: string, { value = "", description, parse, initial, choices, ...rest }: Flag<unknown>): Option {
  const option = new Option(`${key === "config" ? "-c, " : ""}${flagName(key)} ${value}`.trim(), description);
  if (parse !== undefined) option.argParser<unknown>(parse as (text: string) => unknown);
  // The first choice is the value of a flag whose value is optional.
  if (choices !== undefined) option.choices(choices).preset(choices[0]);
  // The help need not show that a list is empty by default.
  if (initial !== undefined && !Array.isArray(initial)) option.default(initial);
  return option.makeOptionMandatory(rest.isRequired === true).conflicts(rest.conflicts ?? []);
}

export const configFlag = { config: value("<file>", "configuration file") };
