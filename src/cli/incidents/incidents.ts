import { Argument, Option, type Command } from "commander";

import { breakAddresses } from "../../base/broken-address.ts";
import { FlatlineError } from "../../base/errors.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount, formatPercent } from "../../base/numbers.ts";
import { deathWords } from "../../contract/death-counts.ts";
import { judgementVerdicts, type JudgementVerdict } from "../../contract/judgement.ts";
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
import { addAskFlags, addBy, askApi, askingCommand, authorOf, type AskFlags } from "../ask.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { confirmOpening } from "../questions.ts";
import { countOf } from "../../words/numbers.ts";
import { renderTable } from "../table.ts";
import { asJson, collect, parseDurationMs } from "../values.ts";

interface ListFlags extends AskFlags {
  readonly state: string;
  readonly family?: string;
}

interface ShowFlags extends AskFlags {
  readonly markdown?: boolean;
}

interface ActFlags extends AskFlags {
  readonly slug?: readonly string[];
  readonly comment?: string;
  readonly by?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** An act, as the API takes it. */
interface Act {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What it does to those that are listed as done. */
  readonly word: string;
  /** It may open gates, which is asked for before. */
  readonly mayOpen: boolean;
}

/** `flatline incidents list|show|ack|judge|release|silence|look|assets|comment` (CONTRACT 15). */
export const registerIncidents: RegisterCommand = (program: Command, context: CliContext): void => {
  const incidents = program.command("incidents").description("what began together: one act for all its organizations");
  addList(incidents, context);
  addShow(incidents, context);
  addAct(
    incidents,
    "ack",
    "acknowledge: no reminders and no escalation until it is over, or worse than now",
    '41 --comment "the checker is being repaired"',
  )
    .option("--comment <text>", "what you know, or do about it")
    .option("--undo", "take the acknowledgement back")
    .action(async (id: string, flags: ActFlags & { readonly undo?: boolean }) => {
      if (flags.undo === true && flags.comment !== undefined)
        throw new FlatlineError("usage", "--comment goes with an acknowledgement, not with --undo");
      const undo = flags.undo === true;
      const method = undo ? "DELETE" : "POST";
      const word = undo ? "no longer acknowledged" : "acknowledged";
      await run(id, flags, context, { method, path: "ack", body: said(flags), word, mayOpen: false });
    });
  addAct(
    incidents,
    "judge",
    "say what it was, so that gates and `tune` learn from it",
    '41 checker --comment "captcha page in front of the hosts"',
    [new Argument("<verdict>", "what it was; none takes back what was said").choices([...judgementVerdicts, "none"])],
  )
    .option("--comment <text>", "what you saw")
    .action(async (id: string, verdict: JudgementVerdict | "none", flags: ActFlags) => {
      if (verdict === "none" && flags.comment !== undefined)
        throw new FlatlineError("usage", "--comment goes with a judgement, not with none");
      const act: Act =
        verdict === "none"
          ? { method: "DELETE", path: "judgement", body: said(flags), word: "no longer judged", mayOpen: false }
          : {
              method: "POST",
              path: "judgement",
              body: { ...said(flags), verdict },
              word: `judged ${verdict}`,
              mayOpen: true,
            };
      await run(id, flags, context, act);
    });
  addAct(
    incidents,
    "release",
    "let its deaths be acted on again: opens the gates that its alerts hold",
    '41 --comment "ten opened by hand, all gone" --dry-run',
  )
    .requiredOption("--comment <text>", "why; shown with the release")
    .action(async (id: string, flags: ActFlags) =>
      run(id, flags, context, { method: "POST", path: "release", body: said(flags), word: "released", mayOpen: true }),
    );
  addAct(incidents, "silence", "hold its notifications back for a while", '41 --duration 2h --comment "known rollout"')
    .requiredOption("--duration <duration>", "how long, such as 90m", parseDurationMs)
    .requiredOption("--comment <text>", "why; shown in every list")
    .action(async (id: string, flags: ActFlags & { readonly duration: number }) => {
      const body = { ...said(flags), endsAt: new Date(context.clock.nowMs() + flags.duration).toISOString() };
      await run(id, flags, context, { method: "POST", path: "silence", body, word: "silenced", mayOpen: false });
    });
  addLook(incidents, context);
  addAssets(incidents, context);
  addAct(
    incidents,
    "comment",
    "comment on it, for its next reader; no receiver is notified",
    '41 "opened ten by hand, nine load"',
    [new Argument("<text>", "what you know")],
  ).action(async (id: string, text: string, flags: ActFlags) => {
    const body = { ...said(flags), comment: text };
    await run(id, flags, context, { method: "POST", path: "comments", body, word: "commented on", mayOpen: false });
  });
};

function addList(parent: Command, context: CliContext): void {
  const command = parent
    .command("list")
    .description("list incidents, newest first")
    .addOption(new Option("--state <state>", "which").choices(["open", "ended", "all"]).default("open"))
    .option("--family <name>", "only this family: deaths, unreachable, no-events, or a check's name");
  askingCommand(command, context, {
    json: "print an array of incidents",
    help: listHelp,
    ask: async (api, { state, family }: ListFlags) => {
      const query = new URLSearchParams({ state, ...(family === undefined ? {} : { family }), limit: "200" });
      return (await api.read(`/api/v1/incidents?${query.toString()}`, incidentListSchema)).incidents;
    },
    say: (incidents, { flags }) => renderList(incidents, flags.state, context),
  });
}

const listHelp = `
ON HOLD: organizations whose takedowns its alerts hold. A narrow terminal goes without ACKNOWLEDGED and SINCE.

Examples:
  flatline incidents list
  flatline incidents list --state all --family deaths --json | jq -r '.[].number'
`;

function addShow(parent: Command, context: CliContext): void {
  const command = parent
    .command("show")
    .description("show an incident with its organizations and comments")
    .argument("<id>", "its number or id")
    .addOption(new Option("--markdown", "print its report, to be pasted into a channel or ticket").conflicts("json"));
  askingCommand(command, context, {
    json: "print the incident as JSON",
    help: showHelp,
    ask: (api, { markdown }: ShowFlags, id: string): Promise<IncidentDetailAnswer | string> =>
      markdown === true ? api.readText(`${pathOf(id)}/report`) : api.read(pathOf(id), incidentDetailSchema),
    say: (shown) => (typeof shown === "string" ? shown : renderIncident(shown, context)),
  });
}

const showHelp = `
Examples:
  flatline incidents show 41 --json | jq -r '.alerts[].slug'
  flatline incidents show 41 --markdown > incident-41.md
`;

function addAct(
  parent: Command,
  name: string,
  description: string,
  example: string,
  more: readonly Argument[] = [],
): Command {
  const command = parent.command(name).description(description).argument("<id>", "its number or id");
  for (const argument of more) command.addArgument(argument);
  return addBy(addAskFlags(command))
    .option("--slug <slug>", "only this of its organizations; repeatable", collect)
    .option("--dry-run", "say what it would do, and do nothing")
    .option("--yes", "open gates without asking")
    .option("--json", "print {done, skipped, gatesOpened, gatesHeld}")
    .addHelpText("after", `\nExample:\n  flatline incidents ${name} ${example}\n`);
}

function addLook(parent: Command, context: CliContext): void {
  const command = parent
    .command("look")
    .description("look at some of its dead assets now, for a second opinion")
    .argument("<id>", "its number or id");
  askingCommand(command, context, {
    acts: true,
    json: "print {look}",
    help: "\nIt takes a minute or two; `flatline incidents show` then has it.\n\nExample:\n  flatline incidents look 41\n",
    ask: (api, { by }: AskFlags, id: string) =>
      api.send("POST", `${pathOf(id)}/second-opinion`, { by: authorOf(by, context) }, lookSchema),
    say: ({ look }, { words: [id] }) => `look ${look} has begun; see it with: flatline incidents show ${id}\n`,
  });
}

function said({ comment, slug }: ActFlags): Readonly<Record<string, unknown>> {
  return { comment, slugs: slug };
}

function pathOf(id: string): string {
  return `/api/v1/incidents/${encodeURIComponent(id)}`;
}

/** Asks before it opens gates: what pipelines do then, nothing takes back. Nobody is kept from the store while a person thinks. */
async function run(id: string, flags: ActFlags, context: CliContext, act: Act): Promise<void> {
  const body = { ...act.body, by: authorOf(flags.by, context) };
  const send = (isDryRun: boolean): Promise<IncidentActAnswer> => {
    const path = `${pathOf(id)}/${act.path}${isDryRun ? "?dryRun=true" : ""}`;
    return askApi(flags, context, (api) => api.send(act.method, path, body, incidentActSchema));
  };
  if (act.mayOpen && flags.dryRun !== true && flags.yes !== true) {
    const { gatesOpened } = await send(true);
    if (gatesOpened.length > 0 && !(await confirmOpening(gatesOpened, context))) {
      context.stderr.write("nothing was done\n");
      context.setExitCode(1);
      return;
    }
  }
  const result = await send(flags.dryRun === true);
  context.stdout.write(flags.json === true ? asJson(result) : renderResult(result, act.word, flags.dryRun === true));
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

function renderList(incidents: readonly IncidentAnswer[], state: string, context: CliContext): string {
  if (incidents.length === 0) return state === "open" ? "no incident is open\n" : "no incident is kept\n";
  const rows = incidents.map((one) => [
    String(one.number),
    one.endedAt === null ? one.severity : `${one.severity}, ended`,
    withoutFraction(one.startedAt),
    one.held === 0 ? "" : formatCount(one.held),
    one.acknowledgedBy ?? "",
    breakAddresses(one.headline[0] ?? ""),
  ]);
  const head = ["INCIDENT", "SEVERITY", "SINCE", "ON HOLD", "ACKNOWLEDGED", "WHAT"];
  return renderTable(head, rows, { right: ["INCIDENT", "ON HOLD"], dispensable: ["ACKNOWLEDGED", "SINCE"], context });
}

function deathsText({ deaths }: IncidentAnswer): string {
  if (deaths === null) return "";
  return deathWords({ currentCount: deaths.count, expectedCount: deaths.expected }) ?? "";
}

function renderIncident(incident: IncidentDetailAnswer, context: CliContext): string {
  const { number, severity, endedAt, startedAt, alerts, carriers, comments = [] } = incident;
  const facts = [
    `incident ${number}: ${endedAt === null ? severity : `ended ${withoutFraction(endedAt)}, ${severity}`}`,
    ...incident.headline.map((sentence) => breakAddresses(sentence)),
    `since ${withoutFraction(startedAt)}, ${formatCount(incident.firing)} of ${formatCount(incident.organizations)} organizations fire`,
    ...(incident.deaths === null ? [] : [deathsText(incident)]),
    ...(incident.secondOpinion === null ? [] : [`second opinion: ${incident.secondOpinion.finding}`]),
    ...carriers.map(
      ({ key, value, share, usualShare }) =>
        `${formatPercent(share)} ${breakAddresses(`${key}=${value}`)}, usually ${formatPercent(usualShare)}`,
    ),
    ...(incident.acknowledgedBy ? [`acknowledged by ${incident.acknowledgedBy}`] : []),
    ...(incident.url === null ? [] : [incident.url]),
  ];
  const rows = alerts.map((alert) => [
    alert.state === "resolved" ? `${alert.severity}, ended` : alert.severity,
    alert.slug,
    alert.check,
    formatCount(alert.peak.currentCount),
    withoutFraction(alert.startsAt),
    alert.judgement?.verdict ?? "",
  ]);
  const head = ["SEVERITY", "ORGANIZATION", "CHECK", "PEAK", "DETECTED", "JUDGED"];
  const said = comments.map(({ at, actor, text }) => `${withoutFraction(at)}  ${actor}: ${breakAddresses(text)}\n`);
  return `${facts.join("\n")}\n\n${renderTable(head, rows, { right: ["PEAK"], context })}${said.length === 0 ? "" : "\n"}${said.join("")}`;
}
