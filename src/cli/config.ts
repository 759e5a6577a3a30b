import { InvalidArgumentError } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { suggest } from "../base/suggestions.ts";
import { timezoneOf } from "../base/timezone.ts";
import type { Config } from "../config/config.ts";
import { checkConfig, findConfigPath } from "../config/load.ts";
import { describeConfig, renderConfig } from "../config/render.ts";
import { renderJsonSchema } from "../config/schema/json-schema.ts";
import { checkTargets } from "../daemon/targets.ts";
import { countOf } from "../words/numbers.ts";
import { command, configFlag, flag, group, or, value } from "./command.ts";
import { loadCommandConfig, loadFleetConfig } from "./command-config.ts";
import { asJson } from "./values.ts";

const check = command({
  description: "validate the configuration and every file that it names; exit 0, or 78 with one line a problem",
  flags: { ...configFlag, withoutFiles: flag("take the files that ${file:…} names as right: they are elsewhere") },
  help: `
Problems go to stderr as FILE:LINE:COLUMN: path: message, all in one go. What is valid and never
takes effect, or contradicts itself, is a warning there (FILE:LINE:COLUMN: warning: path: message):
exit 0.

Examples:
  flatline config check
  flatline config check -c /etc/flatline/flatline.yaml
  flatline config check --without-files        where the secrets are not
`,
  run: async ({ context: { env, cwd, stderr }, flags: { config: flag, withoutFiles: isWithoutFiles = false } }) => {
    const path = findConfigPath({ flag, env, cwd });
    const { config, counts, warnings } = await checkConfig({ path, cwd, env, isWithoutFiles });
    for (const warning of warnings()) stderr.write(`${warning}\n`);
    const parts = [
      countOf(counts.organizations, "organization"),
      ...(counts.discover === 0 ? [] : [countOf(counts.discover, "discovery source")]),
      countOf(counts.receivers, "receiver"),
    ];
    return [`ok, ${parts.join(", ")}`, ...secondOpinionContacts(config)].map((line) => `${path}: ${line}\n`);
  },
  say: (lines) => lines.join(""),
});

const show = command({
  description: "print the effective configuration: defaults filled in and merged, secrets as ***",
  flags: configFlag,
  json: "print JSON instead of YAML",
  help: `
Examples:
  flatline config show
  flatline config show --json | jq '.organizations[] | {slug, thresholds}'
`,
  run: ({ context, flags }) => loadCommandConfig(flags.config, context),
  say: renderConfig,
  data: (config) => asJson(describeConfig(config)),
});

const schema = command({
  description: "print the JSON Schema of the configuration file, with which editors complete and check it",
  help: `
Examples:
  flatline config schema > flatline.schema.json

Then begin the configuration with
  # yaml-language-server: $schema=./flatline.schema.json
`,
  run: () => renderJsonSchema(),
  say: (text) => text,
});

const schedule = command({
  description: "print each organization's next runs in its timezone",
  words: [["[slug...]", "only these organizations"]],
  flags: { ...configFlag, next: or(value("<n>", "how many runs, 1 to 1000", parseCount), 5) },
  json: "print an array of {slug, check, schedule, timezone, next}",
  help: "\nExamples:\n  flatline config schedule\n  flatline config schedule acme --next 10\n",
  run: async ({ context, flags: { config: file, next }, words: [slugs] }) => {
    const { config } = await loadFleetConfig(file, context);
    const known = config.organizations.map(({ slug }) => slug);
    const unknown = slugs.find((slug) => !known.includes(slug));
    if (unknown !== undefined)
      throw new FlatlineError("usage", `no organization is named "${unknown}"${suggest(unknown, known)}`);
    const nowMs = context.clock.nowMs();
    // Loads the library of cron patterns, which only this command needs.
    const { findDueAtMs } = await import("../monitor/schedule.ts");
    const targets = checkTargets(config).filter(({ slug }) => slugs.length === 0 || slugs.includes(slug));
    return targets.map((target) => {
      const { slug, schedule } = target;
      const { pattern, timezone } = schedule;
      const times: string[] = [];
      let atMs = findDueAtMs(schedule, slug, nowMs);
      for (; atMs !== null && times.length < next; atMs = findDueAtMs(schedule, slug, atMs))
        times.push(formatLocalTime(atMs, timezone));
      return { slug, check: target.check, schedule: pattern, timezone, next: times };
    });
  },
  say: (planned) =>
    planned
      .map(({ next, ...run }) => [Object.values(run).join("  "), ...next.map((time) => `  ${time}`), ""].join("\n"))
      .join(""),
});

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000) return count;
  throw new InvalidArgumentError("It is a number from 1 to 1000.");
}

/** Returns a line with the host that a second opinion contacts; none without one. */
function secondOpinionContacts(config: Config | null): string[] {
  if (config === null || config.secondOpinion === null) return [];
  const { url, file } = config.secondOpinion.verifier;
  return [
    url === null
      ? `a second opinion contacts nobody: ${file} has recorded answers`
      : `a second opinion contacts the verifier ${new URL(url.reveal()).host}`,
  ];
}

/** Formats a time in `timezone` with its offset at that time: `2026-03-29T03:30:00+02:00`. */
function formatLocalTime(atMs: number, timezone: string): string {
  const offsetMs = timezoneOf(timezone).offsetMs(atMs);
  const isoOf = (ms: number, from: number, to: number): string => new Date(ms).toISOString().slice(from, to);
  return `${isoOf(atMs + offsetMs, 0, 19)}${offsetMs < 0 ? "-" : "+"}${isoOf(Math.abs(offsetMs), 11, 16)}`;
}

export const config = group(
  "validate and look at the configuration",
  { check, show, schema, schedule },
  `
Examples:
  flatline config check -c flatline.yaml    say everything that is wrong with it, or that nothing is
  flatline config schedule --next 3         when every organization is checked next
`,
);
