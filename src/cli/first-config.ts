import { randomBytes } from "node:crypto";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { FlatlineError } from "../base/errors.ts";
import { loadConfig } from "../config/load.ts";
import type { CheckReport } from "../contract/report.ts";
import type { PartsDeps } from "../daemon/parts.ts";

/** What a first configuration is made of. */
export interface FirstAnswers {
  /** The address of the platform's API v2. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly slugs: readonly string[];
  /** An incoming webhook; null: notifications go to the log. */
  readonly slackUrl: string | null;
  /** Where people open flatline. */
  readonly externalUrl: string;
}

/** The name of the receiver that a first configuration has for Slack. */
export const slackReceiver = "trust-slack";

/** One file of a first configuration: its path beside the configuration, or null for the configuration itself. */
interface FirstFile {
  readonly path: string | null;
  readonly text: string;
}

const secretsFolder = "secrets";
// 256 bits, as a key of the embedded service.
const tokenBytes = 32;

/** Returns the files of a first configuration: the secrets, then the configuration that names them. */
export function firstFiles(answers: FirstAnswers): readonly FirstFile[] {
  const { apiKey, slackUrl } = answers;
  return [
    { path: `${secretsFolder}/api-key`, text: `${apiKey}\n` },
    { path: `${secretsFolder}/token`, text: `${randomBytes(tokenBytes).toString("base64url")}\n` },
    ...(slackUrl === null ? [] : [{ path: `${secretsFolder}/slack-url`, text: `${slackUrl}\n` }]),
    { path: null, text: renderFirstConfig(answers) },
  ];
}

function renderFirstConfig({ baseUrl, slugs, slackUrl, externalUrl }: FirstAnswers): string {
  const receiver =
    slackUrl === null
      ? `  - { name: console, type: log } # a line in flatline's log`
      : `  - { name: ${slackReceiver}, type: slack, url: "\${file:${secretsFolder}/slack-url}" }`;
  return `# flatline.yaml, as \`flatline init\` wrote it. Every key that is not here has its default; \`flatline config show\` prints
# them all, \`flatline config check\` says what is wrong. The files below ${secretsFolder}/ hold the secrets.

source:
  type: remote # the platform evaluates, flatline asks its API v2
  baseUrl: ${quoted(baseUrl)}
  apiKey: \${file:${secretsFolder}/api-key}

organizations:
${slugs.map((slug) => `  - ${quoted(slug)}\n`).join("")}
receivers:
${receiver}

alerting:
  externalUrl: ${quoted(externalUrl)} # links in messages begin with it

server:
  listen: 127.0.0.1:9640 # page, /metrics and HTTP API
  token: \${file:${secretsFolder}/token} # the page asks for it when somebody signs in

storage:
  path: ./data/flatline.db # relative to the working directory
`;
}

/** As YAML that is this text whatever it holds; \`$\` begins a variable in the file. */
function quoted(text: string): string {
  const escaped = text.replaceAll("$", "$$$$");
  return /^[a-z][\w./:-]*$/i.test(escaped) && !/:$|^(?:true|false|null|yes|no|on|off)$/i.test(escaped)
    ? escaped
    : JSON.stringify(escaped);
}

/**
 * Asks the platform once for each organization, with the files in a temporary folder of this user alone.
 * @throws invalid_config for what the configuration refuses
 */
export async function tryFirst(answers: FirstAnswers, deps: PartsDeps, signal: AbortSignal): Promise<CheckReport[]> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-init-"));
  try {
    const path = "flatline.yaml";
    await writeAll(folder, path, firstFiles(answers));
    const config = await loadConfig({ path, cwd: folder, env: {} });
    // What runs a check is most of the program; `flatline config check` reads this file, too.
    const { checkOnce } = await import("./check-once.ts");
    return await checkOnce(config, deps, { slugs: [], atMs: null, thresholds: {}, signal, onNoStore: () => undefined });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Writes a first configuration to `file`, and its secrets beside it, which only their owner may read. What is there is
 * replaced.
 */
export async function writeFirst(answers: FirstAnswers, file: string, cwd: string): Promise<readonly string[]> {
  const files = firstFiles(answers);
  await writeAll(cwd, file, files);
  return files.flatMap(({ path }) => path ?? []);
}

async function writeAll(cwd: string, file: string, files: readonly FirstFile[]): Promise<void> {
  const folder = dirname(resolve(cwd, file));
  await mkdir(join(folder, secretsFolder), { recursive: true, mode: 0o700 });
  for (const { path, text } of files) {
    const place = path === null ? resolve(cwd, file) : join(folder, path);
    // A file that is there would keep its mode, and one that is a link would be written elsewhere.
    await rm(place, { force: true });
    await writeFile(place, text, { flag: "wx", mode: path === null ? 0o644 : 0o600 });
  }
}

/** @throws usage if a file is there that a first configuration in `file` would replace */
export async function refuseExisting(file: string, cwd: string): Promise<void> {
  const folder = dirname(resolve(cwd, file));
  const secrets = ["api-key", "token", "slack-url"].map((name) => join(secretsFolder, name));
  for (const [shown, place] of [[file, resolve(cwd, file)], ...secrets.map((name) => [name, join(folder, name)])]) {
    const isThere = await access(place ?? "").then(
      () => true,
      () => false,
    );
    if (isThere) throw existsAlready(shown ?? file);
  }
}

/** Says of a file that it would be replaced. */
export function existsAlready(file: string): FlatlineError {
  return new FlatlineError("usage", `${file}: exists already; --force replaces it, -c FILE names another place`);
}
