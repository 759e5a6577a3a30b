import { Command, CommanderError } from "commander";

import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import { escapeControls } from "../base/outside-text.ts";
import type { Complete } from "./command.ts";
import type { CliContext } from "./context.ts";

const usageExitCode = 64;

/**
 * Parses `argv` (without node and script), runs the command and sets the exit code; never rejects. Wrong usage is 64,
 * other exit codes are in base/errors.ts. FLATLINE_DEBUG prints the stack trace of a bug.
 */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<void> {
  // commander's `help` takes one name only.
  const line = argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;
  const program = await createProgram(context, line);
  try {
    refuseStranded(program, line);
    await program.parseAsync(line, { from: "user" });
  } catch (error) {
    context.setExitCode(reportError(error, context));
  }
}

/** Creates the program with the command of this line; all commands are loaded when it names none of them. */
async function createProgram(context: CliContext, [word = ""]: readonly string[]): Promise<Command> {
  const program = new Command("flatline")
    .description("Alerts when a liveness checker breaks and live phishing is silently marked as dead.")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help of a command")
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: (text, write) => write(worded(text)),
      getOutHelpWidth: () => context.stdout.columns,
      getErrHelpWidth: () => context.stderr.columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    // Options belong to the command before them: a value like -V… (a cursor, a comment) does not print the version.
    .enablePositionalOptions()
    .addHelpText("after", rootHelp);
  const isKnown = Object.values(groups).some((commands) => Object.hasOwn(commands, word));
  // The version needs no command.
  const isVersion = word === "-V" || word === "--version";
  for (const [heading, commands] of isVersion ? [] : Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(commands))
      if (!isKnown || name === word) (await load())(program.command(name), context);
  }
  addVersion(program, context.version);
  return program;
}

/** Returns an error of commander as ours begin, with what may stand in the place of a wrong choice. */
function worded(text: string): string {
  return text
    .replace(/^error: /, "flatline: ")
    .replace(
      /option '([^' ]+)[^']*' argument ('[^]*') is invalid\. Allowed choices are ([^]*)\.$/m,
      "$1 is one of $3, not $2",
    )
    .replace(
      /command-argument value ('[^]*') is invalid for argument '([^']*)'\. Allowed choices are ([^]*)\.$/m,
      "$2 is one of $3, not $1",
    );
}

const shortestBegin = 3;

/** @throws usage when the word is or begins with the name of a subcommand: `ack` means `incidents ack` */
function refuseStranded(program: Command, [word = ""]: readonly string[]): void {
  if (program.commands.some((command) => command.name() === word)) return;
  const isMeant = (name: string): boolean => name === word || (name.length >= shortestBegin && word.startsWith(name));
  const meant = program.commands.flatMap((command) =>
    command.commands.filter((child) => isMeant(child.name())).map((child) => `"${command.name()} ${child.name()}"`),
  );
  if (meant.length > 0)
    throw new FlatlineError("usage", `unknown command '${word}'; did you mean ${meant.join(" or ")}?`);
}

const rootHelp = `
The configuration file is -c FILE, else $FLATLINE_CONFIG, else ./flatline.yaml, else
/etc/flatline/flatline.yaml.
Where a daemon has the configured store, it is asked; with --url or $FLATLINE_URL, and --token-file
or $FLATLINE_TOKEN, that one, and no file is needed.

Examples:
  flatline init                        write a first configuration
  flatline run -c flatline.yaml        run the daemon
  flatline check                       evaluate every organization once; exit 0 ok, 1 warn, 2 fail, 3 unknown
  flatline config check                validate the configuration
  flatline import events events.csv.gz load liveness events into the embedded store
`;

function addVersion(command: Command, version: string): void {
  command.version(version, "-V, --version", "print the version");
  for (const child of command.commands) addVersion(child, version);
}

/** Prints an error and returns its exit code. */
export function reportError(error: unknown, context: CliContext): number {
  // commander has printed its message, or the help, already.
  if (error instanceof CommanderError) {
    if (error.code === "commander.unknownOption" && /'(-c|--config)[=']/.test(error.message))
      context.stderr.write("(-c FILE stands after the whole command: flatline check -c FILE)\n");
    return error.exitCode === 0 ? 0 : usageExitCode;
  }
  const known = asFlatlineError(error);
  context.stderr.write(`flatline: ${escapeControls(known.message)}\n`);
  // The first issue may be the message itself.
  for (const issue of known.issues) if (issue !== known.message) context.stderr.write(`  ${escapeControls(issue)}\n`);
  if (known.fault === "bug") {
    const hint = "this is a bug in flatline; set FLATLINE_DEBUG=1 to see where";
    const stack = known.cause instanceof Error ? known.cause.stack : known.stack;
    context.stderr.write(context.env["FLATLINE_DEBUG"] === undefined ? `  ${hint}\n` : `${stack ?? ""}\n`);
  }
  return known.exitCode;
}

/** All commands, in the groups and the order of `--help`. Each is loaded when it is needed. */
const groups: Readonly<Record<string, Readonly<Record<string, () => Promise<Complete>>>>> = {
  "Start:": {
    init: async () => (await import("./init.ts")).init,
    run: async () => (await import("./run.ts")).run,
    check: async () => (await import("./check.ts")).check,
    config: async () => (await import("./config.ts")).config,
  },
  "At night:": {
    status: async () => (await import("./status.ts")).status,
    incidents: async () => (await import("./incidents/incidents.ts")).incidents,
    gate: async () => (await import("./gate.ts")).gate,
    silence: async () => (await import("./silence.ts")).silence,
  },
  "Look back:": {
    backtest: async () => (await import("./replay/backtest.ts")).backtest,
    tune: async () => (await import("./replay/tune.ts")).tune,
    audit: async () => (await import("./audit.ts")).audit,
  },
  "Run it:": {
    import: async () => (await import("./import.ts")).importData,
    notify: async () => (await import("./notify.ts")).notify,
    outbox: async () => (await import("./outbox.ts")).outbox,
    marker: async () => (await import("./marker.ts")).marker,
    backup: async () => (await import("./backup.ts")).backup,
    forget: async () => (await import("./forget.ts")).forget,
    healthcheck: async () => (await import("./healthcheck.ts")).healthcheck,
  },
  "Platform:": {
    reports: async () => (await import("./platform/reports.ts")).reports,
    proposals: async () => (await import("./platform/proposals.ts")).proposals,
    keys: async () => (await import("./keys.ts")).keys,
  },
};
