import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import type { Command } from "commander";
import { z } from "zod";

import { FlatlineError, messageOf, type ErrorCode } from "../base/errors.ts";
import { createHttpDispatcher, type HttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest, type HttpResponse } from "../base/http.ts";
import { checkKey } from "../base/schema/secret-rules.ts";
import { Secret } from "../base/secret.ts";
import { secondMs } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { maxSecretBytes, readInputFile, secretOf } from "../config/document/files.ts";
import { loadClientConfig, lookUpConfigPath, noConfigFile } from "../config/load.ts";
import type { Door } from "../daemon/door.ts";
import { localTokenPath } from "../daemon/local-token.ts";
import { takeWithinMs } from "../store/writer.ts";
import { createApiClient, type ApiAccess, type ApiClient, type Exchange } from "./api-client.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext } from "./context.ts";
import { daemonUrl, isLoopback, parseDaemonUrl } from "./daemon-address.ts";
import { confirmOpening } from "./questions.ts";
import { asJson } from "./values.ts";

/** Flags of a command that asks the HTTP API. */
export interface AskFlags {
  readonly config?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly by?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** What a command does without a daemon, when no other process has the store. */
export type Without =
  /** Nothing: a daemon has to answer. */
  | "daemon"
  /** It has the same routes in its own process, over the store; where there is none, a daemon is missing. */
  | "either"
  /** … where there is none, that is missing. */
  | "store"
  /** … over the store, which is made where there is none. */
  | "new store"
  /** … where there is no store over one that is thrown away. */
  | "no store";

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

/** Returns the author of an act: `--by`, else the operating system's user. */
export function authorOf(by: string | undefined, context: CliContext): string {
  return by ?? context.userName();
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
  /** Puts the answer for people, with the end of its last line. */
  readonly say: (answer: Answer, asked: Asked<Flags, Words>) => string;
  /** Puts it for `--json` [as JSON]. */
  readonly data?: (answer: Answer) => string;
  /** The exit code that the answer means [0]. */
  readonly exitCode?: (answer: Answer) => number;
}

/** What a command was given. */
export interface Asked<Flags extends AskFlags, Words extends readonly unknown[]> {
  readonly flags: Flags;
  readonly words: Words;
  /** Of the daemon that was asked; null: none runs. */
  readonly url: string | null;
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
      context.stdout.write(flags.json === true ? data(answer) : say(answer, { flags, words, url }));
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

/**
 * Lets `work` ask the HTTP API (CONTRACT 3): of the daemon whose address is given; else of the one that has the configured
 * store; else, when no process has it, in this one.
 * @throws usage, invalid_config, unavailable without an answer, store_*
 */
export async function askApi<Answer>(
  flags: AskFlags,
  context: CliContext,
  work: (api: ApiClient) => Promise<Answer>,
  without: Without = "either",
): Promise<Answer> {
  const user = authorOf(flags.by, context);
  const found = await findDaemon(flags, context, without);
  const dispatcher = createHttpDispatcher({ env: found.url !== null && isLoopback(found.url) ? {} : context.env });
  let door: Door | null = null;
  try {
    if (!found.isNamed && without !== "daemon")
      door = await openUnlessHeld(found, { flags, context, without, dispatcher });
    if (door !== null) return await work(createApiClient(accessOf(door), user));
    const token = found.token ?? (await readLocalToken(found));
    const tokenFrom = found.token === null && token !== null ? "the daemon's own token" : found.tokenFrom;
    const exchange = (request: Exchange) => askDaemon(found, request, context, dispatcher);
    return await work(createApiClient({ url: found.url, token, tokenFrom, exchange }, user));
  } finally {
    await door?.close();
    await dispatcher.destroy();
  }
}

/** Where a daemon would be, and what is shown to it. */
interface Found {
  /** Without a trailing slash; null: the configuration leaves its port to the system. */
  readonly url: string | null;
  /** What says the address, for messages. */
  readonly urlFrom: string;
  /** By a flag or the environment, not by the configuration. */
  readonly isNamed: boolean;
  /** null: none is known. */
  readonly token: Secret | null;
  readonly tokenFrom: string;
  /** The store's file of the configuration; null: it is unknown, or there is none. */
  readonly storePath: string | null;
}

/**
 * Finds out how the daemon is reached: address and token each by a flag, else by the environment, else by the configuration, of
 * which nothing else is needed and which is not read where both are known.
 * @throws usage and invalid_config
 */
async function findDaemon(flags: AskFlags, context: CliContext, without: Without): Promise<Found> {
  const { env, cwd } = context;
  const urlFrom = flags.url === undefined ? "$FLATLINE_URL" : "--url";
  const named = flags.url ?? (env["FLATLINE_URL"] || undefined);
  const given = await readGivenToken(flags, context);
  const address = named === undefined ? null : { url: parseDaemonUrl(named, urlFrom), urlFrom, isNamed: true };
  if (address !== null && given !== null) return { ...address, ...given, storePath: null };
  const path = await lookUpConfigPath({ flag: flags.config, env, cwd });
  if (path === null) {
    if (address === null) throw noConfigFile(", or the daemon's address with --url or $FLATLINE_URL");
    return { ...address, token: null, tokenFrom: "name one with --token-file or $FLATLINE_TOKEN", storePath: null };
  }
  const needs = [...(address === null ? ["listen" as const] : []), ...(given === null ? ["token" as const] : [])];
  const { listen, file, token, storePath } = await loadClientConfig({ path, cwd, env }, needs).catch(
    async (error: unknown) => {
      // What is about the store says of all that is wrong.
      if (without !== "daemon" && without !== "either") await loadCommandConfig(flags.config, context);
      throw error;
    },
  );
  const hasPort = !listen.endsWith(":0");
  if (!hasPort && address === null && without === "daemon")
    throw new FlatlineError(
      "usage",
      "server.listen leaves the port to the system: name the daemon's address with --url",
    );
  const tokenFrom =
    token === null
      ? `set server.token in ${file} and have the daemon reload it, or name one with --token-file or $FLATLINE_TOKEN`
      : `server.token of ${file}`;
  const listening = { url: hasPort ? daemonUrl(listen) : null, isNamed: false };
  return {
    ...(address ?? { ...listening, urlFrom: `server.listen of ${file}; --url names another one` }),
    ...(given ?? { token, tokenFrom }),
    storePath,
  };
}

async function readGivenToken(
  { tokenFile }: AskFlags,
  { env, cwd }: CliContext,
): Promise<Pick<Found, "token" | "tokenFrom"> | null> {
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

/** The token that a daemon on this machine leaves beside its store; it is shown to no other machine. */
async function readLocalToken({ url, isNamed, storePath }: Found): Promise<Secret | null> {
  if (storePath === null || url === null || (isNamed && !isLoopback(url))) return null;
  const content = await readInputFile(localTokenPath(storePath), maxSecretBytes);
  return content.kind === "content" ? new Secret(secretOf(content.bytes)) : null;
}

interface Here {
  readonly flags: AskFlags;
  readonly context: CliContext;
  readonly without: Without;
  readonly dispatcher: HttpDispatcher;
}

const retryMs = 200;

/**
 * Opens the door of the store; null: another process has it, and a daemon answers. Waits for one that has it and does not
 * answer, which may be beginning, ending, or another command.
 */
async function openUnlessHeld(found: Found, here: Here): Promise<Door | null> {
  const { clock, signal } = here.context;
  const deadlineMs = clock.monotonicMs() + takeWithinMs;
  for (;;) {
    let held: FlatlineError;
    try {
      return await openHere(here, here.without === "new store" ? "made" : "there");
    } catch (error) {
      // Store and secrets may be out of the reach of who may ask the daemon.
      if (!(error instanceof FlatlineError)) throw error;
      held = error;
    }
    const problem = found.url === null ? null : await problemOf(found.url, here);
    if (found.url !== null && problem === null) return null;
    if (held.code === "no_input" && here.without === "no store") return openHere(here, "thrown away");
    const isMissing = held.code === "no_input" && here.without === "either";
    if (held.code !== "store_busy" && !isMissing) throw held;
    if (isMissing || clock.monotonicMs() + retryMs > deadlineMs || signal.aborted)
      throw problem === null ? held : new FlatlineError("unavailable", `${noAnswer(found, problem)}; ${held.message}`);
    await clock.sleep(retryMs, signal);
  }
}

async function openHere({ flags, context, without }: Here, store: "there" | "made" | "thrown away"): Promise<Door> {
  const config = await loadCommandConfig(flags.config, context);
  // Loaded when it is needed: most commands ask a daemon.
  const [{ openDoor }, { createLogger }, { logLook }] = await Promise.all([
    import("../daemon/door.ts"),
    import("../base/logger.ts"),
    import("./terminal-log.ts"),
  ]);
  const look = logLook(config, context);
  // A receiver of type log is tried by what it logs.
  const level = without === "no store" ? "info" : "warn";
  const logger = createLogger({ ...look, level, write: (line) => context.stderr.write(line) });
  const deps = { ...context, logger };
  if (store !== "thrown away") return openDoor(config, deps, { mustExist: store === "there" });
  const folder = await mkdtemp(join(tmpdir(), "flatline-"));
  const storage: Config["storage"] = { ...config.storage, path: join(folder, "flatline.db"), url: null };
  const door = await openDoor({ ...config, storage }, deps, { mustExist: false });
  const close = async (): Promise<void> => {
    await door.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...door, close };
}

function accessOf({ inject, importTarget, token }: Door): ApiAccess {
  return {
    ...(importTarget === null ? {} : { importTarget }),
    url: null,
    token,
    tokenFrom: "this command",
    exchange: async ({ method, path, headers, body }) => {
      const request = { method, url: path, headers, ...(body === undefined ? {} : { payload: body }) };
      const { statusCode, payload } = await inject(request);
      return { status: statusCode, body: payload, headers: {}, isTruncated: false };
    },
  };
}

const healthWithinMs = 2 * secondMs;
const mostHealthBytes = 64 * 1_024;

/** Why no daemon answers there; null: one does. */
async function problemOf(url: string, { context: { clock, signal }, dispatcher }: Here): Promise<string | null> {
  const timeout = clock.timeout(healthWithinMs, signal);
  const request = {
    method: "GET",
    url: `${url}/-/healthy`,
    headers: {},
    signal: timeout,
    maxBodyBytes: mostHealthBytes,
  };
  return sendRequest(dispatcher, request).then(() => null, messageOf);
}

// The daemon answers from its store in milliseconds; a store that is being imported into may take seconds.
const timeoutMs = 10 * secondMs;
// Beyond the default timeout of a receiver with some fifty recipients.
const slowTimeoutMs = 120 * secondMs;

async function askDaemon(
  found: Found,
  { path, isSlow, headers, ...request }: Exchange,
  { clock, signal }: CliContext,
  dispatcher: HttpDispatcher,
): Promise<HttpResponse> {
  const timeout = clock.timeout(isSlow ? slowTimeoutMs : timeoutMs, signal);
  const accept = { accept: "application/json", ...headers };
  try {
    return await sendRequest(dispatcher, { ...request, url: `${found.url}${path}`, headers: accept, signal: timeout });
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    throw new FlatlineError("unavailable", noAnswer(found, error.message), { cause: error });
  }
}

function noAnswer({ url, urlFrom }: Found, problem: string): string {
  return `no flatline answers at ${url}: ${problem}. Is it running? (${urlFrom})`;
}
