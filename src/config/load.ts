import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { z } from "zod";

import { FlatlineError } from "../base/errors.ts";
import { isLoopbackHost } from "../base/url.ts";
import { listenProblem, parseListen } from "../base/schema/values.ts";
import { redact, Secret } from "../base/secret.ts";
import { formatPath, type YamlPath } from "../base/yaml-text.ts";
import { readWith } from "../contract/issues.ts";
import { checkRelations } from "./check/relations.ts";
import { findWarnings } from "./check/warnings.ts";
import type { Finding, WrittenConfig } from "./check/written.ts";
import { hiddenTextsOf, resolveConfig, type Config } from "./config.ts";
import { readDocument, type ConfigDocument } from "./document/document.ts";
import { maxConfigBytes, readInputFile } from "./document/files.ts";
import { type Environment, readCoreScalar } from "./document/interpolation.ts";
import { formatProblem, sortProblems, type Problem, valueAt } from "./document/problems.ts";
import { defaultListen, defaultStorePath, rootSchema, rootShape } from "./schema/schema.ts";

export interface LoadOptions {
  /** The path as the user gave it, relative to `cwd`; messages show it. */
  readonly path: string;
  readonly cwd: string;
  readonly env: Environment;
  /** The files that it names are not read [false]. */
  readonly isWithoutFiles?: boolean;
}

/**
 * Reads, checks and resolves the configuration and the files that it names (CONTRACT 4). @throws invalid_config with a
 * line for each problem, `FILE:LINE:COL: path: message`: of syntax, types and keys, else of relations between keys
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const { config } = await checkConfig(options);
  if (config === null) throw new FlatlineError("internal", "a configuration without a problem was not read");
  return config;
}

/** Checks the configuration. @throws invalid_config */
export async function checkConfig(options: LoadOptions) {
  const { document, listen } = await readFile(options);
  const { value, data, problems } = readValue(rootSchema, document);
  refuse([...document.problems, ...problems], document);
  // Each key is valid or has a placeholder.
  const written = value as WrittenConfig;
  const { organizations = [], discover = [], receivers = [] } = written;
  const at = (findings: readonly Finding[]): Problem[] =>
    findings
      .filter(({ path }) => document.isKnown(path))
      .map(({ path, message, part }) => document.problemAt(path, message, part));
  const isExposed = !isLoopbackHost(listen.replace(/:\d+$/, ""));
  const lineOf = (path: YamlPath): string => document.lineOf(path);
  refuse(at(await checkRelations(written, { lineOf, isExposed })), document);
  const isRead = data !== null && options.isWithoutFiles !== true;
  return {
    /** null: the files that it names were not read. */
    config: isRead ? resolveConfig(data, document, listen) : null,
    counts: { organizations: organizations.length, discover: discover.length, receivers: receivers.length },
    /** Lines `FILE:LINE:COL: warning: path: message`. */
    warnings: (): readonly string[] => {
      const hidden = hiddenTextsOf(document.fileValues);
      return sortProblems(at(findWarnings(written))).map((one) => redact(formatProblem(one, "warning: "), hidden));
    },
  };
}

/** Reads the file; `listen` is from the file, else from the environment, else the default. */
async function readFile({ path, cwd, env, isWithoutFiles = false }: LoadOptions) {
  const absolutePath = resolve(cwd, path);
  const content = await readInputFile(absolutePath, maxConfigBytes);
  if (content.kind === "unreadable")
    throw new FlatlineError("invalid_config", `the configuration file ${path} ${content.reason}`);
  const { bytes } = content;
  const document = await readDocument({ file: path, absolutePath, bytes, environment: env, isWithoutFiles });
  const at = ["server", "listen"];
  const written = valueAt(document.value, at);
  const ofEnvironment = written === undefined ? (env["FLATLINE_LISTEN"] ?? "") : "";
  const listen = parseListen(ofEnvironment === "" ? String(written) : ofEnvironment);
  if (ofEnvironment !== "" && listen === null)
    document.problems.push(document.problemAt(at, `$FLATLINE_LISTEN ${listenProblem(ofEnvironment)}`));
  return { document, listen: listen ?? defaultListen };
}

/** Validates the document; an unquoted `${…}` alone can be a number or a boolean. */
function readValue<Read>(
  schema: z.ZodType<Read>,
  document: ConfigDocument,
): { readonly value: unknown; readonly data: Read | null; readonly problems: readonly Problem[] } {
  let { value } = document;
  if (value === undefined) return { value, data: null, problems: [] };
  let read = readWith(schema, value, true);
  if (read.kind === "problems") {
    for (const { path, isAboutType } of read.problems) {
      const text = isAboutType ? document.wholeReferenceAt(path) : null;
      const scalar = text === null ? null : readCoreScalar(text);
      if (scalar !== null) value = withValue(value, path, scalar);
    }
    if (value !== document.value) read = readWith(schema, value, true);
  }
  if (read.kind === "data") return { value, data: read.data, problems: [] };
  const problems = read.problems
    .filter(({ path }) => document.isKnown(path))
    .map(({ path, message, isAboutKey }) => document.problemAt(path, message, isAboutKey ? "key" : undefined));
  return { value, data: null, problems };
}

/** Returns a copy of the data with another value at an existing path. */
function withValue(data: unknown, [step, ...rest]: YamlPath, value: unknown): unknown {
  if (step === undefined) return value;
  const copy = (Array.isArray(data) ? [...data] : { ...(data as object) }) as Record<string | number, unknown>;
  copy[step] = withValue(copy[step], rest, value);
  return copy;
}

const serverAlone = z.looseObject({ server: rootShape.server });
const rightsOfTokens = z.array(z.looseObject({ may: z.array(z.unknown()).catch([]) })).catch([]);

/** Reads the keys that a client of the daemon `needs`; other problems are ignored. @throws invalid_config */
export async function loadClientConfig(options: LoadOptions, needs: readonly ("listen" | "token")[]) {
  const { document, listen } = await readFile(options);
  const { value, problems } = readValue(serverAlone, document);
  const mights = rightsOfTokens.parse(valueAt(value, ["server", "tokens"])).map(({ may }) => may.length);
  // A command may need any right.
  const most = ["server", "tokens", mights.indexOf(Math.max(...mights)), "token"];
  // A `server.token` with a problem counts, too.
  const isOne =
    document.problems.some(({ path }) => path === "server.token") ||
    !["", undefined].includes(valueAt(value, ["server", "token"]) as string | undefined);
  const places = { listen: ["server", "listen"], token: isOne ? ["server", "token"] : most };
  const needed = ["yaml", "server", ...needs.map((need) => formatPath(places[need]))];
  refuse(
    [...document.problems, ...problems].filter(({ path }) => needed.includes(path)),
    document,
  );
  const token = needs.includes("token") ? valueAt(value, places.token) : undefined;
  const path = valueAt(value, ["storage", "path"]) ?? defaultStorePath;
  const isFile = valueAt(value, ["storage", "url"]) === undefined && typeof path === "string";
  return {
    /** Absolute. */
    file: document.source.absolutePath,
    /** HOST:PORT of the daemon. */
    listen,
    /** `server.token`, else the one of `server.tokens` with the most rights; null: there is none. */
    token: typeof token === "string" ? new Secret(token) : null,
    /** Absolute path of the store's file; null: it is in a database. */
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

interface LookupOptions {
  /** The value of `-c`. */
  readonly flag: string | undefined;
  readonly env: Environment;
  readonly cwd: string;
}

const localFile = "flatline.yaml";
const systemFile = "/etc/flatline/flatline.yaml";

/** Returns the path of the configuration (CONTRACT 3). @throws invalid_config, with the end `instead`, without one */
export function findConfigPath(lookup: LookupOptions, instead = ""): string {
  const path = lookUpConfigPath(lookup);
  if (path !== null) return path;
  throw new FlatlineError(
    "invalid_config",
    `no configuration file: neither ./${localFile} nor ${systemFile} exists; ` +
      `name one with -c FILE or $FLATLINE_CONFIG${instead}`,
  );
}

/** Returns the path of the configuration; null: there is none. */
export function lookUpConfigPath({ flag, env, cwd }: LookupOptions): string | null {
  const named = flag ?? env["FLATLINE_CONFIG"] ?? "";
  if (named !== "") return named;
  return [localFile, systemFile].find((file) => existsSync(resolve(cwd, file))) ?? null;
}
