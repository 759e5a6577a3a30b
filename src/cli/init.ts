import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { advice } from "../backtest/tuning.ts";
import { FlatlineError } from "../base/errors.ts";
import { isLoopbackHost } from "../base/loopback-host.ts";
import { checkHttpUrl } from "../base/schema/values.ts";
import { loadConfig } from "../config/load.ts";
import { longestSlug } from "../contract/slug.ts";
import { renderReports } from "./check.ts";
import { checkOnce } from "./check-once.ts";
import { choice, command, flag, flagName, or, value, type FlagsOf } from "./command.ts";
import { readSecretFile } from "./command-config.ts";
import type { CliContext } from "./context.ts";
import { askApi } from "./door.ts";
import { renderTest, testReceiver } from "./notify.ts";
import { isYes, openQuestions, type QuestionOptions, type Questions } from "./questions.ts";
import { collect } from "./values.ts";

const defaultFile = "flatline.yaml";
const localUrl = "http://127.0.0.1:9640";
const sources = ["remote", "embedded"] as const;
const notEmpty = (text: string): string | null => (text === "" ? "must not be empty" : null);
/** Types of receivers: the question for the secret of each, and its key in the file. */
const tellings = {
  log: null,
  slack: { question: "URL of a Slack webhook", key: "url", problemOf: checkHttpUrl },
  msteams: { question: "URL of a Teams workflow", key: "url", problemOf: checkHttpUrl },
  pagerduty: { question: "Routing key of PagerDuty", key: "routingKey", problemOf: notEmpty },
  webhook: { question: "URL of a webhook", key: "url", problemOf: checkHttpUrl },
  email: { question: "Mail server (smtps://user:password@mail.example.com)", key: "url", problemOf: notEmpty },
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
    const { config: file, force, noCheck } = flags;
    const path = resolve(context.cwd, file);
    const secretNames = ["api-key", "token", ...tellingNames].map((name) => `secrets/${name}`);
    const found = existsSync(path) ? file : secretNames.find((name) => existsSync(join(dirname(path), name)));
    if (found !== undefined && force !== true)
      throw new FlatlineError("usage", `${found}: exists already; --force replaces it, -c FILE names another place`);
    using questions = context.stdin.isTTY === true ? openQuestions(context) : null;
    const answers = await answersOf(flags, questions, context);
    const silent = noCheck === true ? [] : await tryFirst(answers, context);
    if (silent.length > 0 && !isYes(await questions?.ask("Write the files all the same? [y/N] ")))
      throw new FlatlineError(
        "unavailable",
        `no answer for ${silent.join(", ")}, so nothing was written; ` +
          "correct what is said above, or write with --no-check",
      );
    return { answers, secrets: await writeFirst(answers, path) };
  },
  say: ({ answers: { remote, externalUrl }, secrets }, { flags: { config: file } }) => {
    const other = file === defaultFile ? "" : ` -c ${file}`;
    return [
      `${file}: written; beside it, for you alone: ${secrets.join(", ")}\nnext:\n`,
      remote !== null ? "" : `  flatline import events FILE${other}${importHelp}\n`,
      `  flatline run${other}\n`,
      `then sign in at ${externalUrl.replace(/\/+$/, "")}/sign-in with the token in secrets/token\n`,
      isLocal(externalUrl)
        ? ""
        : `flatline listens on this machine alone: a proxy on it answers there, or set server.listen in ${file}\n`,
      "a message comes at most 5 minutes (schedule) and 10 seconds (alerting.groupWait) after the events\n",
    ].join("");
  },
});

const importHelp = `
    where its columns have other names: --map COLUMN=FIELD, and --ignore '*' for those that are not needed
    where its times have no offset: --timezone ZONE; --dry-run says what it understands`;

/** A question for a value that no flag and no variable gives; an empty answer is the first of `words`. */
interface Asked extends QuestionOptions {
  readonly question: string;
  readonly words?: readonly string[];
  readonly variable?: string;
}
const asked = {
  source: {
    question: "Where do verdicts come from, remote (the platform's API) or embedded (events of your own)? [remote] ",
    words: sources,
  },
  baseUrl: { question: "Address of the platform's API (https://…/api/v2): ", problemOf: checkHttpUrl },
  apiKeyFile: { question: "API key", variable: "FLATLINE_API_KEY" },
  slug: { question: "Organizations (slugs, with commas between): ", problemOf: slugsProblem },
  tell: { question: `Who is told, ${tellingNames.join(", ")}? [log] `, words: tellingNames },
  tellFile: { question: "", variable: "FLATLINE_TELL" },
  mailFrom: { question: "The mail is from: " },
  mailTo: { question: "The mail is to (addresses, with commas between): " },
  externalUrl: {
    question: `Where people open flatline [${localUrl}]: `,
    problemOf: checkHttpUrl,
    fallback: localUrl,
  },
} as const satisfies Partial<Record<keyof InitFlags, Asked>>;

type FirstAnswers = Awaited<ReturnType<typeof answersOf>>;

/** Returns the values of flags and variables, and asks for the rest. @throws usage without a terminal to ask on */
async function answersOf(flags: InitFlags, questions: Questions | null, { env, cwd, stderr }: CliContext) {
  const missing: string[] = [];
  const ask = async (key: keyof typeof asked, more: Partial<Asked> = {}): Promise<string> => {
    const { question, words, variable, fallback = words?.[0], ...options }: Asked = { ...asked[key], ...more };
    const isSecret = variable !== undefined;
    const oneOf = (text: string) => (words?.includes(text) === true ? null : `must be one of ${words?.join(", ")}`);
    const { problemOf = words === undefined ? notEmpty : oneOf } = options;
    const typed = flags[key] === undefined ? undefined : [flags[key]].flat().join("\n");
    const isFile = isSecret && typed !== undefined;
    const flagged = isFile ? (await readSecretFile(flagName(key), typed, cwd)).trim() : typed;
    const given = flagged ?? (env[variable ?? ""] || undefined);
    const name = isSecret ? `${flagName(key)} or $${variable}` : flagName(key);
    const problem = given === undefined ? null : problemOf(given);
    if (problem !== null) throw new FlatlineError("usage", `${name} ${problem}`);
    if (given !== undefined) return given;
    const shown = isSecret ? `${question} (is not shown): ` : question;
    if (questions !== null)
      return questions.ask(shown, { problemOf, isSecret, ...(fallback !== undefined && { fallback }) });
    if (fallback === undefined) missing.push(name);
    return fallback ?? "";
  };
  const source = await ask("source");
  const remote = source === "remote" ? { baseUrl: await ask("baseUrl"), apiKey: await ask("apiKeyFile") } : null;
  const slugs = listOf(await ask("slug"));
  const tell = (await ask("tell")) as keyof typeof tellings;
  const telling = tellings[tell];
  const tellSecret = telling === null ? null : await ask("tellFile", telling);
  const mail = tell === "email" ? { from: await ask("mailFrom"), to: listOf(await ask("mailTo")) } : null;
  const externalUrl = await ask("externalUrl");
  if (missing.length > 0) throw new FlatlineError("usage", `without a terminal init needs ${missing.join(", ")}`);
  if (questions !== null) stderr.write("\n");
  const token = randomBytes(32).toString("base64url");
  return { remote, slugs, tell, tellSecret, mail, externalUrl, token };
}

function listOf(text: string): readonly string[] {
  return [...new Set(text.split(/[\n,]+/).map((one) => one.trim()))].filter((one) => one !== "");
}

function slugsProblem(text: string): string | null {
  const slugs = listOf(text);
  if (slugs.length === 0) return "must name at least one";
  return slugs.some(({ length }) => length > longestSlug) ? `must be at most ${longestSlug} characters` : null;
}

/** Asks the platform for each organization and sends a test, with temporary files; returns who did not answer. */
async function tryFirst(answers: FirstAnswers, context: CliContext): Promise<readonly string[]> {
  const cwd = await mkdtemp(join(tmpdir(), "flatline-init-"));
  const [path, silent]: [string, string[]] = [join(cwd, defaultFile), []];
  try {
    await writeFirst(answers, path);
    const here = { ...context, cwd, env: {} };
    const config = await loadConfig({ path, cwd, env: {} });
    if (answers.remote !== null) {
      const reports = await checkOnce(config, { ...here, env: context.env });
      context.stdout.write(`${renderReports(reports, [], context)}\n`);
      silent.push(...reports.filter(({ kind }) => kind === "error").map(({ slug }) => slug));
    }
    if (answers.tell === "log") return silent;
    const test = await askApi({ config: path }, here, (api) => testReceiver(api, answers.tell), "no store");
    context.stdout.write(`${renderTest(test)}\n`);
    return test.outcome === "accepted" ? silent : [...silent, answers.tell];
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Writes the configuration, and beside it secrets that only their owner may read; returns the names of these. */
async function writeFirst(answers: FirstAnswers, path: string): Promise<string[]> {
  const { remote, token, tell, tellSecret } = answers;
  const all = Object.entries({ "api-key": remote?.apiKey ?? null, token, [tell]: tellSecret });
  const secrets = all.flatMap(([name, text]) =>
    text === null ? [] : [{ name: `secrets/${name}`, text: `${text}\n` }],
  );
  await mkdir(join(dirname(path), "secrets"), { recursive: true, mode: 0o700 });
  for (const { name, text } of [...secrets, { name: "", text: renderFirst(answers) }]) {
    const place = name === "" ? path : join(dirname(path), name);
    // An existing file would keep its mode, and a link would be followed.
    await rm(place, { force: true });
    await writeFile(place, text, { flag: "wx", mode: name === "" ? 0o644 : 0o600 });
  }
  return secrets.map(({ name }) => name);
}

/** Renders the configuration; its secrets are in files below secrets/. */
function renderFirst({ remote, slugs, tell, mail, externalUrl }: FirstAnswers): string {
  const secret = tellings[tell] === null ? "" : `, ${tellings[tell].key}: "\${file:secrets/${tell}}"`;
  const mailed = mail === null ? "" : `, from: ${quoted(mail.from)}, to: [${mail.to.map(quoted).join(", ")}]`;
  const typed = "  type: remote # the platform evaluates, flatline asks its API v2\n";
  const proxied = ", for a proxy on this machine; 0.0.0.0:9640 is for all others, too";
  return `# flatline.yaml, as \`flatline init\` wrote it. Every key that is not here has its default; \`flatline config
# show\` prints them all, \`flatline config check\` says what is wrong. The files below secrets/ hold the secrets.

source:
${remote === null ? embedded : `${typed}  baseUrl: ${quoted(remote.baseUrl)}\n  apiKey: \${file:secrets/api-key}\n`}
organizations:
${slugs.map((slug) => `  - ${quoted(slug)}\n`).join("")}
receivers:
  - { name: ${tell}, type: ${tell}${secret}${mailed} }

alerting:
  externalUrl: ${quoted(externalUrl)} # links in messages begin with it

server:
  listen: ${listenOf(externalUrl)} # page, /metrics and HTTP API${isLocal(externalUrl) ? "" : proxied}
  token: \${file:secrets/token} # the page asks for it when somebody signs in

storage:
  path: ./data/flatline.db # relative to the working directory
`;
}

const { baseline, thresholds } = advice;
const embedded = `  type: embedded # liveness events come in by \`flatline import events FILE\` or POST /api/v1/events

defaults:
  # Deaths of the last 24 h against the median of the same hours on each of the 28 days before: one bad day moves it
  # little, and an incident hides no other. Days before an organization's first event are left out; with fewer than
  # three the alert waits. Measured in docs/detection.md; \`flatline tune\` finds what fits your own events.
  baseline: ${baseline}
  thresholds: ${JSON.stringify(thresholds)}
  # Without a look, nothing dies: fail when no event came for unusually long; the spike check is unknown then, never ok.
  eventFlow: { enabled: true }
`;

/** Returns the address that people open if it is a port of this machine, else the default. */
function listenOf(externalUrl: string): string {
  const { protocol, host, port } = new URL(externalUrl);
  return isLocal(externalUrl) && protocol === "http:" && port !== "" ? host : "127.0.0.1:9640";
}

/** Whether people open flatline on this machine alone. */
function isLocal(externalUrl: string): boolean {
  return isLoopbackHost(new URL(externalUrl).hostname);
}

/** Returns a text as YAML; \`$\` would begin a variable in the file. */
function quoted(text: string): string {
  return JSON.stringify(text.replaceAll("$", "$$$$"));
}
