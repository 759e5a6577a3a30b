import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { PassThrough } from "node:stream";

import input from "@inquirer/input";
import password from "@inquirer/password";
import select from "@inquirer/select";
import { stringify } from "yaml";

import { advice } from "../backtest/tuning.ts";
import { FlatlineError } from "../base/errors.ts";
import { isLoopbackHost } from "../base/url.ts";
import { checkHttpUrl } from "../base/schema/values.ts";
import { loadConfig } from "../config/load.ts";
import { renderReports } from "./check.ts";
import { checkOnce } from "./check-once.ts";
import { choice, command, flag, flagName, or, value, type FlagsOf } from "./command.ts";
import { readSecretFile } from "./command-config.ts";
import type { CliContext } from "./context.ts";
import { askApi } from "./door.ts";
import { renderTest, testReceiver } from "./notify.ts";
import { collect } from "./values.ts";

const defaultFile = "flatline.yaml";
const localUrl = "http://127.0.0.1:9640";
const sources = ["remote", "embedded"] as const;
const listOf = (text: string): string[] => [...new Set(text.split(/[\n,]+/).map((one) => one.trim()))].filter(Boolean);
const notEmpty = (text: string): string | null => (listOf(text).length === 0 ? "must not be empty" : null);
/** Escapes `$`, which would begin a variable in the file. */
const literal = (text: string): string => text.replaceAll("$", "$$$$");
/** Types of receivers: the question for the secret of each, and its key in the file. */
const tellings = {
  log: null,
  slack: { message: "URL of a Slack webhook:", key: "url", problemOf: checkHttpUrl },
  msteams: { message: "URL of a Teams workflow:", key: "url", problemOf: checkHttpUrl },
  pagerduty: { message: "Routing key of PagerDuty:", key: "routingKey", problemOf: notEmpty },
  webhook: { message: "URL of a webhook:", key: "url", problemOf: checkHttpUrl },
  email: { message: "Mail server (smtps://user:password@mail.example.com):", key: "url", problemOf: notEmpty },
};
const tellingNames = Object.keys(tellings) as (keyof typeof tellings)[];

const initFlags = {
  source: choice("<type>", "the platform's API, or events of your own", sources),
  baseUrl: value("<url>", "address of the platform's API v2"),
  apiKeyFile: value("<file>", "file with the platform's API key [$FLATLINE_API_KEY]"),
  slug: value("<slug...>", "organizations to watch", collect),
  tell: choice("<type>", "who is told [log]", tellingNames),
  tellFile: value("<file>", "file with the URL or the key of --tell [$FLATLINE_TELL]"),
  mailFrom: value("<address>", "with --tell email: who it is from"),
  mailTo: value("<address...>", "with --tell email: the recipients", collect),
  externalUrl: value("<url>", `where people open flatline; messages lead there [${localUrl}]`),
  noCheck: flag("try nothing before writing"),
  force: flag("replace files that exist"),
  config: or(value("<file>", "the file to write"), defaultFile),
};
type InitFlags = FlagsOf<typeof initFlags>;

export const init = command({
  description: "ask for one source and one way to be told, try both, and write a first configuration",
  flags: initFlags,
  help: `
On a terminal it asks for what no flag or variable gives. It then runs the healthcheck once for each
organization, sends the receiver a marked test, shows both answers and writes FILE, and beside it
secrets/ with the API key, a new token for the page and the receiver's URL or key, which only you
can read. Without a terminal nothing is written unless both answer, exit 69.

Examples:
  flatline init
  flatline init --base-url https://security.example.com/api/v2 --api-key-file key --slug acme globex
  flatline init --source embedded --slug acme --tell slack --tell-file slack-url
`,
  run: async ({ context, flags }) => {
    const path = resolve(context.cwd, flags.config);
    const names = [basename(path), ...["api-key", "token", ...tellingNames].map((name) => `secrets/${name}`)];
    const found = names.find((name) => existsSync(join(dirname(path), name)));
    if (found !== undefined && flags.force !== true)
      throw new FlatlineError("usage", `${found}: exists already; --force replaces it, -c FILE names another place`);
    const prompt = context.stdin.isTTY === true ? createPrompt(context) : null;
    const answers = await answersOf(flags, context, prompt);
    const silent = await tryFirst(answers, context, flags.noCheck === true);
    const again = { message: "Write the files all the same?", choices: ["no", "yes"] };
    if (silent.length > 0 && (await prompt?.(again)) !== "yes")
      throw new FlatlineError(
        "unavailable",
        `no answer for ${silent.join(", ")}, so nothing was written; ` +
          "correct what is said above, or write with --no-check",
      );
    return { answers, secrets: await writeFirst(answers, path) };
  },
  say: ({ answers: { baseUrl, externalUrl, isLocal }, secrets }, { flags: { config: file }, context: { env } }) => {
    const other = file === defaultFile ? "" : ` -c ${file}`;
    const flatline = env["npm_command"] === "exec" ? "npx flatline" : "flatline";
    return [
      `${file}: written; beside it, for you alone: ${secrets.join(", ")}\nnext:\n`,
      baseUrl !== null ? "" : `  ${flatline} import events FILE${other}${importHelp}\n`,
      `  ${flatline} run${other}\n`,
      `then sign in at ${externalUrl.replace(/\/+$/, "")}/sign-in with the token in secrets/token\n`,
      isLocal
        ? ""
        : `flatline listens on this machine alone: a proxy on it answers there, or set server.listen in ${file}\n`,
      "a message comes at most 5 minutes (schedule) and 10 seconds (alerting.groupWait) after the events\n",
    ].join("");
  },
});

const importHelp = `
    where its columns have other names: --map COLUMN=FIELD, and --ignore '*' for those that are not needed
    where its times have no offset: --timezone ZONE; --dry-run says what it understands`;

interface Question {
  readonly message: string;
  /** The first one is the default. */
  readonly choices?: readonly string[];
  readonly initial?: string;
  /** The variable that may hold the answer, a secret; its flag names a file. */
  readonly variable?: string;
  /** Returns the problem of an answer, as "must be …"; null: none [only an empty one has a problem]. */
  readonly problemOf?: (answer: string) => string | null;
}

type FirstAnswers = Awaited<ReturnType<typeof answersOf>>;

/** Returns the values of flags and variables, and asks for the rest. @throws usage without a terminal to ask on */
async function answersOf(flags: InitFlags, context: CliContext, prompt: ReturnType<typeof createPrompt> | null) {
  const missing: string[] = [];
  const ask = async (key: keyof InitFlags, question: Question): Promise<string> => {
    const { variable, choices, initial = choices?.[0], problemOf = notEmpty } = question;
    const flagged = flags[key] === undefined ? undefined : [flags[key]].flat().join("\n");
    const isFile = variable !== undefined && flagged !== undefined;
    const typed = isFile ? (await readSecretFile(flagName(key), flagged, context.cwd)).trim() : flagged;
    const given = typed ?? (context.env[variable ?? ""] || undefined);
    const name = variable === undefined ? flagName(key) : `${flagName(key)} or $${variable}`;
    const problem = given === undefined ? null : problemOf(given);
    if (problem !== null) throw new FlatlineError("usage", `${name} ${problem}`);
    if (given === undefined && prompt !== null) return prompt({ ...question, problemOf });
    if (given === undefined && initial === undefined) missing.push(name);
    return given ?? initial ?? "";
  };
  const askList = async (key: keyof InitFlags, message: string): Promise<readonly string[]> =>
    listOf(await ask(key, { message: `${message} (with commas between):` }));
  const where = { message: "Source: the platform's API v2 (remote), or your own events (embedded)?", choices: sources };
  const isRemote = (await ask("source", where)) === "remote";
  const address = { message: "Address of the platform's API (https://…/api/v2):", problemOf: checkHttpUrl };
  const baseUrl = isRemote ? await ask("baseUrl", address) : null;
  const apiKey = isRemote ? await ask("apiKeyFile", { message: "API key:", variable: "FLATLINE_API_KEY" }) : null;
  const slugs = await askList("slug", "Organizations, by their slugs, as your events or the platform name them");
  const tell = (await ask("tell", { message: "Who is told?", choices: tellingNames })) as keyof typeof tellings;
  const telling = tellings[tell];
  const tellSecret = telling === null ? null : await ask("tellFile", { ...telling, variable: "FLATLINE_TELL" });
  const from = tell === "email" ? literal(await ask("mailFrom", { message: "The mail is from:" })) : undefined;
  const to = tell === "email" ? (await askList("mailTo", "The mail is to")).map(literal) : undefined;
  const page = { message: "Where people open flatline:", initial: localUrl, problemOf: checkHttpUrl };
  const externalUrl = await ask("externalUrl", page);
  if (missing.length > 0) throw new FlatlineError("usage", `without a terminal init needs ${missing.join(", ")}`);
  const { protocol, hostname, host, port } = new URL(externalUrl);
  const isLocal = isLoopbackHost(hostname);
  const listen = isLocal && protocol === "http:" && port !== "" ? host : "127.0.0.1:9640";
  return { baseUrl, apiKey, slugs, tell, tellSecret, from, to, externalUrl, isLocal, listen };
}

/** Returns a function that asks on the terminal. @throws unavailable at Ctrl-C and Ctrl-D */
function createPrompt({ stdin, stderr, signal }: CliContext) {
  const ended = new AbortController();
  // At Ctrl-D the library would wait for ever.
  stdin.on("keypress", (_text, key: { readonly sequence?: string }) => {
    if (key.sequence === "\u0004") ended.abort();
  });
  return async ({ message, choices, initial = "", variable, problemOf = notEmpty }: Question): Promise<string> => {
    const validate = (text: string): string | true => {
      const problem = problemOf(text.trim());
      return problem === null || `It ${problem}.`;
    };
    const show = variable === undefined ? input : password;
    // A prompt ends its output.
    const output = new PassThrough({ encoding: "utf8" }).on("data", (text: string) => stderr.write(text));
    Object.assign(output, { columns: stderr.columns });
    const terminal = { input: stdin, output, signal: AbortSignal.any([signal, ended.signal]) };
    try {
      if (choices !== undefined) return await select({ message, choices }, terminal);
      return (await show({ message, validate, default: initial, toggleMask: false }, terminal)).trim();
    } catch (cause) {
      throw new FlatlineError("unavailable", "stopped: nothing was written", { cause });
    }
  };
}

/** Loads the configuration from temporary files; unless it is `quiet`, asks the platform and sends a test, too. */
async function tryFirst(answers: FirstAnswers, context: CliContext, isQuiet: boolean): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack();
  const cwd = await mkdtemp(join(tmpdir(), "flatline-init-"));
  stack.defer(() => rm(cwd, { recursive: true, force: true }));
  const silent: string[] = [];
  // Without a port of its own, another daemon at that address would be asked to send the test.
  await writeFirst({ ...answers, listen: "127.0.0.1:0" }, join(cwd, defaultFile));
  const here = { ...context, cwd, env: {} };
  const config = await loadConfig({ path: defaultFile, cwd, env: {} });
  if (isQuiet) return [];
  if (answers.baseUrl !== null) {
    const reports = await checkOnce(config, { ...here, env: context.env });
    context.stdout.write(`${renderReports(reports, [], context)}\n`);
    silent.push(...reports.filter(({ kind }) => kind === "error").map(({ slug }) => slug));
  }
  if (answers.tell === "log") return silent;
  const test = await askApi({ config: defaultFile }, here, (api) => testReceiver(api, answers.tell), "no store");
  context.stdout.write(`${renderTest(test)}\n`);
  return test.outcome === "accepted" ? silent : [...silent, answers.tell];
}

/** Writes the configuration and its secrets for their owner alone; returns the names of the secrets. */
async function writeFirst(answers: FirstAnswers, path: string): Promise<string[]> {
  const { apiKey, tell, tellSecret } = answers;
  const token = randomBytes(32).toString("base64url");
  const all = { "secrets/api-key": apiKey, "secrets/token": token, [`secrets/${tell}`]: tellSecret };
  const secrets = Object.entries(all).filter(([, text]) => text !== null);
  await mkdir(join(dirname(path), "secrets"), { recursive: true, mode: 0o700 });
  for (const [name, text] of [...secrets, [basename(path), renderFirst(answers)]] as const) {
    const place = join(dirname(path), name);
    // An existing file would keep its mode, and a link would be followed.
    await rm(place, { force: true });
    await writeFile(place, `${text}\n`, { flag: "wx", mode: 0o600 });
  }
  return secrets.map(([name]) => name);
}

/** Renders the configuration; its secrets are in files below secrets/. */
function renderFirst({ baseUrl, slugs, tell, from, to, externalUrl, listen }: FirstAnswers): string {
  // The advice of docs/detection.md: an incident hides no other, and silence is no health.
  const { baseline, thresholds } = advice;
  const key = tellings[tell]?.key;
  const secret = key === undefined ? {} : { [key]: `\${file:secrets/${tell}}` };
  const results =
    baseUrl === null
      ? { source: { type: "embedded" }, defaults: { baseline, thresholds, eventFlow: { enabled: true } } }
      : { source: { type: "remote", baseUrl: literal(baseUrl), apiKey: "${file:secrets/api-key}" } };
  const config = {
    ...results,
    organizations: slugs.map(literal),
    receivers: [{ name: tell, type: tell, ...secret, from, to }],
    alerting: { externalUrl: literal(externalUrl) },
    server: { listen, token: "${file:secrets/token}" },
    storage: { path: "./data/flatline.db" },
  };
  return `# Every key that is not here has its default: \`flatline config show\` prints them all, and docs/configuration.md says
# what they do. The files below secrets/ hold the secrets; storage.path is relative to the working directory.

${stringify(config, { lineWidth: 0 }).trimEnd()}`;
}
