import type { Command } from "commander";
import { withoutFraction, latestInstantMs } from "../base/instant.ts";
import type { Silence } from "../contract/v1/silences.ts";
import { breakAddresses } from "../base/broken-address.ts";
import { FlatlineError } from "../base/errors.ts";
import { literalOf, matchesText } from "../base/text-pattern.ts";
import { hourMs } from "../base/time.ts";
import { suggest } from "../base/suggestions.ts";
import { describeAuthor } from "../contract/actor.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { askDaemon, daemonConfigFlag, daemonTokenFlag, daemonUrlFlag, type DaemonFlags } from "./daemon-flags.ts";
import { renderTable } from "./table.ts";
import { parseDurationMs, parseInstant } from "./values.ts";

interface AddFlags extends DaemonFlags {
  readonly check?: string;
  readonly duration?: number;
  readonly until?: number;
  readonly startsAt?: number;
  readonly comment: string;
  readonly createdBy?: string;
  readonly allowUnknown?: boolean;
}

// Long enough for most maintenance, short enough that a forgotten one hides little.
const defaultDurationMs = 2 * hourMs;

/** `flatline silence add|list|change|expire`, through the running daemon's HTTP API. */
export const registerSilence: RegisterCommand = (program: Command, context: CliContext): void => {
  const silence = program
    .command("silence")
    .description("hold notifications back for a while, through the running daemon");
  addAdd(silence, context);
  addList(silence, context);
  addChange(silence, context);
  addExpire(silence, context);
};

function addAdd(parent: Command, context: CliContext): void {
  parent
    .command("add")
    .description("silence organizations; it ends by itself")
    .argument("<slug>", 'an organization, or a pattern with *; "*" matches all, "\\*" is a star')
    .option("--check <name>", "only this check, or a pattern with * [all]")
    .option("--duration <duration>", "how long, such as 90m [2h]", parseDurationMs)
    .option("--until <time>", "until when, in place of --duration (ISO 8601 or epoch ms)", parseInstant)
    .option("--starts-at <time>", "from when; a time in the past is now [now]", parseInstant)
    .requiredOption("--comment <text>", "why; shown in every list")
    .option("--created-by <name>", "who [$USER]")
    .option(
      "--allow-unknown",
      "also where the daemon checks no organization that <slug> matches, for one that is to come",
    )
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .option("--json", "print the silence as JSON")
    .addHelpText("after", addHelp)
    .action(async (slug: string, flags: AddFlags) => {
      if (flags.duration !== undefined && flags.until !== undefined) {
        throw new FlatlineError("usage", "--duration and --until both say when it ends: give one of them");
      }
      const startsAtMs = flags.startsAt ?? context.clock.nowMs();
      const endsAtMs = flags.until ?? startsAtMs + (flags.duration ?? defaultDurationMs);
      if (endsAtMs > latestInstantMs) throw new FlatlineError("usage", "--duration ends after the year 9999");
      const createdBy = flags.createdBy ?? context.env["USER"];
      const made = await askDaemon(flags, context, async (daemon) => {
        if (flags.allowUnknown !== true) requireKnown(slug, await daemon.slugs());
        return daemon.addSilence({
          slug,
          ...(flags.check === undefined ? {} : { check: flags.check }),
          ...(flags.startsAt === undefined ? {} : { startsAtMs }),
          endsAtMs,
          comment: flags.comment,
          ...(createdBy === undefined || createdBy === "" ? {} : { createdBy }),
        });
      });
      context.stdout.write(flags.json === true ? json(made) : `${made.id ?? "–"}: ${describe(made)}\n`);
    });
}

/** A silence without an organization looks effective, and is nearly always a typo. */
function requireKnown(pattern: string, slugs: readonly string[]): void {
  if (slugs.some((slug) => matchesText(pattern, slug))) return;
  const slug = literalOf(pattern);
  const what = slug === null ? `no organization matches ${pattern}` : `no organization is called ${slug}`;
  throw new FlatlineError("usage", `${what}${suggest(slug ?? pattern, slugs)}`, {
    issues: ["nothing was silenced; --allow-unknown silences it all the same"],
  });
}

const addHelp = `
Held back are firing, escalated, reminder and unknown; a resolved is still sent for what was sent before.

Examples:
  flatline silence add acme --comment "migration of the checker" --duration 4h
  flatline silence add "eu-*" --check dead-asset-spike --until 2026-01-02T06:00:00Z --comment maintenance
`;

function addList(parent: Command, context: CliContext): void {
  parent
    .command("list")
    .description("list silences of the configuration and those made at run time that have not ended")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .option("--json", "print an array of {id, origin, state, slug, check, startsAt, endsAt, comment, …}")
    .addHelpText("after", "\nExample:\n  flatline silence list --json | jq '.[] | select(.state == \"active\")'\n")
    .action(async (flags: DaemonFlags) => {
      const silences = await askDaemon(flags, context, (daemon) => daemon.silences());
      if (flags.json === true) context.stdout.write(json(silences));
      else if (silences.length === 0) context.stdout.write("there are no silences\n");
      else context.stdout.write(renderSilences(silences, context));
    });
}

interface ChangeFlags extends DaemonFlags {
  readonly duration?: number;
  readonly until?: number;
  readonly comment?: string;
}

function addChange(parent: Command, context: CliContext): void {
  parent
    .command("change")
    .description("give a silence that was made at run time another end, or another comment")
    .argument("<id>", "id that `silence list` shows")
    .option("--duration <duration>", "how long from now on, such as 90m", parseDurationMs)
    .option("--until <time>", "until when, in place of --duration (ISO 8601 or epoch ms)", parseInstant)
    .option("--comment <text>", "why")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .option("--json", "print the silence as JSON")
    .addHelpText("after", "\nExample:\n  flatline silence change 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e --duration 4h\n")
    .action(async (id: string, flags: ChangeFlags) => {
      const { duration, until, comment } = flags;
      if (duration !== undefined && until !== undefined)
        throw new FlatlineError("usage", "--duration and --until both say when it ends: give one of them");
      if (duration === undefined && until === undefined && comment === undefined)
        throw new FlatlineError("usage", "nothing is changed: give --duration, --until or --comment");
      const endsAtMs = until ?? (duration === undefined ? undefined : context.clock.nowMs() + duration);
      if (endsAtMs !== undefined && endsAtMs > latestInstantMs)
        throw new FlatlineError("usage", "--duration ends after the year 9999");
      const change = {
        ...(endsAtMs === undefined ? {} : { endsAtMs }),
        ...(comment === undefined ? {} : { comment }),
      };
      const changed = await askDaemon(flags, context, (daemon) => daemon.changeSilence(id, change));
      context.stdout.write(flags.json === true ? json(changed) : `${changed.id ?? "–"}: ${describe(changed)}\n`);
    });
}

function addExpire(parent: Command, context: CliContext): void {
  parent
    .command("expire")
    .description("end silences that were made at run time, now")
    .argument("<id...>", "ids that `silence list` shows")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .addHelpText("after", "\nExample:\n  flatline silence expire 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n")
    .action(async (ids: string[], flags: DaemonFlags) => {
      await askDaemon(flags, context, async (daemon) => {
        for (const id of ids) {
          try {
            await daemon.expireSilence(id);
            context.stdout.write(`${id}: ended\n`);
          } catch (error) {
            if (!(error instanceof FlatlineError) || error.code !== "not_found") throw error;
            context.stderr.write(`flatline: ${id}: ${error.message}\n`);
            context.setExitCode(error.exitCode);
          }
        }
      });
    });
}

function renderSilences(silences: readonly Silence[], context: CliContext): string {
  const rows = silences.map((silence) => [
    silence.id ?? "(configuration)",
    silence.state,
    subject(silence),
    span(silence),
    describeAuthor(silence.createdBy, silence.note),
    breakAddresses(silence.comment),
  ]);
  return renderTable(["ID", "STATE", "MATCHES", "WHEN", "BY", "COMMENT"], rows, { context });
}

function describe(silence: Silence): string {
  return `${subject(silence)} is silenced ${span(silence)}`;
}

function subject({ slug, check, labels }: Silence): string {
  const parts = [
    ...(slug === null ? [] : [slug]),
    ...(check === null ? [] : [check]),
    ...Object.entries(labels).map(([name, value]) => `${name}=${value}`),
  ];
  return parts.join(" ");
}

function span({ startsAt, endsAt, schedule, duration, timezone }: Silence): string {
  if (schedule !== undefined) return `${schedule} for ${duration ?? "?"} (${timezone ?? "UTC"})`;
  return `${seconds(startsAt)} to ${seconds(endsAt)}`;
}

/** Without the fraction of the second. */
function seconds(instant: string | null): string {
  return instant === null ? "?" : withoutFraction(instant);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
