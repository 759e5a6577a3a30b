import type { Argument, Command, Option } from "commander";

/** What may follow in the place of a value: one of these words, a file, or text that only its author knows. */
export type CompletedValue = readonly string[] | "file" | "text";

export interface CompletedOption {
  /** As it is typed: `-c` and `--config`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** null: it takes no value. */
  readonly value: CompletedValue | null;
}

/** One command with all that may follow it. */
export interface CompletedCommand {
  /** The words that lead to it; empty for `flatline` itself. */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Kind of its arguments; they are all of one kind in each command, or cannot be told apart. */
  readonly value: CompletedValue;
}

/** Returns `program` and every command below it, each before its subcommands. */
export function commandTree(program: Command, path: readonly string[] = []): CompletedCommand[] {
  const children = program.createHelp().visibleCommands(program);
  const own = {
    path,
    commands: children.map((child) => ({ name: child.name(), description: child.description() })),
    options: program
      .createHelp()
      .visibleOptions(program)
      .map((option) => completedOption(option)),
    value: argumentsValue(program.registeredArguments),
  };
  return [own, ...program.commands.flatMap((child) => commandTree(child, [...path, child.name()]))];
}

function completedOption(option: Option): CompletedOption {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined && flag !== null);
  const takesValue = option.required || option.optional;
  return {
    flags,
    description: option.description,
    value: takesValue ? (option.argChoices ?? kindOf(option.flags)) : null,
  };
}

function argumentsValue(given: readonly Argument[]): CompletedValue {
  const choices = given.find(({ argChoices }) => argChoices !== undefined)?.argChoices;
  if (choices !== undefined) return choices;
  return given.some((one) => kindOf(`<${one.name()}>`) === "file") ? "file" : "text";
}

/** A value is a file where its name in the help says so. */
function kindOf(flags: string): "file" | "text" {
  return /[<[]file/.test(flags) ? "file" : "text";
}
