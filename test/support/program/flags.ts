import { parseArgs, type ParseArgsConfig } from "node:util";

const usageExitCode = 64;

/**
 * Reads the flags of a script of the tests. `--help` prints the usage and ends the process; flags that are not known, or lack
 * their value, end it with the usage and 64.
 */
export function readFlags<const Options extends NonNullable<ParseArgsConfig["options"]>>(
  usage: string,
  options: Options,
): ReturnType<typeof parseArgs<{ options: Options }>>["values"] {
  if (process.argv.slice(2).includes("--help")) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs<{ options: Options }>({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
}

/** Reads the number of a flag; one below `least`, or a broken one where a whole one is wanted, ends the process with 64. */
export function readNumber(
  flag: string,
  text: string,
  { least, isWhole = true, usage }: { readonly least: number; readonly isWhole?: boolean; readonly usage: string },
): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const isGood = Number.isFinite(value) && value >= least && (!isWhole || Number.isSafeInteger(value));
  return isGood ? value : refuse(`--${flag} must be a ${isWhole ? "whole " : ""}number from ${least} on`, usage);
}

/** Ends the process with a message, the usage and 64. */
export function refuse(message: string, usage: string): never {
  process.stderr.write(`${message}\n${usage}\n`);
  process.exit(usageExitCode);
}
