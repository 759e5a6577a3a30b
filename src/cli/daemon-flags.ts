import { resolve } from "node:path";

import type { Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { HttpFailure } from "../base/http.ts";
import { checkKey } from "../base/schema/secret-rules.ts";
import { Secret } from "../base/secret.ts";
import { daemonUrl, parseDaemonUrl } from "./daemon-address.ts";
import { withDaemon, type DaemonAccess, type DaemonClient } from "./daemon-client.ts";
import type { Config } from "../config/config.ts";
import { maxSecretBytes, readInputFile, secretOf } from "../config/document/files.ts";
import { loadClientConfig, lookUpConfigPath, noConfigFile, type ClientConfig } from "../config/load.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext } from "./context.ts";
import { asJson } from "./values.ts";

/** Flags of a command that asks the running daemon. */
export interface DaemonFlags {
  readonly config?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
}

/** Adds the flags that say how the daemon is reached, and `--json` where `json` says what it prints. */
export function withDaemonFlags(command: Command, json?: string): Command {
  command
    .option("-c, --config <file>", "configuration file, for server.listen and server.token")
    .option("--url <url>", "address of the daemon [$FLATLINE_URL, else server.listen]")
    .option("--token-file <file>", "file that holds a token [$FLATLINE_TOKEN, else server.token]");
  return json === undefined ? command : command.option("--json", json);
}

/** A command that asks the running daemon once, and prints what it answers. */
export interface DaemonCommand<Flags extends DaemonFlags, Words extends readonly unknown[], Answer> {
  /** What `--json` prints, for the help; without it there is no such flag. */
  readonly json?: string;
  /** What the help says after the flags. */
  readonly help: string;
  /** Asks for the answer; `words` are the command's arguments in their order. */
  readonly ask: (daemon: DaemonClient, flags: Flags, ...words: Words) => Promise<Answer>;
  /** Does the same without a daemon, by the configuration; without it the daemon is needed. */
  readonly here?: (config: Config, flags: Flags, ...words: Words) => Promise<Answer>;
  /** Puts the answer for people, with the end of its last line. */
  readonly say: (answer: Answer, asked: Asked<Flags, Words>) => string;
  /** The exit code that the answer means [0]. */
  readonly exitCode?: (answer: Answer) => number;
}

/** What a command was given, and whom it has asked. */
export interface Asked<Flags extends DaemonFlags, Words extends readonly unknown[]> {
  readonly flags: Flags;
  readonly words: Words;
  readonly found: FoundDaemon;
}

/** Completes a command that has its name, arguments and own flags: with those of the daemon, its help and what it does. */
export function daemonCommand<Flags extends DaemonFlags, Words extends readonly unknown[], Answer>(
  command: Command,
  context: CliContext,
  { json, help, ask, here, say, exitCode }: DaemonCommand<Flags, Words, Answer>,
): void {
  withDaemonFlags(command, json)
    .addHelpText("after", help)
    .action(async (...given: unknown[]) => {
      // commander gives the arguments, then the flags, then the command.
      const words = given.slice(0, -2) as unknown as Words;
      const flags = given.at(-2) as Flags;
      const found = await findDaemon(flags, context, here !== undefined);
      const askThere = () => withDaemon(found, context, (daemon) => ask(daemon, flags, ...words));
      const answer =
        here === undefined
          ? await askThere()
          : await askFirst(found, askThere, async () =>
              here(await loadCommandConfig(flags.config, context), flags, ...words),
            );
      context.stdout.write(flags.json === true ? asJson(answer) : say(answer, { flags, words, found }));
      if (exitCode !== undefined) context.setExitCode(exitCode(answer));
    });
}

/**
 * Asks a daemon, or does without it what it would do: where none answers, and where the configuration has no address or no token
 * for one. One that was named by its address is asked in any case.
 */
async function askFirst<Answer>(
  { isNamed, url, token }: FoundDaemon,
  ask: () => Promise<Answer>,
  here: () => Promise<Answer>,
): Promise<Answer> {
  if (!isNamed && (url === "" || token === null)) return here();
  try {
    return await ask();
  } catch (error) {
    const cause = error instanceof FlatlineError ? error.cause : null;
    if (isNamed || !(cause instanceof HttpFailure) || cause.mayHaveBeenSent) throw error;
    return here();
  }
}

/** Returns the author of an act: `--by`, else the operating system's user. */
export function authorOf(by: string | undefined, context: CliContext): string {
  return by ?? context.userName();
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

/** How the daemon is reached, and which addresses in its answers are not foreign. */
export interface FoundDaemon extends DaemonAccess {
  /** By a flag or the environment, not by the configuration. */
  readonly isNamed: boolean;
  readonly ownAddresses: readonly string[];
}

/** Asks the daemon that the flags name. @throws what withDaemon and findDaemon do */
export async function askDaemon<Answer>(
  flags: DaemonFlags,
  context: CliContext,
  ask: (daemon: DaemonClient) => Promise<Answer>,
): Promise<Answer> {
  return withDaemon(await findDaemon(flags, context), context, ask);
}

/**
 * Finds out how the daemon is reached: address and token each by a flag, else by the environment, else by the configuration, of
 * which nothing else is needed and which is not read where both are known. Where it `mayBeNowhere`, an address that the
 * configuration does not say is empty.
 * @throws usage and invalid_config
 */
export async function findDaemon(flags: DaemonFlags, context: CliContext, mayBeNowhere = false): Promise<FoundDaemon> {
  const { env, cwd } = context;
  const urlFrom = flags.url === undefined ? "$FLATLINE_URL" : "--url";
  const url = flags.url ?? (env["FLATLINE_URL"] || undefined);
  const givenUrl = url === undefined ? null : { url: parseDaemonUrl(url, urlFrom), urlFrom };
  const givenToken = await readGivenToken(flags, context);
  const isNamed = givenUrl !== null;
  if (isNamed && givenToken !== null) return { ...givenUrl, ...givenToken, isNamed, ownAddresses: [] };
  const path = await lookUpConfigPath({ flag: flags.config, env, cwd });
  if (path === null) {
    if (givenUrl === null) throw noConfigFile(", or the daemon's address with --url or $FLATLINE_URL");
    const tokenFrom = "name one with --token-file or $FLATLINE_TOKEN";
    return { ...givenUrl, token: null, tokenFrom, isNamed, ownAddresses: [] };
  }
  const needs = [...(givenUrl === null ? ["listen" as const] : []), ...(givenToken === null ? ["token" as const] : [])];
  const config = await loadClientConfig({ path, cwd, env }, needs);
  const { listen, file, ownAddresses } = config;
  const isNowhere = listen.endsWith(":0");
  if (isNowhere && !isNamed && !mayBeNowhere)
    throw new FlatlineError(
      "usage",
      "server.listen leaves the port to the system: name the daemon's address with --url",
    );
  const configured = {
    url: isNowhere ? "" : daemonUrl(listen),
    urlFrom: `server.listen of ${file}; --url names another one`,
  };
  return { ...(givenUrl ?? configured), ...(givenToken ?? configuredToken(config)), isNamed, ownAddresses };
}

function configuredToken({ token, file }: ClientConfig): Pick<DaemonAccess, "token" | "tokenFrom"> {
  if (token !== null) return { token, tokenFrom: `server.token of ${file}` };
  const inFile = `set server.token in ${file} and have the daemon reload it`;
  return { token, tokenFrom: `${inFile}, or name one with --token-file or $FLATLINE_TOKEN` };
}

async function readGivenToken(
  { tokenFile }: DaemonFlags,
  { env, cwd }: CliContext,
): Promise<Pick<DaemonAccess, "token" | "tokenFrom"> | null> {
  const tokenFrom = tokenFile === undefined ? "$FLATLINE_TOKEN" : `the token of ${tokenFile}`;
  const text = tokenFile === undefined ? (env["FLATLINE_TOKEN"] ?? "") : await readTokenFile(resolve(cwd, tokenFile));
  // As in the configuration, an empty variable is none.
  if (text === "" && tokenFile === undefined) return null;
  const problem = checkKey(text);
  if (problem !== null) throw new FlatlineError("usage", `${tokenFrom} ${problem}`);
  return { token: new Secret(text), tokenFrom };
}

async function readTokenFile(absolutePath: string): Promise<string> {
  const content = await readInputFile(absolutePath, maxSecretBytes);
  if (content.kind === "content") return secretOf(content.bytes);
  throw new FlatlineError("usage", `--token-file: the file ${absolutePath} ${content.reason}`);
}
