import { Argument, Option, type Command } from "commander";

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
  type IncidentAnswer,
  type IncidentDetailAnswer,
} from "../../contract/v1/incidents.ts";
import { addAssets } from "./assets.ts";
import type { ApiClient } from "../api-client.ts";
import { askingCommand } from "../ask.ts";
import { authorOf, type AskFlags, type CliContext, type RegisterCommand } from "../context.ts";
import { countOf } from "../../words/numbers.ts";
import { renderTable } from "../table.ts";
import { collect } from "../values.ts";

interface ActFlags extends AskFlags {
  readonly slug?: readonly string[];
  readonly comment?: string;
}

/** An act, as the API takes it. */
interface Act {
  /** [POST] */
  readonly method?: "DELETE";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** What it does to those that are listed as done. */
  readonly word: string;
  /** It may open gates, which is asked for before [false]. */
  readonly mayOpen?: boolean;
}

/** `flatline incidents list|show|ack|judge|release|silence|look|assets|comment` (CONTRACT 15). */
export const registerIncidents: RegisterCommand = (program: Command, context: CliContext): void => {
  const incidents = program.command("incidents").description("what began together: one act for all its organizations");
  const add = (name: string, description: string): Command =>
    incidents.command(name).description(description).argument("<id>", "its number or id");
  addList(incidents, context);
  addShow(add("show", "show an incident with its organizations and comments"), context);
  const ack = add("ack", "acknowledge: no reminders and no escalation until it is over, or worse than now")
    .option("--comment <text>", "what you know, or do about it")
    .addOption(new Option("--undo", "take the acknowledgement back").conflicts("comment"));
  addAct(
    ack,
    context,
    '41 --comment "the checker is being repaired"',
    (flags: ActFlags & { readonly undo?: boolean }) =>
      flags.undo === true
        ? { method: "DELETE", path: "ack", word: "no longer acknowledged" }
        : { path: "ack", word: "acknowledged" },
  );
  const verdicts = new Argument("<verdict>", "what it was; none takes back what was said");
  const judge = add("judge", "say what it was, so that gates and `tune` learn from it")
    .addArgument(verdicts.choices([...judgementVerdicts, "none"]))
    .option("--comment <text>", "what you saw");
  addAct(judge, context, '41 checker --comment "captcha page in front of the hosts"', (_flags, verdict) =>
    verdict === "none"
      ? { method: "DELETE", path: "judgement", word: "no longer judged" }
      : { path: "judgement", body: { verdict }, word: `judged ${verdict}`, mayOpen: true },
  );
  const release = add("release", "let its deaths be acted on again: opens the gates that its alerts hold");
  release.requiredOption("--comment <text>", "why; shown with the release");
  addAct(release, context, '41 --comment "ten opened by hand, all gone" --dry-run', () => ({
    path: "release",
    word: "released",
    mayOpen: true,
  }));
  const silence = add("silence", "hold its notifications back for a while")
    .requiredOption("--duration <duration>", "how long, such as 90m")
    .requiredOption("--comment <text>", "why; shown in every list");
  addAct(
    silence,
    context,
    '41 --duration 2h --comment "known rollout"',
    ({ duration }: ActFlags & { duration: string }) => ({
      path: "silence",
      body: { duration },
      word: "silenced",
    }),
  );
  addLook(add("look", "look at some of its dead assets now, for a second opinion"), context);
  addAssets(add("assets", "list the assets that died in an incident, those first that flatline saw alive"), context);
  const comment = add("comment", "comment on it, for its next reader; no receiver is notified");
  comment.argument("<text>", "what you know");
  addAct(comment, context, '41 "opened ten by hand, nine load"', (_flags, text) => ({
    path: "comments",
    body: { comment: text },
    word: "commented on",
  }));
};

interface ListFlags extends AskFlags {
  readonly state: string;
  readonly family?: string;
}

function addList(parent: Command, context: CliContext): void {
  const command = parent
    .command("list")
    .description("list incidents, newest first")
    .addOption(new Option("--state <state>", "which").choices(["open", "ended", "all"]).default("open"))
    .option("--family <name>", "only this family: deaths, unreachable, no-events, or a check's name");
  const columns = {
    INCIDENT: ({ number }: IncidentAnswer) => String(number),
    SEVERITY: ({ severity, endedAt }: IncidentAnswer) => (endedAt === null ? severity : `${severity}, ended`),
    SINCE: ({ startedAt }: IncidentAnswer) => withoutFraction(startedAt),
    "ON HOLD": ({ held }: IncidentAnswer) => (held === 0 ? "" : formatCount(held)),
    ACKNOWLEDGED: ({ acknowledgedBy = null }: IncidentAnswer) => acknowledgedBy,
    WHAT: ({ headline: [first = ""] }: IncidentAnswer) => breakAddresses(first),
  };
  askingCommand(command, context, {
    json: "print an array of incidents",
    help: listHelp,
    ask: async (api, { state, family }: ListFlags) => {
      const query = new URLSearchParams({ state, ...(family === undefined ? {} : { family }), limit: "200" });
      return (await api.read(`/api/v1/incidents?${query.toString()}`, incidentListSchema)).incidents;
    },
    say: (incidents, { state }) =>
      renderTable(incidents, columns, {
        right: ["INCIDENT", "ON HOLD"],
        dispensable: ["ACKNOWLEDGED", "SINCE"],
        empty: state === "open" ? "no incident is open" : "no incident is kept",
        context,
      }),
  });
}

const listHelp = `
ON HOLD: organizations whose takedowns its alerts hold. A narrow terminal goes without ACKNOWLEDGED and SINCE.

Examples:
  flatline incidents list
  flatline incidents list --state all --family deaths --json | jq -r '.[].number'
`;

type Shown = IncidentDetailAnswer | string;

function addShow(command: Command, context: CliContext): void {
  command.addOption(
    new Option("--markdown", "print its report, to be pasted into a channel or ticket").conflicts("json"),
  );
  askingCommand(command, context, {
    json: "print the incident as JSON",
    help: showHelp,
    ask: (api, { markdown }: AskFlags & { readonly markdown?: boolean }, id: string): Promise<Shown> =>
      markdown === true ? api.readText(`${pathOf(id)}/report`) : api.read(pathOf(id), incidentDetailSchema),
    say: (shown) => (typeof shown === "string" ? shown : renderIncident(shown, context)),
  });
}

const showHelp = `
Examples:
  flatline incidents show 41 --json | jq -r '.alerts[].slug'
  flatline incidents show 41 --markdown > incident-41.md
`;

function addLook(command: Command, context: CliContext): void {
  askingCommand(command, context, {
    acts: true,
    json: "print {look}",
    help: "\nIt takes a minute or two; `flatline incidents show` then has it.\n\nExample:\n  flatline incidents look 41\n",
    ask: (api, { by }: AskFlags, id: string) =>
      api.send("POST", `${pathOf(id)}/second-opinion`, { by: authorOf(by, context) }, lookSchema),
    say: ({ look }, _flags, [id]) => `look ${look} has begun; see it with: flatline incidents show ${id}\n`,
  });
}

/** Completes a command that does something to the members of an incident; `actOf` says what, of its flags and second argument. */
function addAct<Flags extends ActFlags>(
  command: Command,
  context: CliContext,
  example: string,
  actOf: (flags: Flags, word: string | undefined) => Act,
): void {
  command
    .option("--slug <slug>", "only this of its organizations; repeatable", collect)
    .option("--dry-run", "say what it would do, and do nothing");
  const send = (api: ApiClient, flags: Flags, act: Act, id: string, isDryRun: boolean): Promise<IncidentActAnswer> => {
    const { comment, slug: slugs } = flags;
    const body = { comment, slugs, ...act.body, by: authorOf(flags.by, context) };
    const path = `${pathOf(id)}/${act.path}${isDryRun ? "?dryRun=true" : ""}`;
    return api.send(act.method ?? "POST", path, body, incidentActSchema);
  };
  askingCommand(command, context, {
    acts: true,
    json: "print {done, skipped, gatesOpened, gatesHeld}",
    help: `\nExample:\n  flatline incidents ${command.name()} ${example}\n`,
    opens: async (api, flags: Flags, id: string, word?: string) => {
      const act = actOf(flags, word);
      return act.mayOpen === true ? (await send(api, flags, act, id, true)).gatesOpened : [];
    },
    ask: (api, flags: Flags, id: string, word?: string) =>
      send(api, flags, actOf(flags, word), id, flags.dryRun === true),
    say: (answer, flags, [, word]) => renderResult(answer, actOf(flags, word).word, flags.dryRun === true),
  });
}

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

// More names than a person reads at night; `flatline gate` lists those on hold.
const mostNames = 9;

function namesOf(slugs: readonly string[]): string {
  return slugs.length > mostNames ? countOf(slugs.length, "organization") : slugs.join(", ");
}

function renderIncident(incident: IncidentDetailAnswer, context: CliContext): string {
  const { number, severity, endedAt, startedAt, deaths, alerts, carriers, comments = [] } = incident;
  const facts = [
    `incident ${number}: ${endedAt === null ? severity : `ended ${withoutFraction(endedAt)}, ${severity}`}`,
    ...incident.headline.map((sentence) => breakAddresses(sentence)),
    `since ${withoutFraction(startedAt)}, ${formatCount(incident.firing)} of ${formatCount(incident.organizations)} organizations fire`,
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
