import { access } from "node:fs/promises";
import { resolve } from "node:path";

import { z } from "zod";

import { FlatlineError } from "../base/errors.ts";
import { isLoopbackHost } from "../base/loopback-host.ts";
import { checkKey, secret } from "../base/schema/secret-rules.ts";
import { listenProblem, parseListen } from "../base/schema/values.ts";
import { redact, type Secret } from "../base/secret.ts";
import { apiNames, readWith } from "../contract/issues.ts";
import { checkRelations } from "./check/relations.ts";
import { findWarnings } from "./check/warnings.ts";
import type { Finding, WrittenConfig } from "./check/written.ts";
import type { Config } from "./config.ts";
import { readDocument, type ConfigDocument } from "./document/document.ts";
import { maxConfigBytes, readInputFile } from "./document/files.ts";
import { type Environment, readCoreScalar } from "./document/interpolation.ts";
import { formatPath, formatProblem, sortProblems, type Problem, type YamlPath, valueAt } from "./document/problems.ts";
import { hiddenTextsOf, listenOf, resolveConfig } from "./resolve.ts";
import { defaultStorePath, rootSchema, serverShape } from "./schema/schema.ts";

export interface LoadOptions {
  /** The path as the user gave it, relative to `cwd`; messages show it like that. */
  readonly path: string;
  readonly cwd: string;
  readonly env: Environment;
}

/**
 * Reads, checks and resolves the configuration and the secrets of the files that it names (CONTRACT 4).
 * @throws invalid_config: the message has one line a problem, `FILE:LINE:COL: path: message`, all of a kind in one go:
 * first syntax, then types and keys, then what refers to something else
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const { config } = await checkConfig({ ...options, isWithoutFiles: false });
  if (config === null) throw new FlatlineError("internal", "a configuration without a problem was not read");
  return config;
}

/** A configuration that was found to be right. */
export interface CheckedConfig {
  /** null: the files that it names were not read. */
  readonly config: Config | null;
  readonly counts: Readonly<Record<"organizations" | "discover" | "receivers", number>>;
  /** What never takes effect or contradicts itself, each as `FILE:LINE:COL: warning: path: message`. */
  readonly warnings: () => readonly string[];
}

/** Checks it as loadConfig does; `isWithoutFiles`: what its files hold is taken as right. @throws invalid_config */
export async function checkConfig(options: LoadOptions & { readonly isWithoutFiles: boolean }): Promise<CheckedConfig> {
  const document = await readMain(options);
  const { value, data, problems } = readValue(rootSchema, document);
  const environment = readEnvironmentListen(options.env, valueAt(value, ["server", "listen"]), document);
  refuse([...document.problems, ...problems, ...environment.problems], document);
  // Each key of it is right, or has a placeholder.
  const written = value as WrittenConfig;
  const { organizations = [], discover = [], receivers = [], server } = written;
  const at = (findings: readonly Finding[]): Problem[] =>
    findings
      .filter(({ path }) => document.isKnown(path))
      .map(({ path, message, part }) => document.problemAt(path, message, part));
  const host = listenOf(server?.listen, environment.listen).replace(/:\d+$/, "");
  const place = { lineOf: (path: YamlPath) => document.lineOf(path), isExposed: !isLoopbackHost(host) };
  refuse(at(await checkRelations(written, place)), document);
  const isRead = data !== null && !options.isWithoutFiles;
  return {
    config: isRead ? resolveConfig(data, document, environment.listen) : null,
    counts: { organizations: organizations.length, discover: discover.length, receivers: receivers.length },
    warnings: () => {
      const hidden = hiddenTextsOf(document.fileValues);
      return sortProblems(at(findWarnings(written))).map((one) => redact(formatProblem(one, "warning: "), hidden));
    },
  };
}

/** Reads a value of the document; where a number or boolean is wanted, an unquoted `${…}` alone is read as YAML would. */
function readValue<Read>(
  schema: z.ZodType<Read>,
  document: ConfigDocument,
  at: YamlPath = [],
): { readonly value: unknown; readonly data: Read | null; readonly problems: readonly Problem[] } {
  if (!document.isReadable) return { value: undefined, data: null, problems: [] };
  const written = valueAt(document.value, at);
  let value = written;
  let read = readWith(schema, written, apiNames, true);
  if (read.kind === "problems") {
    for (const { path, isAboutType } of read.problems) {
      const text = isAboutType ? document.wholeReferenceAt([...at, ...path]) : null;
      const scalar = text === null ? null : readCoreScalar(text);
      if (scalar !== null) value = withValue(value, path, scalar);
    }
    if (value !== written) read = readWith(schema, value, apiNames, true);
  }
  if (read.kind === "data") return { value, data: read.data, problems: [] };
  const problems = read.problems.filter(({ path }) => document.isKnown([...at, ...path]));
  return {
    value,
    data: null,
    problems: problems.map(({ path, message, isAboutKey }) =>
      document.problemAt([...at, ...path], message, isAboutKey ? "key" : "value"),
    ),
  };
}

/** Returns the data with another value at a path, which is there. */
function withValue(data: unknown, [step, ...rest]: YamlPath, value: unknown): unknown {
  if (step === undefined) return value;
  const copy = (Array.isArray(data) ? [...data] : { ...(data as object) }) as Record<string | number, unknown>;
  copy[step] = withValue(copy[step], rest, value);
  return copy;
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

/** Reads what a client of the daemon `needs`, and refuses only what is wrong with that. @throws invalid_config */
export async function loadClientConfig(
  options: LoadOptions,
  needs: readonly ("listen" | "token")[],
): Promise<ClientConfig> {
  const document = await readMain(options);
  const problems = document.problems.filter(({ path }) => path === "yaml");
  const read = <Read>(schema: z.ZodType<Read>, ...path: YamlPath): Read | null => {
    const { data, problems: found } = readValue(schema, document, path);
    const name = formatPath(path);
    problems.push(...document.problems.filter((one) => one.path === name), ...found);
    return data;
  };
  read(z.looseObject({ server: z.looseObject({}).optional() }));
  const written = valueAt(document.value, ["server", "listen"]);
  const environment = readEnvironmentListen(options.env, written, document);
  if (needs.includes("listen")) problems.push(...environment.problems);
  const listen = needs.includes("listen") ? read(serverShape.listen, "server", "listen") : null;
  let token = needs.includes("token") ? (read(serverShape.token, "server", "token") ?? null) : null;
  if (needs.includes("token") && token === null && problems.length === 0) {
    const rights = z.array(z.looseObject({ may: z.array(z.unknown()).catch([]) })).catch([]);
    const mights = (read(rights.optional(), "server", "tokens") ?? []).map(({ may }) => may.length);
    // A command may need any right.
    const most = mights.indexOf(Math.max(...mights));
    if (most >= 0) token = read(secret(checkKey), "server", "tokens", most, "token");
  }
  refuse(problems, document);
  const path = valueAt(document.value, ["storage", "path"]) ?? defaultStorePath;
  const isFile = valueAt(document.value, ["storage", "url"]) === undefined && typeof path === "string";
  return {
    file: document.absolutePath,
    listen: listenOf(listen ?? undefined, environment.listen),
    token,
    storePath: isFile ? resolve(options.cwd, path) : null,
  };
}

/** @throws invalid_config when there are problems */
function refuse(problems: readonly Problem[], { fileValues }: ConfigDocument): void {
  if (problems.length === 0) return;
  const hidden = hiddenTextsOf(fileValues);
  const sorted = sortProblems(problems.map((one) => ({ ...one, message: redact(one.message, hidden) })));
  const count = sorted.length === 1 ? "a problem" : `${sorted.length} problems`;
  throw new FlatlineError(
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

/** Returns which file to read (CONTRACT 3). @throws invalid_config when none is named and neither exists */
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
