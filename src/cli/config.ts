import { InvalidArgumentError, type Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { suggest } from "../base/suggestions.ts";
import { timezoneOf } from "../base/timezone.ts";
import type { Config } from "../config/config.ts";
import { checkConfig, findConfigPath } from "../config/load.ts";
import { describeConfig, renderConfig } from "../config/render.ts";
import { renderJsonSchema } from "../config/schema/json-schema.ts";
import { checkTargets } from "../daemon/targets.ts";
import { countOf } from "../words/numbers.ts";
import { loadCommandConfig, loadFleetConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { asJson } from "./values.ts";

interface Flags {
  readonly config?: string;
  readonly json?: boolean;
  readonly withoutFiles?: boolean;
  readonly next?: number;
}

/** `flatline config check|show|schema|schedule`. */
export const registerConfig: RegisterCommand = (program, context) => {
  const config = program.command("config").description("validate and look at the configuration");
  addCheck(config, context);
  addShow(config, context);
  addSchema(config, context);
  addSchedule(config, context);
  config.addHelpText("after", help);
};

const help = `
Examples:
  flatline config check -c flatline.yaml    say everything that is wrong with it, or that nothing is
  flatline config schedule --next 3         when every organization is checked next
`;

function addCheck(parent: Command, context: CliContext): void {
  parent
    .command("check")
    .description("validate the configuration and every file that it names; exit 0, or 78 with one line a problem")
    .option("-c, --config <file>", "the configuration file")
    .option("--without-files", "take the files that ${file:…} names as right: they are elsewhere")
    .addHelpText("after", checkHelp)
    .action(async ({ config: flag, withoutFiles: isWithoutFiles = false }: Flags) => {
      const { env, cwd, stdout, stderr } = context;
      const path = findConfigPath({ flag, env, cwd });
      const { config, counts, warnings } = await checkConfig({ path, cwd, env, isWithoutFiles });
      const parts = [
        countOf(counts.organizations, "organization"),
        ...(counts.discover === 0 ? [] : [countOf(counts.discover, "discovery source")]),
        countOf(counts.receivers, "receiver"),
      ];
      stdout.write(`${path}: ok, ${parts.join(", ")}\n`);
      const contacts = config === null ? null : secondOpinionContacts(config);
      if (contacts !== null) stdout.write(`${path}: ${contacts}\n`);
      for (const warning of warnings()) stderr.write(`${warning}\n`);
    });
}

const checkHelp = `
Problems go to stderr as FILE:LINE:COLUMN: path: message, all in one go. What is valid and never takes effect, or contradicts
itself, is a warning there (FILE:LINE:COLUMN: warning: path: message): exit 0.

Examples:
  flatline config check
  flatline config check -c /etc/flatline/flatline.yaml
  flatline config check --without-files        where the secrets are not
`;

function addShow(parent: Command, context: CliContext): void {
  parent
    .command("show")
    .description("print the effective configuration: defaults filled in and merged, secrets as ***")
    .option("-c, --config <file>", "the configuration file")
    .option("--json", "print JSON instead of YAML")
    .addHelpText("after", showHelp)
    .action(async ({ config: flag, json }: Flags) => {
      const config = await loadCommandConfig(flag, context);
      context.stdout.write(json === true ? asJson(describeConfig(config)) : renderConfig(config));
    });
}

const showHelp = `
Examples:
  flatline config show
  flatline config show --json | jq '.organizations[] | {slug, thresholds}'
`;

function addSchema(parent: Command, context: CliContext): void {
  parent
    .command("schema")
    .description("print the JSON Schema of the configuration file, with which editors complete and check it")
    .addHelpText("after", schemaHelp)
    .action(() => context.stdout.write(renderJsonSchema()));
}

const schemaHelp = `
Examples:
  flatline config schema > flatline.schema.json

Then begin the configuration with
  # yaml-language-server: $schema=./flatline.schema.json
`;

function addSchedule(parent: Command, context: CliContext): void {
  parent
    .command("schedule")
    .description("print each organization's next runs in its timezone")
    .argument("[slug...]", "only these organizations")
    .option("-c, --config <file>", "the configuration file")
    .option("--next <n>", "how many runs, 1 to 1000", parseCount, 5)
    .option("--json", "print an array of {slug, check, schedule, timezone, next}")
    .addHelpText("after", "\nExamples:\n  flatline config schedule\n  flatline config schedule acme --next 10\n")
    .action(async (slugs: readonly string[], { config: flag, next = 0, json }: Flags) => {
      const { config } = await loadFleetConfig(flag, context);
      const known = config.organizations.map(({ slug }) => slug);
      const unknown = slugs.find((slug) => !known.includes(slug));
      if (unknown !== undefined)
        throw new FlatlineError("usage", `no organization is named "${unknown}"${suggest(unknown, known)}`);
      const nowMs = context.clock.nowMs();
      // With the library of cron patterns, which no other command of these needs.
      const { findDueAtMs } = await import("../monitor/schedule.ts");
      const targets = checkTargets(config).filter(({ slug }) => slugs.length === 0 || slugs.includes(slug));
      const planned = targets.map(({ slug, check, schedule: { pattern, timezone }, schedule }) => {
        const times: string[] = [];
        let atMs = findDueAtMs(schedule, slug, nowMs);
        for (; atMs !== null && times.length < next; atMs = findDueAtMs(schedule, slug, atMs))
          times.push(formatLocalTime(atMs, timezone));
        return { slug, check, schedule: pattern, timezone, next: times };
      });
      const blocks = planned.map(({ next: times, ...run }) =>
        [Object.values(run).join("  "), ...times.map((time) => `  ${time}`), ""].join("\n"),
      );
      context.stdout.write(json === true ? asJson(planned) : blocks.join(""));
    });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000) return count;
  throw new InvalidArgumentError("It is a number from 1 to 1000.");
}

/** Returns what a second opinion will contact, as a sentence without secrets; null: none is configured. */
function secondOpinionContacts({ secondOpinion }: Pick<Config, "secondOpinion">): string | null {
  if (secondOpinion === null) return null;
  const { url, file } = secondOpinion.verifier;
  return url === null
    ? `a second opinion contacts nobody: ${file} has recorded answers`
    : `a second opinion contacts the verifier ${new URL(url.reveal()).host}`;
}

/** Formats a point in time as people in `timezone` read it, with the offset that holds then: `2026-03-29T03:30:00+02:00`. */
function formatLocalTime(atMs: number, timezone: string): string {
  const offsetMs = timezoneOf(timezone).offsetMs(atMs);
  const isoOf = (ms: number, from: number, to: number): string => new Date(ms).toISOString().slice(from, to);
  return `${isoOf(atMs + offsetMs, 0, 19)}${offsetMs < 0 ? "-" : "+"}${isoOf(Math.abs(offsetMs), 11, 16)}`;
}
