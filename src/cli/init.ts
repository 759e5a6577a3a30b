import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Option } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { checkHttpUrl } from "../base/schema/values.ts";
import { maxSecretBytes, readInputFile, secretOf } from "../config/document/files.ts";
import { longestSlug } from "../contract/slug.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import {
  isLocal,
  notEmpty,
  renderFirstConfig,
  tellingNames,
  tellings,
  type FirstAnswers,
  type Telling,
} from "./first-config.ts";
import { openQuestions, type QuestionOptions, type Questions } from "./questions.ts";

interface InitFlags {
  readonly source?: FirstAnswers["source"];
  readonly config: string;
  readonly baseUrl?: string;
  readonly apiKeyFile?: string;
  readonly slug?: readonly string[];
  readonly tell?: Telling;
  readonly tellFile?: string;
  readonly mailFrom?: string;
  readonly mailTo?: readonly string[];
  readonly externalUrl?: string;
  readonly check: boolean;
  readonly force?: boolean;
}

const defaultFile = "flatline.yaml";
const localUrl = "http://127.0.0.1:9640";
const sources = ["remote", "embedded"] as const;

/** `flatline init` */
export const registerInit: RegisterCommand = (program, context) => {
  program
    .command("init")
    .description("ask for one source and one way to be told, try both, and write a first configuration")
    .addOption(new Option("--source <type>", "the platform's API, or events of your own").choices(sources))
    .option("--base-url <url>", "address of the platform's API v2")
    .option("--api-key-file <file>", "file with the platform's API key [$FLATLINE_API_KEY]")
    .option("--slug <slug...>", "organizations to watch")
    .addOption(new Option("--tell <type>", "who is told [log]").choices(tellingNames))
    .option("--tell-file <file>", "file with the URL or the key of --tell [$FLATLINE_TELL]")
    .option("--mail-from <address>", "with --tell email: who it is from")
    .option("--mail-to <address...>", "with --tell email: the recipients")
    .option("--external-url <url>", `where people open flatline; messages lead there [${localUrl}]`)
    .option("--no-check", "try nothing before writing")
    .option("--force", "replace files that exist")
    .option("-c, --config <file>", "the file to write", defaultFile)
    .addHelpText("after", help)
    .action(async (flags: InitFlags) => {
      if (flags.force !== true) refuseExisting(flags.config, context.cwd);
      using questions = context.stdin.isTTY === true ? openQuestions(context) : null;
      await finish(await answersOf(flags, questions, context), flags, context, questions);
    });
};

const help = `
On a terminal it asks for what no flag or variable gives. It then runs the healthcheck once for each organization, sends the
receiver a marked test, shows both answers and writes FILE, and beside it secrets/ with the API key, a new token for the page
and the receiver's URL or key, which only you can read. Without a terminal nothing is written unless both answer, exit 69.

Examples:
  flatline init
  flatline init --base-url https://security.example.com/api/v2 --api-key-file key --slug acme globex
  flatline init --source embedded --slug acme --tell slack --tell-file slack-url
`;

/** What the flags and variables say, and what is asked for the rest. @throws usage naming what is missing without a terminal */
async function answersOf(
  flags: InitFlags,
  questions: Questions | null,
  { env, cwd, stderr }: CliContext,
): Promise<FirstAnswers> {
  const missing: string[] = [];
  /** Returns what was given, else what is typed; without a terminal the fallback, or it is missing. */
  async function ask<Value extends string>(
    flag: string,
    given: string | undefined,
    question: string,
    options: QuestionOptions = {},
  ): Promise<Value> {
    const { problemOf = notEmpty, fallback } = options;
    const problem = given === undefined ? null : problemOf(given);
    if (problem !== null) throw new FlatlineError("usage", `${flag} ${problem}`);
    if (given !== undefined) return given as Value;
    if (questions !== null) return (await questions.ask(question, { ...options, problemOf })) as Value;
    if (fallback === undefined) missing.push(flag);
    return (fallback ?? "") as Value;
  }
  /** Asks for one of a few words, of which the first is meant where nothing is said. */
  const choose = <Value extends string>(
    flag: string,
    given: Value | undefined,
    words: readonly Value[],
    what: string,
  ) =>
    ask<Value>(flag, given, `${what} [${words[0]}] `, {
      problemOf: (text) => (words.some((word) => word === text) ? null : `must be one of ${words.join(", ")}`),
      fallback: words[0] ?? "",
    });
  const askSecret = async (
    flag: string,
    file: string | undefined,
    variable: string,
    what: string,
    problemOf = notEmpty,
  ) =>
    ask(`${flag} or $${variable}`, await readSecret(flag, file, env[variable], cwd), `${what} (is not shown): `, {
      problemOf,
      isSecret: true,
    });

  const where = "Where do verdicts come from, remote (the platform's API) or embedded (events of your own)?";
  const source = await choose("--source", flags.source, sources, where);
  const isRemote = source === "remote";
  const platform = "Address of the platform's API (https://…/api/v2): ";
  const baseUrl = isRemote ? await ask("--base-url", flags.baseUrl, platform, { problemOf: checkHttpUrl }) : null;
  const apiKey = isRemote ? await askSecret("--api-key-file", flags.apiKeyFile, "FLATLINE_API_KEY", "API key") : null;
  const slugs = await ask("--slug", flags.slug?.join("\n"), "Organizations (slugs, with commas between): ", {
    problemOf: slugsProblem,
  });
  const tell = await choose("--tell", flags.tell, tellingNames, `Who is told, ${tellingNames.join(", ")}?`);
  const { secret, problemOf } = tellings[tell];
  const tellSecret =
    secret === null ? null : await askSecret("--tell-file", flags.tellFile, "FLATLINE_TELL", secret, problemOf);
  const isMail = tell === "email";
  const mailFrom = isMail ? await ask("--mail-from", flags.mailFrom, "The mail is from: ") : null;
  const mailTo = isMail
    ? await ask("--mail-to", flags.mailTo?.join(","), "The mail is to (addresses, with commas between): ")
    : "";
  const externalUrl = await ask("--external-url", flags.externalUrl, `Where people open flatline [${localUrl}]: `, {
    problemOf: checkHttpUrl,
    fallback: localUrl,
  });
  if (missing.length > 0) throw new FlatlineError("usage", `without a terminal init needs ${missing.join(", ")}`);
  if (questions !== null) stderr.write("\n");
  const lists = { slugs: listOf(slugs), mailTo: listOf(mailTo) };
  return { source, baseUrl, apiKey, tell, tellSecret, mailFrom, externalUrl, ...lists };
}

async function readSecret(
  flag: string,
  file: string | undefined,
  variable: string | undefined,
  cwd: string,
): Promise<string | undefined> {
  if (file === undefined) return variable === "" ? undefined : variable;
  const content = await readInputFile(resolve(cwd, file), maxSecretBytes);
  if (content.kind !== "content")
    throw new FlatlineError("no_input", `${flag} ${file}: cannot be read: ${content.reason}`);
  return secretOf(content.bytes).trim();
}

function listOf(text: string): readonly string[] {
  return [...new Set(text.split(/[\n,]+/).map((one) => one.trim()))].filter((one) => one !== "");
}

function slugsProblem(text: string): string | null {
  const slugs = listOf(text);
  if (slugs.length === 0) return "must name at least one";
  return slugs.some(({ length }) => length > longestSlug) ? `must be at most ${longestSlug} characters` : null;
}

/** Tries, shows, writes, and says what comes next; `questions` is null without a terminal. */
async function finish(
  answers: FirstAnswers,
  { check, config: file }: InitFlags,
  context: CliContext,
  questions: Questions | null,
): Promise<void> {
  const token = randomBytes(32).toString("base64url");
  const silent = check ? await tryFirst(answers, token, context) : [];
  const isWanted = async () => /^y(es)?$/i.test((await questions?.ask("Write the files all the same? [y/N] ")) ?? "");
  if (silent.length > 0 && !(await isWanted()))
    throw new FlatlineError(
      "unavailable",
      `no answer for ${silent.join(", ")}, so nothing was written; correct what is said above, or write with --no-check`,
    );
  const secrets = await writeFirst(answers, token, file, context.cwd);
  const flag = file === defaultFile ? "" : ` -c ${file}`;
  const steps = [
    ...(answers.source === "remote" ? [] : [`  flatline import events FILE${flag}${importHelp}`]),
    `  flatline run${flag}`,
    `then sign in at ${answers.externalUrl.replace(/\/+$/, "")}/sign-in with the token in secrets/token`,
  ];
  if (!isLocal(answers.externalUrl))
    steps.push(`flatline listens on this machine alone: a proxy on it answers there, or set server.listen in ${file}`);
  context.stdout.write(
    `${file}: written; beside it, for you alone: ${secrets.join(", ")}\nnext:\n${steps.join("\n")}\n`,
  );
}

const importHelp = `
    where its columns have other names: --map COLUMN=FIELD, and --ignore '*' for those that are not needed
    where its times have no offset: --timezone ZONE; --dry-run says what it understands`;

/** Asks the platform for each organization and sends a test, with the files in a folder of this user alone; who did not answer. */
async function tryFirst(answers: FirstAnswers, token: string, context: CliContext): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-init-"));
  const [path, silent]: [string, string[]] = [join(folder, "flatline.yaml"), []];
  try {
    await writeFirst(answers, token, path, folder);
    // What runs is most of the program, and is loaded when it is needed.
    const [{ loadConfig }, { checkOnce }, { renderReports }, { testReceiver }] = await Promise.all([
      import("../config/load.ts"),
      import("./check-once.ts"),
      import("./check.ts"),
      import("./notify.ts"),
    ]);
    const config = await loadConfig({ path, cwd: folder, env: {} });
    if (answers.source === "remote") {
      const options = { slugs: [], atMs: null, thresholds: {}, signal: context.signal, onNoStore: () => undefined };
      const reports = await checkOnce(config, { ...context, cwd: folder }, options);
      context.stdout.write(`${renderReports(reports, [], context)}\n`);
      silent.push(...reports.filter(({ kind }) => kind === "error").map(({ slug }) => slug));
    }
    if (answers.tell !== "log") {
      const test = await testReceiver(answers.tell, { config: path }, { ...context, cwd: folder, env: {} });
      context.stdout.write(`${test.text}\n`);
      if (test.outcome !== "accepted") silent.push(answers.tell);
    }
    return silent;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the configuration, and its secrets beside it, which only their owner may read; returns the paths of these. */
async function writeFirst(answers: FirstAnswers, token: string, file: string, cwd: string): Promise<string[]> {
  const { apiKey, tell, tellSecret } = answers;
  const folder = dirname(resolve(cwd, file));
  const secrets = Object.entries({ "api-key": apiKey, token, [tell]: tellSecret }).flatMap(([name, text]) =>
    text === null ? [] : [{ path: `secrets/${name}`, text: `${text}\n` }],
  );
  await mkdir(join(folder, "secrets"), { recursive: true, mode: 0o700 });
  for (const { path, text } of [...secrets, { path: null, text: renderFirstConfig(answers) }]) {
    const place = path === null ? resolve(cwd, file) : join(folder, path);
    // A file that is there would keep its mode, and one that is a link would be written elsewhere.
    await rm(place, { force: true });
    await writeFile(place, text, { flag: "wx", mode: path === null ? 0o644 : 0o600 });
  }
  return secrets.map(({ path }) => path);
}

/** @throws usage if a file is there that a first configuration in `file` would replace */
function refuseExisting(file: string, cwd: string): void {
  const folder = dirname(resolve(cwd, file));
  const secrets = ["api-key", "token", ...tellingNames].map((name) => `secrets/${name}`);
  const isThere = (name: string): boolean => existsSync(name === file ? resolve(cwd, file) : join(folder, name));
  const found = [file, ...secrets].find(isThere);
  if (found !== undefined)
    throw new FlatlineError("usage", `${found}: exists already; --force replaces it, -c FILE names another place`);
}
