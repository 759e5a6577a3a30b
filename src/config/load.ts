import { access, glob } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

import { FlatlineError } from "../base/errors.ts";
import type { Config } from "./config.ts";
import { readDocument, type ConfigDocument } from "./document/document.ts";
import { readInputFile, readRegularFile } from "./document/files.ts";
import type { Environment } from "./document/interpolation.ts";
import { formatProblem, sortProblems, type Problem, type YamlPath } from "./document/problems.ts";
import { checkRelations } from "./check/relations.ts";
import { resolveConfig } from "./resolve/resolve.ts";
import { listenProblem, parseListen } from "./schema/values.ts";
import { includeSchema, rootSchema } from "./schema/schema.ts";
import { readSecrets } from "./resolve/secrets.ts";
import { checkTemplates, type TemplateCheck } from "./check/template.ts";
import { problemAt, validateDocument, valueAt } from "./check/validation.ts";

export interface LoadOptions {
  /** As the user named it; relative to `cwd`, and shown like that in messages. */
  readonly path: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Tries the templates of webhooks; absent: only their grammar is looked at. */
  readonly checkTemplate?: TemplateCheck;
}

// A hundred thousand organizations as objects; a file larger than this was named by mistake.
const maxFileBytes = 32 * 1_024 * 1_024;

/**
 * Reads, checks and resolves the configuration and every file that it names (CONTRACT 4).
 * @throws invalid_config: the message has one line a problem, `FILE:LINE:COL: path: message`, all of them in one go.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const main = await readMain(options);
  const { documents: included, problems: includeProblems } = await readIncludes(main, options);
  const documents = [main, ...included];
  const problems: Problem[] = [...includeProblems, ...documents.flatMap((document) => document.problems)];
  const validation = main.isReadable ? validateDocument(rootSchema, main) : { data: null, problems: [] };
  problems.push(...validation.problems);
  const organizations = included.flatMap((document) => {
    if (!document.isReadable) return [];
    const { data, problems: found } = validateDocument(includeSchema, document);
    problems.push(...found);
    return data === null ? [] : [{ document, organizations: data.organizations }];
  });
  // Without the main file's receivers and source, what the rest refers to cannot be judged.
  if (main.isReadable)
    problems.push(...checkRelations(main, included), ...(await checkTemplates(main, options.checkTemplate)));
  const secrets = await readSecrets(main, included);
  problems.push(...secrets.problems);
  const environmentListen = readEnvironmentListen(main, options.env, problems);
  if (problems.length > 0 || validation.data === null) throw invalidConfig(problems, documents);
  return resolveConfig({
    main: { document: main, data: validation.data },
    included: organizations,
    secrets,
    environmentListen,
  });
}

function invalidConfig(problems: readonly Problem[], documents: readonly ConfigDocument[]): FlatlineError {
  const sorted = sortProblems(
    problems,
    documents.map(({ file }) => file),
  );
  const count = sorted.length === 1 ? "a problem" : `${sorted.length} problems`;
  return new FlatlineError(
    "invalid_config",
    [`the configuration has ${count}`, ...sorted.map(formatProblem)].join("\n"),
  );
}

function readEnvironmentListen(main: ConfigDocument, env: Environment, problems: Problem[]): string | null {
  const text = env["FLATLINE_LISTEN"] ?? "";
  if (text === "" || valueAt(main.value, ["server", "listen"]) !== undefined) return null;
  const listen = parseListen(text);
  if (listen === null) problems.push(problemAt(main, ["server", "listen"], `$FLATLINE_LISTEN ${listenProblem}`));
  return listen;
}

async function readMain({ path, cwd, env }: LoadOptions): Promise<ConfigDocument> {
  const absolutePath = resolve(cwd, path);
  const content = await readInputFile(absolutePath, maxFileBytes);
  if (content.kind === "unreadable")
    throw new FlatlineError("invalid_config", `the configuration file ${path} ${content.reason}`);
  return readDocument({ file: path, absolutePath, bytes: content.bytes, environment: env });
}

interface Includes {
  readonly documents: readonly ConfigDocument[];
  readonly problems: readonly Problem[];
}

async function readIncludes(main: ConfigDocument, { env }: LoadOptions): Promise<Includes> {
  const documents: ConfigDocument[] = [];
  const problems: Problem[] = [];
  const seen = new Set([main.absolutePath]);
  for (const { path, pattern } of includePatterns(main)) {
    for (const absolutePath of await findIncluded(main, pattern)) {
      if (seen.has(absolutePath)) continue;
      seen.add(absolutePath);
      const file = displayName(main, absolutePath);
      const content = await readRegularFile(absolutePath, maxFileBytes);
      if (content.kind === "content")
        documents.push(readDocument({ file, absolutePath, bytes: content.bytes, environment: env }));
      else problems.push(problemAt(main, path, `the file ${file} ${content.reason}`));
    }
  }
  return { documents, problems };
}

/** The paths and patterns of `include`, with where they stand. */
export function includePatterns(main: ConfigDocument): readonly { path: YamlPath; pattern: string }[] {
  const include = valueAt(main.value, ["include"]);
  const list: readonly unknown[] = Array.isArray(include) ? include : [include];
  return list.flatMap((pattern, index) => {
    if (typeof pattern !== "string" || pattern.trim() === "" || pattern.includes("\0")) return [];
    return [{ path: Array.isArray(include) ? ["include", index] : ["include"], pattern }];
  });
}

/** Absolute paths of the files of one pattern, sorted by name; a path without wildcards is itself, there or not. */
export async function findIncluded(main: ConfigDocument, pattern: string): Promise<readonly string[]> {
  const folder = dirname(main.absolutePath);
  if (!/[*?[{]/.test(pattern)) return [resolve(folder, pattern)];
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: folder })) found.push(resolve(folder, path));
  return found.sort();
}

/** Included files are shown as the main one was named: relative when it was relative. */
function displayName(main: ConfigDocument, absolutePath: string): string {
  if (isAbsolute(main.file)) return absolutePath;
  return join(dirname(main.file), relative(dirname(main.absolutePath), absolutePath));
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
 * Which configuration file to read: `-c`, else `$FLATLINE_CONFIG`, else ./flatline.yaml, else /etc/flatline/flatline.yaml.
 * @throws invalid_config when nobody named one and neither exists
 */
export async function findConfigPath({ flag, env, cwd }: LookupOptions): Promise<string> {
  const named = flag ?? env["FLATLINE_CONFIG"] ?? "";
  if (named !== "") return named;
  for (const candidate of [localFile, systemFile]) {
    const isThere = await access(resolve(cwd, candidate)).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  throw new FlatlineError(
    "invalid_config",
    `no configuration file: neither ./${localFile} nor ${systemFile} exists; name one with -c FILE or $FLATLINE_CONFIG`,
  );
}
