import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Option } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { checkHttpUrl } from "../base/schema/values.ts";
import { maxSecretBytes, readInputFile, secretOf } from "../config/document/files.ts";
import { renderStarter, starterSources, type StarterSource } from "./config-starter.ts";
import {
  existsAlready,
  refuseExisting,
  slackReceiver,
  tryFirst,
  writeFirst,
  type FirstAnswers,
} from "./first-config.ts";
import { longestSlug } from "../contract/slug.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { openQuestions, type Questions } from "./questions.ts";

interface InitFlags {
  readonly source?: StarterSource;
  readonly config: string;
  readonly baseUrl?: string;
  readonly apiKeyFile?: string;
  readonly slug?: readonly string[];
  readonly slackUrlFile?: string;
  readonly externalUrl: string;
  readonly check: boolean;
  readonly force?: boolean;
}

const defaultFile = "flatline.yaml";
const localUrl = "http://127.0.0.1:9640";

/** `flatline init` */
export const registerInit: RegisterCommand = (program, context) => {
  program
    .command("init")
    .description("ask for what a first configuration needs, try it, and write it with its secrets")
    .option("--base-url <url>", "address of the platform's API v2")
    .option("--api-key-file <file>", "file with the platform's API key [$FLATLINE_API_KEY]")
    .option("--slug <slug...>", "organizations to watch")
    .option("--slack-url-file <file>", "file with the URL of a Slack webhook [$SLACK_WEBHOOK_URL, else the log]")
    .option("--external-url <url>", "where people open flatline; messages lead there", localUrl)
    .option("--no-check", "do not ask the platform before writing")
    .option("--force", "replace files that exist")
    .option("-c, --config <file>", "the file to write; with --source, - is standard output", defaultFile)
    .addOption(
      new Option("--source <type>", "ask nothing, write a commented file for this source").choices(starterSources),
    )
    .addHelpText("after", help)
    .action(async (flags: InitFlags) => {
      if (flags.source !== undefined) return writeStarter(flags.source, flags, context);
      if (flags.config === "-") throw new FlatlineError("usage", "-c -: standard output goes with --source only");
      if (flags.force !== true) await refuseExisting(flags.config, context.cwd);
      const given = await readGiven(flags, context);
      if (context.stdin.isTTY !== true) return finish(complete(given), flags, context, null);
      using questions = openQuestions(context);
      return await finish(await askMissing(given, questions, context), flags, context, questions);
    });
};

const help = `
On a terminal it asks for what no flag or variable gives. It then runs the healthcheck once for each organization, shows the
answers and writes FILE, and beside it secrets/ with the API key, a new token for flatline's page and the Slack URL, which only
you can read. Without a terminal an organization that gets no answer means that nothing is written, exit 69.

Examples:
  flatline init
  flatline init --base-url https://security.example.com/api/v2 --api-key-file key --slug acme globex
  flatline init --source embedded      a commented file over flatline's own store of events
`;

async function writeStarter(source: StarterSource, flags: InitFlags, context: CliContext): Promise<void> {
  const text = renderStarter(source);
  const file = flags.config;
  if (file === "-") {
    context.stdout.write(text);
    return;
  }
  await writeFile(resolve(context.cwd, file), text, { flag: flags.force === true ? "w" : "wx" }).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST"
        ? existsAlready(file)
        : new FlatlineError("usage", `${file}: ${String(error)}`, { cause: error });
    },
  );
  context.stdout.write(`${file}: written, for source.type ${source}; next: flatline config check -c ${file}\n`);
}

type Given = Partial<FirstAnswers> & Pick<FirstAnswers, "externalUrl">;

/** What the flags and the environment say. */
async function readGiven(flags: InitFlags, { env, cwd }: CliContext): Promise<Given> {
  const { baseUrl, slug: slugs, externalUrl } = flags;
  refuse("--external-url", checkHttpUrl(externalUrl));
  if (baseUrl !== undefined) refuse("--base-url", checkHttpUrl(baseUrl));
  for (const slug of slugs ?? []) refuse(`--slug ${JSON.stringify(slug)}`, slugProblem(slug));
  const apiKey = await readSecret("--api-key-file", flags.apiKeyFile, env["FLATLINE_API_KEY"], cwd);
  const slackUrl = await readSecret("--slack-url-file", flags.slackUrlFile, env["SLACK_WEBHOOK_URL"], cwd);
  if (slackUrl !== undefined) refuse("the Slack URL", checkHttpUrl(slackUrl));
  return {
    externalUrl,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(slugs === undefined ? {} : { slugs: [...new Set(slugs)] }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(slackUrl === undefined ? {} : { slackUrl }),
  };
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
  const text = secretOf(content.bytes).trim();
  if (text === "") throw new FlatlineError("usage", `${flag} ${file}: is empty`);
  return text;
}

/** @throws usage naming every flag that is missing where nobody can be asked */
function complete({ baseUrl, apiKey, slugs, slackUrl = null, externalUrl }: Given): FirstAnswers {
  if (baseUrl !== undefined && apiKey !== undefined && slugs !== undefined)
    return { baseUrl, apiKey, slugs, slackUrl, externalUrl };
  const missing = [
    baseUrl === undefined ? "--base-url" : null,
    apiKey === undefined ? "--api-key-file or $FLATLINE_API_KEY" : null,
    slugs === undefined ? "--slug" : null,
  ].filter((one) => one !== null);
  throw new FlatlineError(
    "usage",
    `without a terminal init needs ${missing.join(", ")}; or --source TYPE, which writes a commented file`,
  );
}

async function askMissing(given: Given, questions: Questions, { stderr }: CliContext): Promise<FirstAnswers> {
  const ask = questions.ask.bind(questions);
  const baseUrl =
    given.baseUrl ?? (await ask("Address of the platform's API (https://…/api/v2): ", { problemOf: checkHttpUrl }));
  const apiKey =
    given.apiKey ?? (await ask("API key (is not shown): ", { isSecret: true, problemOf: (key) => emptyProblem(key) }));
  const slugs =
    given.slugs ?? slugsOf(await ask("Organizations (slugs, with blanks between): ", { problemOf: slugsProblem }));
  const slackUrl =
    given.slackUrl ??
    (await ask("URL of a Slack webhook (is not shown; empty: notify the log): ", {
      isSecret: true,
      problemOf: (url) => (url === "" ? null : checkHttpUrl(url)),
    }));
  const externalUrl =
    given.externalUrl === localUrl
      ? await ask(`Where people open flatline [${localUrl}]: `, { fallback: localUrl, problemOf: checkHttpUrl })
      : given.externalUrl;
  stderr.write("\n");
  return { baseUrl, apiKey, slugs, slackUrl: slackUrl === "" ? null : slackUrl, externalUrl };
}

/** Tries, shows, writes, and says what comes next; `questions` is null without a terminal. */
async function finish(
  answers: FirstAnswers,
  flags: InitFlags,
  context: CliContext,
  questions: Questions | null,
): Promise<void> {
  if (flags.check) {
    const { renderReports } = await import("./check.ts");
    const reports = await tryFirst(answers, context, context.signal);
    context.stdout.write(`${renderReports(reports, [], context)}\n`);
    const unanswered = reports.filter(({ kind }) => kind === "error").map(({ slug }) => slug);
    if (unanswered.length > 0 && !(await isWanted(questions))) {
      throw new FlatlineError(
        "unavailable",
        `no answer for ${unanswered.join(", ")}, so nothing was written; correct what the table says, or write with --no-check`,
      );
    }
  }
  const { config: file } = flags;
  const secrets = await writeFirst(answers, file, context.cwd);
  const flag = file === defaultFile ? "" : ` -c ${file}`;
  const test = answers.slackUrl === null ? "" : `  flatline notify test ${slackReceiver}${flag}\n`;
  context.stdout.write(
    `${file}: written; beside it, for you alone: ${secrets.join(", ")}\nnext:\n${test}  flatline run${flag}\nthen sign in at ${answers.externalUrl}/sign-in with the token in secrets/token\n`,
  );
}

async function isWanted(questions: Questions | null): Promise<boolean> {
  if (questions === null) return false;
  return /^y(es)?$/i.test(
    await questions.ask("Not every organization got an answer. Write the files all the same? [y/N] "),
  );
}

function refuse(what: string, problem: string | null): void {
  if (problem !== null) throw new FlatlineError("usage", `${what} ${problem}`);
}

function emptyProblem(text: string): string | null {
  return text === "" ? "must not be empty" : null;
}

function slugProblem(slug: string): string | null {
  if (slug === "") return "must not be empty";
  return slug.length > longestSlug ? `must be at most ${longestSlug} characters` : null;
}

function slugsOf(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((slug) => slug !== ""))];
}

function slugsProblem(text: string): string | null {
  const slugs = slugsOf(text);
  if (slugs.length === 0) return "must name at least one";
  return slugs.map(slugProblem).find((problem) => problem !== null) ?? null;
}
