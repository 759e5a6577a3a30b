import type { Command } from "commander";
import { z } from "zod";

import { withoutFraction, latestInstantMs } from "../base/instant.ts";
import { silenceSchema, type Silence } from "../contract/v1/operator.ts";
import { breakAddresses } from "../base/broken-address.ts";
import { FlatlineError } from "../base/errors.ts";
import { literalOf, matchesText } from "../base/text-pattern.ts";
import { hourMs } from "../base/time.ts";
import { suggest } from "../base/suggestions.ts";
import { describeAuthor } from "../contract/actor.ts";
import type { ApiClient } from "./api-client.ts";
import { actingOnEach, askingCommand } from "./ask.ts";
import { authorOf, type AskFlags, type CliContext, type RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { parseDurationMs, parseInstant } from "./values.ts";

interface AddFlags extends AskFlags {
  readonly check?: string;
  readonly duration?: number;
  readonly until?: number;
  readonly startsAt?: number;
  readonly comment: string;
  readonly allowUnknown?: boolean;
}

const path = "/api/v1/silences";
// Long enough for most maintenance, short enough that a forgotten one hides little.
const defaultDurationMs = 2 * hourMs;

/** `flatline silence add|list|expire`. */
export const registerSilence: RegisterCommand = (program: Command, context: CliContext): void => {
  const silence = program.command("silence").description("hold notifications back for a while");
  addAdd(silence, context);
  addList(silence, context);
  const expire = silence.command("expire").description("end silences that were made at run time, now");
  actingOnEach(expire, context, { path, shownBy: "silence list", done: "ended" });
};

function addAdd(parent: Command, context: CliContext): void {
  const command = parent
    .command("add")
    .description("silence organizations; it ends by itself")
    .argument("<slug>", 'an organization, or a pattern with *; "*" matches all, "\\*" is a star')
    .option("--check <name>", "only this check, or a pattern with * [all]")
    .option("--duration <duration>", "how long, such as 90m [2h]", parseDurationMs)
    .option("--until <time>", "until when, in place of --duration (ISO 8601 or epoch ms)", parseInstant)
    .option("--starts-at <time>", "from when; a time in the past is now [now]", parseInstant)
    .requiredOption("--comment <text>", "why; shown in every list")
    .option("--allow-unknown", "also where no organization is checked that <slug> matches, for one that is to come");
  askingCommand(command, context, {
    json: "print the silence as JSON",
    acts: true,
    help: addHelp,
    ask: async (api, flags: AddFlags, slug: string) => {
      const startsAtMs = flags.startsAt ?? context.clock.nowMs();
      const endsAt = new Date(endOf(flags, startsAtMs)).toISOString();
      if (flags.allowUnknown !== true) await requireKnown(slug, api);
      const { check, comment } = flags;
      const startsAt = flags.startsAt === undefined ? undefined : new Date(startsAtMs).toISOString();
      const body = { slug, check, startsAt, endsAt, comment, createdBy: authorOf(flags.by, context) };
      return api.send("POST", path, body, silenceSchema);
    },
    say: (silence) => `${silence.id ?? "–"}: ${subject(silence)} is silenced ${span(silence)}\n`,
  });
}

/** When a silence ends that begins so, epoch ms. @throws FlatlineError usage */
function endOf({ duration, until }: Pick<AddFlags, "duration" | "until">, startsAtMs: number): number {
  if (duration !== undefined && until !== undefined)
    throw new FlatlineError("usage", "--duration and --until both say when it ends: give one of them");
  if (duration !== undefined && startsAtMs + duration > latestInstantMs)
    throw new FlatlineError("usage", "--duration ends after the year 9999");
  return until ?? startsAtMs + (duration ?? defaultDurationMs);
}

/** A silence without an organization looks effective, and is nearly always a typo. @throws FlatlineError usage */
async function requireKnown(pattern: string, api: ApiClient): Promise<void> {
  const slug = literalOf(pattern);
  if (slug !== null && (await readSlugs(api, `?slug=${encodeURIComponent(slug)}`)).length > 0) return;
  const slugs = await readSlugs(api);
  if (slugs.some((one) => matchesText(pattern, one))) return;
  const what = slug === null ? `no organization matches ${pattern}` : `no organization is called ${slug}`;
  throw new FlatlineError("usage", `${what}${suggest(slug ?? pattern, slugs)}`, {
    issues: ["nothing was silenced; --allow-unknown silences it all the same"],
  });
}

async function readSlugs(api: ApiClient, query = ""): Promise<readonly string[]> {
  const checks = await api.read(`/api/v1/checks${query}`, z.array(z.object({ slug: z.string() })));
  return checks.map(({ slug }) => slug);
}

const addHelp = `
Held back are firing, escalated, reminder and unknown; a resolved is still sent for what was sent before.

Examples:
  flatline silence add acme --comment "migration of the checker" --duration 4h
  flatline silence add "eu-*" --check dead-asset-spike --until 2026-01-02T06:00:00Z --comment maintenance
`;

function addList(parent: Command, context: CliContext): void {
  const command = parent
    .command("list")
    .description("list silences of the configuration and those made at run time that have not ended");
  askingCommand(command, context, {
    json: "print an array of {id, origin, state, slug, check, startsAt, endsAt, comment, …}",
    help: "\nExample:\n  flatline silence list --json | jq '.[] | select(.state == \"active\")'\n",
    ask: (api) => api.read(path, z.array(silenceSchema)),
    say: (listed) =>
      renderTable(
        listed,
        {
          ID: ({ id }) => id ?? "(configuration)",
          STATE: ({ state }) => state,
          MATCHES: subject,
          WHEN: span,
          BY: ({ createdBy, note }) => describeAuthor(createdBy, note),
          COMMENT: ({ comment }) => breakAddresses(comment),
        },
        { empty: "there are no silences", context },
      ),
  });
}

function subject({ slug, check, labels }: Silence): string {
  const labelled = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [slug, check, ...labelled].filter((part) => part !== null).join(" ");
}

function span({ startsAt, endsAt, schedule, duration, timezone }: Silence): string {
  if (schedule !== undefined) return `${schedule} for ${duration ?? "?"} (${timezone ?? "UTC"})`;
  return [startsAt, endsAt].map((instant) => (instant === null ? "?" : withoutFraction(instant))).join(" to ");
}
