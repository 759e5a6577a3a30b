import { z } from "zod";

import { breakAddresses } from "../base/broken-address.ts";
import { FlatlineError } from "../base/errors.ts";
import { latestInstantMs, withoutFraction } from "../base/instant.ts";
import { suggest } from "../base/suggestions.ts";
import { literalOf, matchesText } from "../base/text-pattern.ts";
import { hourMs } from "../base/time.ts";
import { describeAuthor } from "../contract/actor.ts";
import { iso } from "../contract/v1/instant.ts";
import { silenceSchema, type Silence } from "../contract/v1/operator.ts";
import type { ApiClient } from "./api-client.ts";
import { actingOnEach, asking } from "./ask.ts";
import { flag, group, required, value } from "./command.ts";
import { renderTable } from "./table.ts";
import { parseDurationMs, parseInstant } from "./values.ts";

const path = "/api/v1/silences";
// Enough for most maintenance; a forgotten one hides little.
const defaultDurationMs = 2 * hourMs;

const add = asking({
  description: "silence organizations; it ends by itself",
  words: [["<slug>", 'an organization, or a pattern with *; "*" matches all, "\\*" is a star']],
  flags: {
    check: value("<name>", "only this check, or a pattern with * [all]"),
    duration: value("<duration>", "how long, such as 90m [2h]", parseDurationMs),
    until: value("<time>", "until when, in place of --duration (ISO 8601 or epoch ms)", parseInstant),
    startsAt: value("<time>", "from when; a time in the past is now [now]", parseInstant),
    comment: required(value("<text>", "why; shown in every list")),
    allowUnknown: flag("also where no organization is checked that <slug> matches, for one that is to come"),
  },
  acts: true,
  json: "print the silence as JSON",
  help: `
Held back are firing, escalated, reminder and unknown; a resolved is still sent for what was sent before.

Examples:
  flatline silence add acme --comment "migration of the checker" --duration 4h
  flatline silence add "eu-*" --check dead-asset-spike --until 2026-01-02T06:00:00Z --comment maintenance
`,
  ask: async ({ api, context, flags, words: [slug] }) => {
    const { check, comment, startsAt: startsAtMs, by: createdBy } = flags;
    const endsAt = iso(endOf(flags, startsAtMs ?? context.clock.nowMs()));
    if (flags.allowUnknown !== true) await requireKnown(slug, api);
    const startsAt = startsAtMs === undefined ? undefined : iso(startsAtMs);
    return api.send("POST", path, { slug, check, startsAt, endsAt, comment, createdBy }, silenceSchema);
  },
  say: (silence) => `${silence.id ?? "–"}: ${subject(silence)} is silenced ${span(silence)}\n`,
});

/** Returns the end of a silence, epoch ms. @throws FlatlineError usage */
function endOf(
  { duration, until }: { readonly duration?: number; readonly until?: number },
  startsAtMs: number,
): number {
  if (duration !== undefined && until !== undefined)
    throw new FlatlineError("usage", "--duration and --until both say when it ends: give one of them");
  if (duration !== undefined && startsAtMs + duration > latestInstantMs)
    throw new FlatlineError("usage", "--duration ends after the year 9999");
  return until ?? startsAtMs + (duration ?? defaultDurationMs);
}

/** Refuses a silence that matches no organization: it is nearly always a typo. @throws FlatlineError usage */
async function requireKnown(pattern: string, api: ApiClient): Promise<void> {
  const slug = literalOf(pattern);
  const slugsOf = async (query: { readonly slug?: string }): Promise<readonly string[]> =>
    (await api.read("/api/v1/checks", z.array(z.object({ slug: z.string() })), query)).map((check) => check.slug);
  if (slug !== null && (await slugsOf({ slug })).length > 0) return;
  const slugs = await slugsOf({});
  if (slugs.some((one) => matchesText(pattern, one))) return;
  const what = slug === null ? `no organization matches ${pattern}` : `no organization is called ${slug}`;
  throw new FlatlineError("usage", `${what}${suggest(slug ?? pattern, slugs)}`, {
    issues: ["nothing was silenced; --allow-unknown silences it all the same"],
  });
}

const list = asking({
  description: "list silences of the configuration and those made at run time that have not ended",
  json: "print an array of {id, origin, state, slug, check, startsAt, endsAt, comment, …}",
  help: "\nExample:\n  flatline silence list --json | jq '.[] | select(.state == \"active\")'\n",
  ask: ({ api }) => api.read(path, z.array(silenceSchema)),
  say: (listed, { context }) =>
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

function subject({ slug, check, labels }: Silence): string {
  const labelled = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [slug, check, ...labelled].filter((part) => part !== null).join(" ");
}

function span({ startsAt, endsAt, schedule, duration, timezone }: Silence): string {
  if (schedule !== undefined) return `${schedule} for ${duration ?? "?"} (${timezone ?? "UTC"})`;
  return [startsAt, endsAt].map((instant) => (instant === null ? "?" : withoutFraction(instant))).join(" to ");
}

export const silence = group("hold notifications back for a while", {
  add,
  list,
  expire: actingOnEach("end silences that were made at run time, now", {
    example: "silence expire",
    path,
    shownBy: "silence list",
    done: "ended",
  }),
});
