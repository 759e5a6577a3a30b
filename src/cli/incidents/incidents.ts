import { breakAddresses } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount, formatPercent } from "../../base/numbers.ts";
import { describeAuthor } from "../../contract/actor.ts";
import { deathWords } from "../../contract/death-counts.ts";
import { judgementVerdicts } from "../../contract/judgement.ts";
import {
  incidentActSchema,
  incidentDetailSchema,
  incidentListSchema,
  lookSchema,
  type IncidentActAnswer,
  type IncidentDetailAnswer,
} from "../../contract/v1/incidents.ts";
import { statusSchema } from "../../contract/v1/status.ts";
import { countOf, onHoldBy } from "../../words/numbers.ts";
import { asking } from "../ask.ts";
import type { ApiClient } from "../api-client.ts";
import { choice, flag, group, or, required, value, type Complete, type FlagSpecs, type WordSpec } from "../command.ts";
import type { CliContext } from "../context.ts";
import { renderTable } from "../table.ts";
import { asJson, collect } from "../values.ts";
import { assets } from "./assets.ts";

const idWord = ["<id>", "its number or id"] as const;

const list = asking({
  description: "list incidents, newest first",
  flags: {
    state: or(choice("<state>", "which", ["open", "ended", "all"]), "open"),
    family: value("<name>", "only this family: deaths, unreachable, no-events, or a check's name"),
  },
  json: "print an array of incidents",
  help: `
ON HOLD: organizations whose takedowns its alerts hold. A narrow terminal goes without ACKNOWLEDGED and DETECTED.

Examples:
  flatline incidents list
  flatline incidents list --state all --family deaths --json | jq -r '.[].number'
`,
  ask: async ({ api, flags: { state, family } }) => {
    const { incidents } = await api.read("/api/v1/incidents", incidentListSchema, { state, family, limit: 200 });
    // Those of another state or family were not asked for.
    if (state !== "open" || family !== undefined) return { incidents, left: [] };
    const { gate } = await api.read("/api/v1/status", statusSchema);
    const listed = new Set(incidents.map(({ number }) => number));
    return { incidents, left: (gate?.incidents ?? []).filter((number) => !listed.has(number)) };
  },
  data: ({ incidents }) => asJson(incidents),
  say: ({ incidents, left }, { context, flags: { state } }) =>
    `${renderTable(
      incidents,
      {
        INCIDENT: ({ number }) => String(number),
        SEVERITY: ({ severity, endedAt }) => (endedAt === null ? severity : `${severity}, ended`),
        DETECTED: ({ startedAt }) => withoutFraction(startedAt),
        "ON HOLD": ({ held }) => (held === 0 ? "" : formatCount(held)),
        ACKNOWLEDGED: ({ acknowledgedBy = null }) => acknowledgedBy,
        WHAT: ({ headline: [first = ""] }) => breakAddresses(first),
      },
      {
        right: ["INCIDENT", "ON HOLD"],
        dispensable: ["ACKNOWLEDGED", "DETECTED"],
        empty: state === "open" ? "no incident is open" : "no incident is kept",
        context,
      },
    )}${left.length === 0 ? "" : `takedowns are ${onHoldBy(left)}, too: --state all lists them\n`}`,
});

const show = asking({
  description: "show an incident with its organizations and comments",
  words: [idWord],
  flags: { markdown: flag("print its report, to be pasted into a channel or ticket", "json") },
  json: "print the incident as JSON",
  help: `
Examples:
  flatline incidents show 41 --json | jq -r '.alerts[].slug'
  flatline incidents show 41 --markdown > incident-41.md
`,
  ask: ({ api, flags: { markdown }, words: [id] }): Promise<IncidentDetailAnswer | string> =>
    markdown === true ? api.readText(`${pathOf(id)}/report`) : api.read(pathOf(id), incidentDetailSchema),
  say: (shown, { context }) => (typeof shown === "string" ? shown : renderIncident(shown, context)),
});

const look = asking({
  description: "look at some of its dead assets now, for a second opinion",
  words: [idWord],
  acts: true,
  json: "print {look}",
  help:
    "\nIt takes a minute or two; `flatline incidents show` then has it.\n\n" +
    "Example:\n  flatline incidents look 41\n",
  ask: ({ api, flags: { by }, words: [id] }) => api.send("POST", `${pathOf(id)}/second-opinion`, { by }, lookSchema),
  say: (answer, { words: [id] }) => `look ${answer.look} has begun; see it with: flatline incidents show ${id}\n`,
});

/** A request of an act. */
interface Act {
  /** [POST] */
  readonly method?: "DELETE";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The word for what was done. */
  readonly word: string;
  /** It may open gates, so that it asks first [false]. */
  readonly mayOpen?: boolean;
}

interface ActingSpec {
  readonly description: string;
  readonly example: string;
  /** The argument after the incident [none]. */
  readonly second?: WordSpec;
  readonly flags?: FlagSpecs;
  readonly actOf: (flags: Readonly<Record<string, unknown>>, second?: string) => Act;
}

/** Completes a command that acts on the members of an incident. */
function acting({ description, example, second, flags, actOf }: ActingSpec): Complete {
  const send = (api: ApiClient, act: Act, id: string, typed: object, isDryRun: boolean): Promise<IncidentActAnswer> => {
    const path = `${pathOf(id)}/${act.path}${isDryRun ? "?dryRun=true" : ""}`;
    return api.send(act.method ?? "POST", path, { ...act.body, ...typed }, incidentActSchema);
  };
  return asking({
    description,
    words: [idWord, ...(second === undefined ? [] : [second])],
    flags: {
      ...flags,
      slug: value("<slug>", "only this of its organizations; repeatable", collect),
      dryRun: flag("say what it would do, and do nothing"),
    },
    acts: true,
    json: "print {done, skipped, gatesOpened, gatesHeld}",
    help: `\nExample:\n  flatline incidents ${example}\n`,
    opens: async ({ api, flags: { by, slug: slugs, ...own }, words: [id, word] }) => {
      const act = actOf(own, word);
      return act.mayOpen === true ? (await send(api, act, id, { slugs, by }, true)).gatesOpened : [];
    },
    ask: ({ api, flags: { by, slug: slugs, dryRun = false, ...own }, words: [id, word] }) =>
      send(api, actOf(own, word), id, { slugs, by }, dryRun),
    say: (answer, { flags: { dryRun = false, ...own }, words: [, word] }) =>
      renderResult(answer, actOf(own, word).word, dryRun),
  });
}

const ack = acting({
  description: "acknowledge: no reminders and no escalation until it is over, or worse than now",
  example: 'ack 41 --comment "the checker is being repaired"',
  flags: {
    comment: value("<text>", "what you know, or do about it"),
    undo: flag("take the acknowledgement back", "comment"),
  },
  actOf: ({ comment, undo }) =>
    undo === true
      ? { method: "DELETE", path: "ack", word: "no longer acknowledged" }
      : { path: "ack", body: { comment }, word: "acknowledged" },
});

const judge = acting({
  description: "say what it was, so that gates and `tune` learn from it",
  example: 'judge 41 checker --comment "captcha page in front of the hosts"',
  second: ["<verdict>", "what it was; none takes back what was said", [...judgementVerdicts, "none"]],
  flags: { comment: value("<text>", "what you saw") },
  actOf: ({ comment }, verdict) =>
    verdict === "none"
      ? { method: "DELETE", path: "judgement", body: { comment }, word: "no longer judged" }
      : { path: "judgement", body: { comment, verdict }, word: `judged ${verdict}`, mayOpen: true },
});

const release = acting({
  description: "let its deaths be acted on again: opens the gates that its alerts hold",
  example: 'release 41 --comment "ten opened by hand, all gone" --dry-run',
  flags: { comment: required(value("<text>", "why; shown with the release")) },
  actOf: ({ comment }) => ({ path: "release", body: { comment }, word: "released", mayOpen: true }),
});

const silence = acting({
  description: "hold its notifications back for a while",
  example: 'silence 41 --duration 2h --comment "known rollout"',
  flags: {
    duration: required(value("<duration>", "how long, such as 90m")),
    comment: required(value("<text>", "why; shown in every list")),
  },
  actOf: ({ comment, duration }) => ({ path: "silence", body: { comment, duration }, word: "silenced" }),
});

const comment = acting({
  description: "comment on it, for its next reader; no receiver is notified",
  example: 'comment 41 "opened ten by hand, nine load"',
  second: ["<text>", "what you know"],
  actOf: (_flags, text) => ({ path: "comments", body: { comment: text }, word: "commented on" }),
});

/** `flatline incidents list|show|ack|judge|release|silence|look|assets|comment` (CONTRACT 15). */
export const incidents = group("what began together: one act for all its organizations", {
  list,
  show,
  ack,
  judge,
  release,
  silence,
  look,
  assets,
  comment,
});

function pathOf(id: string): string {
  return `/api/v1/incidents/${encodeURIComponent(id)}`;
}

function slugsOf(acted: readonly { readonly slug: string }[]): number {
  return new Set(acted.map(({ slug }) => slug)).size;
}

const skipWords: Readonly<Record<string, string>> = {
  ended: "over",
  already: "already so",
  not_judged_kind: "not of a kind that is judged",
  not_held: "held no gate",
  judged_apart: "judged apart",
};

function renderResult(
  { done, skipped, gatesOpened, gatesHeld }: IncidentActAnswer,
  word: string,
  isDryRun: boolean,
): string {
  const reasons = [...Map.groupBy(skipped, ({ reason }) => reason)];
  return [
    `${isDryRun ? "would be " : ""}${word}: ${countOf(slugsOf(done), "organization")}`,
    ...reasons.map(
      ([reason, some]) => `left as they are, ${skipWords[reason] ?? reason}: ${countOf(slugsOf(some), "organization")}`,
    ),
    ...(gatesOpened.length === 0
      ? []
      : [`takedowns ${isDryRun ? "that would be allowed" : "allowed"} again: ${namesOf(gatesOpened)}`]),
    ...(gatesHeld.length === 0 ? [] : [`takedowns still on hold: ${namesOf(gatesHeld)}`]),
    "",
  ].join("\n");
}

// `flatline gate` lists all that are on hold.
const mostNames = 9;

function namesOf(slugs: readonly string[]): string {
  return slugs.length > mostNames ? countOf(slugs.length, "organization") : slugs.join(", ");
}

function renderIncident(incident: IncidentDetailAnswer, context: CliContext): string {
  const { number, severity, endedAt, startedAt, onsetAt, deaths, alerts, carriers, comments = [] } = incident;
  const began = onsetAt === null ? "" : `began ${withoutFraction(onsetAt)}, `;
  const facts = [
    `incident ${number}: ${endedAt === null ? severity : `ended ${withoutFraction(endedAt)}, ${severity}`}`,
    ...incident.headline.map((sentence) => breakAddresses(sentence)),
    `${began}detected ${withoutFraction(startedAt)}; ` +
      `${formatCount(incident.firing)} of ${formatCount(incident.organizations)} organizations fire`,
    deaths === null ? null : deathWords({ currentCount: deaths.count, expectedCount: deaths.expected }),
    incident.secondOpinion === null ? null : `second opinion: ${incident.secondOpinion.finding}`,
    ...carriers.map(
      ({ key, value, share, usualShare }) =>
        `${formatPercent(share)} ${breakAddresses(`${key}=${value}`)}, usually ${formatPercent(usualShare)}`,
    ),
    incident.acknowledgedBy ? `acknowledged by ${incident.acknowledgedBy}` : null,
    incident.url,
  ];
  type Member = IncidentDetailAnswer["alerts"][number];
  const columns = {
    SEVERITY: ({ state, severity: its }: Member) => (state === "resolved" ? `${its}, ended` : its),
    ORGANIZATION: ({ slug }: Member) => slug,
    CHECK: ({ check }: Member) => check,
    PEAK: ({ peak }: Member) => formatCount(peak.currentCount),
    DETECTED: ({ startsAt }: Member) => withoutFraction(startsAt),
    JUDGED: ({ judgement }: Member) => judgement?.verdict ?? "",
  };
  const said = comments.map(
    ({ at, actor, note, text }) => `${withoutFraction(at)}  ${describeAuthor(actor, note)}: ${breakAddresses(text)}\n`,
  );
  return [
    ...facts.flatMap((fact) => (fact === null ? [] : `${fact}\n`)),
    "\n",
    renderTable(alerts, columns, { right: ["PEAK"], context }),
    ...(said.length === 0 ? [] : ["\n", ...said]),
  ].join("");
}
