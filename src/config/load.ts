import { access } from "node:fs/promises";
import { resolve } from "node:path";

import type { z } from "zod";

import { FlatlineError } from "../base/errors.ts";
import { isLoopbackHost } from "../base/loopback-host.ts";
import { listenProblem, parseListen } from "../base/schema/values.ts";
import { redact, type Secret } from "../base/secret.ts";
import { readWith, type SchemaProblem } from "../contract/issues.ts";
import { checkRelations } from "./check/relations.ts";
import { findWarnings } from "./check/warnings.ts";
import type { Config } from "./config.ts";
import { known, refused, type Accepted } from "./document/accepted.ts";
import { readDocument, type ConfigDocument } from "./document/document.ts";
import { maxConfigBytes, readInputFile } from "./document/files.ts";
import { type Environment, readCoreScalar } from "./document/interpolation.ts";
import { formatProblem, sortProblems, type Problem, type YamlPath, valueAt } from "./document/problems.ts";
import { hiddenTextsOf, listenOf, resolveConfig, type ResolveInput } from "./resolve/resolve.ts";
import { readSecrets } from "./resolve/secrets.ts";
import { defaultStorePath, type RootInput, rootSchema } from "./schema/schema.ts";

export interface LoadOptions {
  /** The path as the user gave it, relative to `cwd`; messages show it like that. */
  readonly path: string;
  readonly cwd: string;
  readonly env: Environment;
}

/**
 * Reads, checks and resolves the configuration and the secrets of the files that it names (CONTRACT 4).
 * @throws invalid_config: the message has one line a problem, `FILE:LINE:COL: path: message`, all of them in one go.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const { data, ...read } = await readChecked(options);
  if (data === null) throw new FlatlineError("internal", "a configuration without a problem was not read");
  return resolveConfig({ data, ...read });
}

/** A configuration that was found to be right. */
export interface CheckedConfig {
  /** null: the files that it names were not read. */
  readonly config: Config | null;
  readonly counts: Readonly<Record<"organizations" | "discover" | "receivers", number>>;
  /** What never takes effect or contradicts itself, each as `FILE:LINE:COL: warning: path: message`. */
  readonly warnings: readonly string[];
}

/**
 * Checks the configuration as loadConfig does; `isWithoutFiles`: what the files of its `${file:…}` hold is taken as right.
 * @throws invalid_config, as loadConfig does
 */
export async function checkConfig(options: LoadOptions & { readonly isWithoutFiles: boolean }): Promise<CheckedConfig> {
  const { data, accepted, document, ...read } = await readChecked(options);
  const written = known(accepted) ?? {};
  const count = (key: "organizations" | "discover" | "receivers"): number => known(written[key])?.length ?? 0;
  const warnings = findWarnings(written).map(({ path, message, part }) => document.problemAt(path, message, part));
  const hidden = hiddenTextsOf(document.fileValues);
  return {
    config: data === null || options.isWithoutFiles ? null : resolveConfig({ data, document, ...read }),
    counts: { organizations: count("organizations"), discover: count("discover"), receivers: count("receivers") },
    warnings: sortProblems(warnings).map((one) => redact(formatProblem(one, "warning: "), hidden)),
  };
}

type Checked = Omit<ResolveInput, "data"> & Pick<Validation, "data" | "accepted">;

/** Reads a configuration that has no problem; `data` is null where a file that would have to be read was not. */
async function readChecked(options: LoadOptions & { readonly isWithoutFiles?: boolean }): Promise<Checked> {
  const document = await readMain(options);
  const { data, accepted, problems: invalid } = validateDocument(document);
  const config = known(accepted) ?? {};
  const problems = [...document.problems, ...invalid];
  // Without receivers and source, what the rest refers to cannot be judged.
  if (accepted !== refused) problems.push(...(await checkRelations(config, document)));
  const writtenListen = known(config.server)?.listen;
  const environment = readEnvironmentListen(options.env, writtenListen, document);
  problems.push(...environment.problems);
  const listenHost = listenOf(known(writtenListen), environment.listen).replace(/:\d+$/, "");
  const secrets = readSecrets(config, document, { isExposed: !isLoopbackHost(listenHost) });
  problems.push(...secrets.problems);
  if (problems.length > 0) throw invalidConfig(problems, document);
  return { data, accepted, document, secrets, environmentListen: environment.listen };
}

/** The keys of the configuration that a command needs to ask the running daemon. */
export interface ClientConfig {
  /** Absolute path of the file. */
  readonly file: string;
  /** HOST:PORT of the daemon. */
  readonly listen: string;
  /** `server.token`, else the one of `server.tokens` that may do the most; null: there is none. */
  readonly token: Secret | null;
  /** Absolute path of the store's file; null: it is in a database. */
  readonly storePath: string | null;
}

/**
 * Reads what a client of the daemon needs of the file, and refuses only what is wrong with that: the daemon's secrets may
 * be out of its reach. With `needs` it reads the address only, or the token too.
 * @throws invalid_config, as loadConfig does
 */
export async function loadClientConfig(
  options: LoadOptions,
  needs: readonly ("listen" | "token")[],
): Promise<ClientConfig> {
  const document = await readMain(options);
  const { accepted, problems: invalid } = validateDocument(document);
  const written = known(accepted) ?? {};
  const server = known(written.server) ?? {};
  const storage = known(written.storage) ?? {};
  const needsToken = needs.includes("token");
  const secrets = readSecrets(needsToken ? { server } : {}, document, { isExposed: false });
  const environment = readEnvironmentListen(options.env, server.listen, document);
  const [one] = secrets.of(["server"], "token");
  // A command may need any right.
  const mights = (known(server.tokens) ?? []).map((token) => known(known(token)?.may)?.length ?? 0);
  const most = Math.max(0, mights.indexOf(Math.max(...mights)));
  const problems = [...document.problems, ...invalid, ...secrets.problems, ...environment.problems];
  const problemsAt = (...paths: readonly string[]): Problem[] => problems.filter(({ path }) => paths.includes(path));
  const found = problemsAt("yaml", "server");
  if (needs.includes("listen")) found.push(...problemsAt("server.listen"));
  if (needsToken) found.push(...problemsAt("server.token"));
  if (needsToken && one === undefined && found.length === 0) {
    const path = `server.tokens[${most}]`;
    found.push(...problemsAt("server.tokens", path, `${path}.token`));
  }
  if (found.length > 0) throw invalidConfig(found, document);
  return {
    file: document.absolutePath,
    listen: listenOf(known(server.listen), environment.listen),
    token: one ?? secrets.of(["server", "tokens", most], "token")[0] ?? null,
    storePath: storage.url === undefined ? resolve(options.cwd, known(storage.path) ?? defaultStorePath) : null,
  };
}

function invalidConfig(problems: readonly Problem[], { fileValues }: ConfigDocument): FlatlineError {
  const hidden = hiddenTextsOf(fileValues);
  const sorted = sortProblems(problems.map((one) => ({ ...one, message: redact(one.message, hidden) })));
  const count = sorted.length === 1 ? "a problem" : `${sorted.length} problems`;
  return new FlatlineError(
    "invalid_config",
    [`the configuration has ${count}`, ...sorted.map((one) => formatProblem(one))].join("\n"),
  );
}

/** Returns the address to listen on that the environment has; null when it has none, or the file has one. */
function readEnvironmentListen(
  env: Environment,
  written: unknown,
  document: ConfigDocument,
): { readonly listen: string | null; readonly problems: readonly Problem[] } {
  const text = env["FLATLINE_LISTEN"] ?? "";
  if (text === "" || written !== undefined) return { listen: null, problems: [] };
  const listen = parseListen(text);
  const problem = document.problemAt(["server", "listen"], `$FLATLINE_LISTEN ${listenProblem(text)}`);
  return { listen, problems: listen === null ? [problem] : [] };
}

async function readMain({
  path,
  cwd,
  env,
  isWithoutFiles = false,
}: LoadOptions & { readonly isWithoutFiles?: boolean }): Promise<ConfigDocument> {
  const absolutePath = resolve(cwd, path);
  const content = await readInputFile(absolutePath, maxConfigBytes);
  if (content.kind === "unreadable")
    throw new FlatlineError("invalid_config", `the configuration file ${path} ${content.reason}`);
  return readDocument({ file: path, absolutePath, bytes: content.bytes, environment: env, isWithoutFiles });
}

export interface LookupOptions {
  /** The value of `-c`. */
  readonly flag: string | undefined;
  readonly env: Environment;
  readonly cwd: string;
}

const localFile = "flatline.yaml";
const systemFile = "/etc/flatline/flatline.yaml";

/**
 * Returns which configuration file to read: `-c`, else `$FLATLINE_CONFIG`, else ./flatline.yaml, else /etc/flatline/flatline.yaml.
 * @throws invalid_config when none is named and neither exists
 */
export async function findConfigPath(lookup: LookupOptions): Promise<string> {
  const path = await lookUpConfigPath(lookup);
  if (path === null) throw noConfigFile("");
  return path;
}

/** Returns the same as findConfigPath, null in place of an error. */
export async function lookUpConfigPath({ flag, env, cwd }: LookupOptions): Promise<string | null> {
  const named = flag ?? env["FLATLINE_CONFIG"] ?? "";
  if (named !== "") return named;
  for (const candidate of [localFile, systemFile]) {
    const isThere = await access(resolve(cwd, candidate)).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  return null;
}

/** Returns the error that no configuration file is named or there; `instead` continues what to do. */
export function noConfigFile(instead: string): FlatlineError {
  return new FlatlineError(
    "invalid_config",
    `no configuration file: neither ./${localFile} nor ${systemFile} exists; name one with -c FILE or $FLATLINE_CONFIG${instead}`,
  );
}

interface Validation {
  /** Null when there are problems. */
  readonly data: RootInput | null;
  readonly accepted: Accepted<z.input<typeof rootSchema>>;
  readonly problems: readonly Problem[];
}

/**
 * Checks a document against the schema and says everything that is wrong in flatline's words, each with its place. In
 * `document.value` what is wrong becomes `refused`; where a number or boolean is wanted and an unquoted `${…}` stands alone,
 * its text is read as YAML would.
 */
function validateDocument(document: ConfigDocument): Validation {
  if (!document.isReadable) return { data: null, accepted: refused, problems: [] };
  let read = readWith(rootSchema, document.value);
  if (read.kind === "problems" && rereadReferences(read.problems, document))
    read = readWith(rootSchema, document.value);
  const accepted = document.value as Validation["accepted"];
  if (read.kind === "data") return { data: read.data, accepted, problems: [] };
  const problems = read.problems.filter(({ path }) => valueAt(document.value, path) !== refused);
  for (const { unread } of problems) if (unread.length > 0) setAt(document, unread, refused);
  return {
    data: null,
    accepted: problems.some(({ unread }) => unread.length === 0) ? refused : accepted,
    problems: problems.map(({ path, message, isAboutKey }) =>
      document.problemAt(path, message, isAboutKey ? "key" : "value"),
    ),
  };
}

function rereadReferences(problems: readonly SchemaProblem[], document: ConfigDocument): boolean {
  let hasChanged = false;
  for (const { path, isAboutType } of problems) {
    const text = isAboutType ? document.wholeReferenceAt(path) : null;
    const value = text === null ? null : readCoreScalar(text);
    if (value === null) continue;
    setAt(document, path, value);
    hasChanged = true;
  }
  return hasChanged;
}

/** Sets what is at `path`; not where the object that should have it was refused itself. */
function setAt(document: ConfigDocument, path: YamlPath, value: unknown): void {
  const parent = valueAt(document.value, path.slice(0, -1));
  if (typeof parent === "object" && parent !== null)
    (parent as Record<string | number, unknown>)[path.at(-1) ?? ""] = value;
}
