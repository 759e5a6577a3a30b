import { InvalidArgumentError, type Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { suggest } from "../base/suggestions.ts";
import type { Config, OrganizationConfig } from "../config/config.ts";
import { type CheckedConfig, checkConfig, loadConfig, findConfigPath } from "../config/load.ts";
import { describeConfig, renderConfig } from "../config/render.ts";
import { renderJsonSchema } from "../config/schema/json-schema.ts";
import type { CheckName } from "../contract/report.ts";
import { checkTargets } from "../daemon/targets.ts";
import { loadFleetConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { asJson } from "./values.ts";

interface FileOption {
  readonly config?: string;
}

/** `flatline config check|show|schema|schedule`. */
export const registerConfig: RegisterCommand = (program, context) => {
  const config = program.command("config").description("validate and look at the configuration");
  addCheck(config, context);
  addShow(config, context);
  addSchema(config, context);
  addSchedule(config, context);
  config.addHelpText(
    "after",
    `
Examples:
  flatline config check -c flatline.yaml    say everything that is wrong with it, or that nothing is
  flatline config schedule --next 3         when every organization is checked next
`,
  );
};

function addCheck(parent: Command, context: CliContext): void {
  parent
    .command("check")
    .description("validate the configuration and every file that it names; exit 0, or 78 with one line a problem")
    .option("-c, --config <file>", "the configuration file")
    .option("--without-files", "take the files that ${file:…} names as right: they are elsewhere")
    .action(async ({ config: flag, withoutFiles }: FileOption & { readonly withoutFiles?: boolean }) => {
      const { env, cwd } = context;
      const path = await findConfigPath({ flag, env, cwd });
      const { config, counts, warnings } = await checkConfig({ path, cwd, env, isWithoutFiles: withoutFiles === true });
      context.stdout.write(`${path}: ok, ${countedParts(counts)}\n`);
      const contacts = config === null ? null : secondOpinionContacts(config);
      if (contacts !== null) context.stdout.write(`${path}: ${contacts}\n`);
      for (const warning of warnings()) context.stderr.write(`${warning}\n`);
    })
    .addHelpText(
      "after",
      `
Problems go to stderr as FILE:LINE:COLUMN: path: message, all in one go. What is valid and never takes effect, or contradicts
itself, is a warning there (FILE:LINE:COLUMN: warning: path: message): exit 0.

Examples:
  flatline config check
  flatline config check -c /etc/flatline/flatline.yaml
  flatline config check --without-files        where the secrets are not
`,
    );
}

function addShow(parent: Command, context: CliContext): void {
  parent
    .command("show")
    .description("print the effective configuration: defaults filled in and merged, secrets as ***")
    .option("-c, --config <file>", "the configuration file")
    .option("--json", "print JSON instead of YAML")
    .action(async (options: FileOption & { readonly json?: boolean }) => {
      const { config } = await load(context, options.config);
      const isJson = options.json === true;
      context.stdout.write(isJson ? asJson(describeConfig(config)) : renderConfig(config));
    })
    .addHelpText(
      "after",
      `
Examples:
  flatline config show
  flatline config show --json | jq '.organizations[] | {slug, thresholds}'
`,
    );
}

function addSchema(parent: Command, context: CliContext): void {
  parent
    .command("schema")
    .description("print the JSON Schema of the configuration file, with which editors complete and check it")
    .action(() => context.stdout.write(renderJsonSchema()))
    .addHelpText(
      "after",
      `
Examples:
  flatline config schema > flatline.schema.json

Then begin the configuration with
  # yaml-language-server: $schema=./flatline.schema.json
`,
    );
}

interface ScheduleOptions extends FileOption {
  readonly next: number;
  readonly json?: boolean;
}

interface PlannedRuns {
  readonly slug: string;
  readonly check: CheckName;
  readonly schedule: string;
  readonly timezone: string;
  /** ISO 8601 with the timezone's offset. */
  readonly next: readonly string[];
}

function addSchedule(parent: Command, context: CliContext): void {
  parent
    .command("schedule")
    .description("print each organization's next runs in its timezone")
    .argument("[slug...]", "only these organizations")
    .option("-c, --config <file>", "the configuration file")
    .option("--next <n>", "how many runs, 1 to 1000", parseCount, 5)
    .option("--json", "print an array of {slug, check, schedule, timezone, next}")
    .action(async (slugs: string[], options: ScheduleOptions) => {
      const { config } = await loadFleetConfig(options.config, context);
      const nowMs = context.clock.nowMs();
      // With the library of cron patterns, which no other command of these needs.
      const { findDueAtMs } = await import("../monitor/schedule.ts");
      const targets = checkTargets({ ...config, organizations: pickOrganizations(config, slugs) });
      const planned = targets.map(({ slug, check, schedule }) => ({
        slug,
        check,
        schedule: schedule.pattern,
        timezone: schedule.timezone,
        next: runsAfter(nowMs, options.next, (atMs) => findDueAtMs(schedule, slug, atMs)).map((atMs) =>
          formatLocalTime(atMs, schedule.timezone),
        ),
      }));
      context.stdout.write(options.json === true ? asJson(planned) : renderPlan(planned));
    })
    .addHelpText(
      "after",
      `
Examples:
  flatline config schedule
  flatline config schedule acme --next 10
`,
    );
}

function renderPlan(planned: readonly PlannedRuns[]): string {
  return planned
    .map(({ slug, check, schedule, timezone, next }) =>
      [`${slug}  ${check}  ${schedule}  ${timezone}`, ...next.map((time) => `  ${time}`), ""].join("\n"),
    )
    .join("");
}

function pickOrganizations(config: Config, slugs: readonly string[]): readonly OrganizationConfig[] {
  const known = config.organizations.map(({ slug }) => slug);
  for (const slug of slugs) {
    if (known.includes(slug)) continue;
    throw new FlatlineError("usage", `no organization is named ${JSON.stringify(slug)}${suggest(slug, known)}`);
  }
  return slugs.length === 0 ? config.organizations : config.organizations.filter(({ slug }) => slugs.includes(slug));
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > 1_000)
    throw new InvalidArgumentError("It is a number from 1 to 1000.");
  return count;
}

async function load(context: CliContext, flag: string | undefined): Promise<{ path: string; config: Config }> {
  const { env, cwd } = context;
  const path = await findConfigPath({ flag, env, cwd });
  return { path, config: await loadConfig({ path, cwd, env }) };
}

function countedParts({ organizations, discover, receivers }: CheckedConfig["counts"]): string {
  const sources = discover === 0 ? [] : [counted(discover, "discovery source")];
  return [counted(organizations, "organization"), ...sources, counted(receivers, "receiver")].join(", ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns what a second opinion will contact, as a sentence without secrets; null: none is configured. */
function secondOpinionContacts({ secondOpinion }: Pick<Config, "secondOpinion">): string | null {
  if (secondOpinion === null) return null;
  const { url, file } = secondOpinion.verifier;
  return url === null
    ? `a second opinion contacts nobody: ${file} has recorded answers`
    : `a second opinion contacts the verifier ${new URL(url.reveal()).host}`;
}

/** Returns the next `count` times after `fromMs`, epoch ms; `next` gives the one after another. */
function runsAfter(fromMs: number, count: number, next: (atMs: number) => number | null): number[] {
  const times: number[] = [];
  for (let atMs = next(fromMs); atMs !== null && times.length < count; atMs = next(atMs)) times.push(atMs);
  return times;
}

/** Formats a point in time as people in `timezone` read it, with the offset that holds then: `2026-03-29T03:30:00+02:00`. */
function formatLocalTime(atMs: number, timezone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    calendar: "iso8601",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? "";
  const offset = part("timeZoneName").replace("GMT", "");
  const date = `${part("year")}-${part("month")}-${part("day")}`;
  return `${date}T${part("hour")}:${part("minute")}:${part("second")}${offset === "" ? "+00:00" : offset}`;
}
