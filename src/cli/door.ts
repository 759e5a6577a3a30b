import { FlatlineError, messageOf } from "../base/errors.ts";
import { createHttpDispatcher, type HttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest, type HttpResponse } from "../base/http.ts";
import { isLoopbackHost } from "../base/url.ts";
import { checkKey } from "../base/schema/secret-rules.ts";
import { Secret } from "../base/secret.ts";
import { secondMs } from "../base/time.ts";
import { maxSecretBytes, readInputFile, secretOf } from "../config/document/files.ts";
import { findConfigPath, loadClientConfig, lookUpConfigPath } from "../config/load.ts";
import type { App } from "../daemon/app.ts";
import { localTokenPath } from "../daemon/local-token.ts";
import { takeWithinMs } from "../store/writer.ts";
import { createApiClient, type ApiAccess, type ApiClient, type Exchange } from "./api-client.ts";
import { loadCommandConfig, makeScratch, readSecretFile } from "./command-config.ts";
import type { AskFlags, CliContext } from "./context.ts";

/**
 * What a command does when no daemon has the store. "daemon": it fails; all others run the routes in its own process.
 * When there is no store, it reports the missing store ("store") or daemon ("either"), creates a store ("new store"),
 * or uses a temporary one ("no store").
 */
export type Without = "daemon" | "either" | "store" | "new store" | "no store";

/** Returns the URL of a daemon that listens at `listen` (host:port); a wildcard address becomes a loopback address. */
export function daemonUrl(listen: string): string {
  const reachable = listen
    .replace(/^0\.0\.0\.0:/, "127.0.0.1:")
    .replace(/^\[::\]:/, "[::1]:")
    .replace(/^:/, "127.0.0.1:");
  return `http://${reachable}`;
}

const mostHealthBytes = 64 * 1_024;

/** Asks the daemon at `url` whether it is healthy. @throws HttpFailure without an answer */
export function askHealthy(url: string, dispatcher: HttpDispatcher, signal: AbortSignal): Promise<HttpResponse> {
  const request = { method: "GET", url: `${url}/-/healthy`, headers: {}, maxBodyBytes: mostHealthBytes };
  return sendRequest(dispatcher, { ...request, signal });
}

/**
 * Lets `work` ask the HTTP API (CONTRACT 3) of the daemon whose address is given, else of the daemon that has the
 * configured store, else of this process. @throws usage, invalid_config, unavailable without an answer, store_*
 */
export async function askApi<Answer>(
  flags: AskFlags,
  context: CliContext,
  work: (api: ApiClient) => Promise<Answer>,
  without: Without = "either",
): Promise<Answer> {
  const found = await findDaemon(flags, context, without);
  if (found.url === null && without === "daemon")
    throw new FlatlineError(
      "usage",
      "server.listen leaves the port to the system: name the daemon's address with --url",
    );
  const dispatcher = createHttpDispatcher({ env: isHere(found) ? {} : context.env });
  let door: Door | null = null;
  try {
    if (!found.isNamed && without !== "daemon") door = await openUnlessHeld(found, dispatcher, flags, context, without);
    if (context.signal.aborted) throw new FlatlineError("unavailable", "stopped before anything was asked");
    return await work(
      createApiClient(await accessTo(door ?? found, context, dispatcher), flags.by ?? context.userName()),
    );
  } finally {
    await door?.close();
    await dispatcher.destroy();
  }
}

/** The routes of a daemon in this process. */
interface Door extends Pick<App, "inject" | "importTarget" | "localToken"> {
  readonly close: () => Promise<unknown>;
}

/** Address and token of a daemon. The url has no slash at its end; null: the system chooses its port. */
type Found = Awaited<ReturnType<typeof findDaemon>>;

/**
 * Finds address and token of the daemon: each from a flag, else from the environment, else from the configuration,
 * which is read only when it is needed. @throws usage, invalid_config
 */
async function findDaemon(flags: AskFlags, context: CliContext, without: Without) {
  const { env, cwd } = context;
  const urlFrom = flags.url === undefined ? "$FLATLINE_URL" : "--url";
  const named = flags.url ?? (env["FLATLINE_URL"] || undefined);
  const address = named === undefined ? null : { url: parseDaemonUrl(named, urlFrom), urlFrom, isNamed: true };
  const given = await readGivenToken(flags, context);
  const lookup = { flag: flags.config, env, cwd };
  if (address !== null && (given !== null || lookUpConfigPath(lookup) === null))
    return { ...address, token: given, storePath: null };
  const path = findConfigPath(lookup, ", or the daemon's address with --url or $FLATLINE_URL");
  const needs = [...(address === null ? ["listen" as const] : []), ...(given === null ? ["token" as const] : [])];
  const { listen, file, token, storePath } = await loadClientConfig({ path, cwd, env }, needs).catch(
    async (error: unknown) => {
      // A command that may open the store reports every problem of the configuration.
      if (without !== "daemon" && without !== "either") await loadCommandConfig(flags.config, context);
      throw error;
    },
  );
  const url = listen.endsWith(":0") ? null : daemonUrl(listen);
  return {
    ...(address ?? { url, urlFrom: `server.listen of ${file}; --url names another one`, isNamed: false }),
    token: given ?? (token === null ? null : { secret: token, from: `server.token of ${file}` }),
    storePath,
  };
}

/** Returns an address from `from` without a trailing slash. @throws usage if it is no URL of http or https */
function parseDaemonUrl(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new FlatlineError("usage", `${from} must be the address of a flatline, such as http://127.0.0.1:9640`);
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** Returns whether a daemon is on this machine: no proxy is used then. */
function isHere({ url }: Found): boolean {
  return url !== null && isLoopbackHost(new URL(url).hostname);
}

async function readGivenToken({ tokenFile }: AskFlags, { env, cwd }: CliContext): Promise<ApiAccess["token"]> {
  const from = tokenFile === undefined ? "$FLATLINE_TOKEN" : `the token of ${tokenFile}`;
  const text =
    tokenFile === undefined ? (env["FLATLINE_TOKEN"] ?? "") : await readSecretFile("--token-file", tokenFile, cwd);
  // An empty variable counts as not set, as in the configuration.
  if (text === "" && tokenFile === undefined) return null;
  const problem = checkKey(text);
  if (problem !== null) throw new FlatlineError("usage", `${from} ${problem}`);
  return { secret: new Secret(text), from };
}

/** Reads the token that a daemon on this machine leaves beside its store; no other machine gets it. */
async function readLocalToken(found: Found): Promise<ApiAccess["token"]> {
  if (found.storePath === null || (found.isNamed && !isHere(found))) return null;
  const content = await readInputFile(localTokenPath(found.storePath), maxSecretBytes);
  if (content.kind !== "content") return null;
  return { secret: new Secret(secretOf(content.bytes)), from: "the daemon's own token" };
}

const retryMs = 200;
const healthWithinMs = 2 * secondMs;

/**
 * Opens the store's routes here; null: a daemon has the store and answers. Waits for a process that has the store and
 * does not answer: a daemon that starts or stops, or another command.
 */
async function openUnlessHeld(
  found: Found,
  dispatcher: HttpDispatcher,
  flags: AskFlags,
  context: CliContext,
  without: Without,
): Promise<Door | null> {
  const { clock, signal } = context;
  const deadlineMs = clock.monotonicMs() + takeWithinMs;
  for (;;) {
    let held: FlatlineError;
    try {
      return await openHere(flags, context, without);
    } catch (error) {
      // A user who may ask the daemon need not have access to store and secrets.
      if (!(error instanceof FlatlineError)) throw error;
      held = error;
    }
    let problem: string | null = null;
    if (found.url !== null) {
      const answer = askHealthy(found.url, dispatcher, clock.timeout(healthWithinMs, signal));
      problem = await answer.then(() => null, messageOf);
      if (problem === null) return null;
    }
    if (held.code === "no_input" && without === "no store") return openHere(flags, context, without, true);
    const isMissing = held.code === "no_input" && without === "either";
    if (held.code !== "store_busy" && !isMissing) throw held;
    if (isMissing || clock.monotonicMs() + retryMs > deadlineMs || signal.aborted)
      throw problem === null ? held : new FlatlineError("unavailable", `${noAnswer(found, problem)}; ${held.message}`);
    await clock.sleep(retryMs, signal);
  }
}

async function openHere(flags: AskFlags, context: CliContext, without: Without, isThrownAway = false): Promise<Door> {
  const config = await loadCommandConfig(flags.config, context);
  // Most commands ask a daemon and need none of this.
  const [{ createApp }, { createLogger }, { logLook }] = await Promise.all([
    import("../daemon/app.ts"),
    import("../base/logger.ts"),
    import("./terminal-log.ts"),
  ]);
  // A test of a receiver of type log has to show its line.
  const level = without === "no store" ? "info" : "warn";
  const logger = createLogger({ ...logLook(config, context), level }, (line) => context.stderr.write(line));
  const scratch = isThrownAway ? await makeScratch(config) : null;
  const door = { mustExist: without !== "new store" && scratch === null };
  const deps = { ...context, logger, door, readConfig: async () => config, withProcessMetrics: false };
  const app = createApp(scratch?.config ?? config, deps);
  await app.start();
  return { ...app, close: () => app.stop(0).then(scratch?.remove) };
}

// The daemon answers in milliseconds; during an import it may take seconds.
const timeoutMs = 10 * secondMs;
// Longer than a test of a receiver with some fifty recipients.
const slowTimeoutMs = 120 * secondMs;

/** Returns the access to the API, in this process or of the daemon that was found. */
async function accessTo(
  whom: Door | Found,
  { clock, signal }: CliContext,
  dispatcher: HttpDispatcher,
): Promise<ApiAccess> {
  if ("inject" in whom) {
    const exchange = async ({ method, path: url, headers, body: payload }: Exchange): Promise<HttpResponse> => {
      const { statusCode, payload: body } = await whom.inject({ method, url, headers, ...(payload && { payload }) });
      return { status: statusCode, body, headers: {}, isTruncated: false };
    };
    const token = { secret: whom.localToken, from: "this command" };
    return { url: null, token, importTarget: whom.importTarget, exchange };
  }
  const exchange = async ({ path, isSlow, headers, ...request }: Exchange): Promise<HttpResponse> => {
    const timeout = clock.timeout(isSlow ? slowTimeoutMs : timeoutMs, signal);
    const asked = { ...request, url: `${whom.url}${path}`, headers: { accept: "application/json", ...headers } };
    return sendRequest(dispatcher, { ...asked, signal: timeout }).catch((error: unknown) => {
      if (!(error instanceof HttpFailure)) throw error;
      throw new FlatlineError("unavailable", noAnswer(whom, error.message), { cause: error });
    });
  };
  return { url: whom.url, token: whom.token ?? (await readLocalToken(whom)), importTarget: null, exchange };
}

function noAnswer({ url, urlFrom }: Found, problem: string): string {
  return `no flatline answers at ${url}: ${problem}. Is it running? (${urlFrom})`;
}
