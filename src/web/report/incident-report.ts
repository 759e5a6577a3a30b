import { breakAddress, breakAddresses } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount, formatPercent } from "../../base/numbers.ts";
import { escapeControls } from "../../base/unseen-text.ts";
import { describeAuthor } from "../../contract/actor.ts";
import type { HeadlineFacts } from "../../alerting/headline-facts.ts";
import { deathWords } from "../../contract/death-counts.ts";
import { judgementVerdicts } from "../../contract/judgement.ts";
import { lookRoleWords, opinionWords } from "../../contract/second-opinion.ts";
import { compareSeverity } from "../../contract/severity.ts";
import type { CostAnswer } from "../../contract/v1/alerts.ts";
import type { IncidentMember } from "../../alerting/incident-summary.ts";
import type { IncidentDetail } from "../read/incidents.ts";
import { headline } from "../../words/headline.ts";

/** Everything that the report of an incident says. */
export interface ReportFacts extends IncidentDetail {
  /** null: nothing of it is judged `checker`. */
  readonly cost: CostAnswer | null;
  /** Whether the reader may see authors, comments, texts and assets (CONTRACT 13). */
  readonly withPeople: boolean;
}

// A report is for pasting: what is longer is on the incident's page.
const mostComments = 100;
const mostMembers = 50;

/** Renders an incident as Markdown. All text of others in it is inert. */
export function renderIncidentReport(facts: ReportFacts): string {
  const [title, ...sentences] = headline(inertHeadline(facts.headline), facts);
  const parts = [
    `# Incident ${facts.summary.number}: ${title}`,
    sentences.join(" "),
    list(whole(facts)),
    section("Organizations", members(facts)),
    section("Second opinion", secondOpinion(facts)),
    section("Comments", comments(facts)),
    `As of ${instant(facts.nowMs)}. Times are UTC; addresses are broken on purpose.`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** The headline with every text of others as a code span. */
function inertHeadline(facts: HeadlineFacts): HeadlineFacts {
  const { alone, carrier, judgement } = facts;
  return {
    ...facts,
    alone: alone && { ...alone, slug: inertText(alone.slug) },
    carrier: carrier && { ...carrier, key: inertText(carrier.key), value: inertText(carrier.value) },
    judgement: judgement && {
      ...judgement,
      by: inertText(judgement.by),
      comment: judgement.comment && inertText(judgement.comment),
    },
  };
}

type Line = readonly [name: string, text: string | null];

function whole({ summary, members, cost, withPeople }: ReportFacts): string[] {
  const { severity, deaths, onsetAtMs, excessStoppedAtMs, endedAtMs, acknowledgedBy, held } = summary;
  const lines: Line[] = [
    ["Page", summary.url],
    ["Began", onsetAtMs === null ? null : instant(onsetAtMs)],
    ["Severity", severity],
    ["Detected", instant(summary.startedAtMs)],
    ["Nothing unusual since", excessStoppedAtMs === null ? null : instant(excessStoppedAtMs)],
    ["Ended", endedAtMs === null ? "not yet" : instant(endedAtMs)],
    ["Firing", `${formatCount(summary.firing)} of ${formatCount(summary.organizations)}`],
    ["Deaths", deaths && deathWords({ currentCount: deaths.count, expectedCount: deaths.expected })],
    ["Likely cause", summary.family === "deaths" ? summary.likelyCause : null],
    ...summary.carriers.map(({ key, value, share, usualShare }): Line => [
      "Shared",
      `${formatPercent(share)} ${inertText(`${key}=${value}`)}, usually ${formatPercent(usualShare)}`,
    ]),
    ["Acknowledged", acknowledgedBy === null ? "by nobody" : withPeople ? `by ${inertText(acknowledgedBy)}` : "yes"],
    ["Judged", judgements(members)],
    ["Gates on hold", held === 0 ? null : formatCount(held)],
    [
      "Cost",
      cost &&
        `${formatCount(cost.knownCount)} assets counted as dead; ${formatCount(cost.revived)} were found alive, ${formatCount(cost.stillDead)} not yet`,
    ],
  ];
  return lines.flatMap(([name, text]) => (text === null ? [] : [`${name}: ${text}`]));
}

function judgements(all: readonly IncidentMember[]): string {
  const said = judgementVerdicts.flatMap((verdict) => {
    const count = all.filter((alert) => alert.judgement?.verdict === verdict).length;
    return count === 0 ? [] : [`${formatCount(count)} ${verdict}`];
  });
  return said.length === 0 ? "by nobody" : `${said.join(", ")}, of ${formatCount(all.length)}`;
}

function members({ members: inOrder, withPeople }: ReportFacts): string[] {
  const all = inOrder.toSorted(compareMembers);
  const lines = all.slice(0, mostMembers).map((alert) => {
    const { slug, check, severity, peak, startsAtMs, judgement } = alert;
    const deaths = deathWords({ currentCount: peak.currentCount, expectedCount: null });
    return [
      `${alert.end === null ? severity : `ended, ${severity}`}${alert.isSilenced ? ", silenced" : ""}: ${inertText(slug)}`,
      check,
      ...(deaths === null ? [] : [`${deaths} at its peak`]),
      `detected ${instant(startsAtMs)}`,
      ...(judgement === undefined
        ? []
        : [
            `judged ${judgement.verdict}${withPeople ? ` by ${inertText(describeAuthor(judgement.by, judgement.note))}` : ""}`,
          ]),
    ].join(", ");
  });
  const more = all.length - lines.length;
  return more === 0 ? lines : [...lines, `${formatCount(more)} more`];
}

function secondOpinion({ incident, answers, withPeople }: ReportFacts): string[] {
  const { secondOpinion: said } = incident;
  if (said === null) return [];
  return [
    `${said.verdict}, ${instant(said.atMs)}: ${opinionWords(said)}`,
    ...(withPeople ? answers : []).map(({ role, answer, asset, detail }) => {
      const more = detail === null ? "" : `, ${inertText(detail)}`;
      return `${lookRoleWords[role]}, ${answer}: ${inertText(breakAddress(asset))}${more}`;
    }),
  ];
}

/** Orders firing ones before ended ones, then the worst first. */
function compareMembers(left: IncidentMember, right: IncidentMember): number {
  return (
    Number(left.end !== null) - Number(right.end !== null) ||
    compareSeverity(right.severity, left.severity) ||
    (right.peak.currentCount ?? 0) - (left.peak.currentCount ?? 0)
  );
}

const actWords = {
  acknowledge: "acknowledging",
  judgement: "judging",
  release: "releasing the gate",
  silence: "silencing",
} as const;

function comments({ comments: all, withPeople }: ReportFacts): string[] {
  if (!withPeople) return [];
  const lines = all.map(({ atMs, by, note, slug, act, text }) => {
    const about = [slug === null ? [] : inertText(slug), act === null ? [] : actWords[act]].flat();
    return `${[instant(atMs), inertText(describeAuthor(by, note)), ...about].join(", ")}: ${inertText(text)}`;
  });
  const left = lines.length - mostComments;
  return left <= 0 ? lines : [`${formatCount(left)} earlier ones are on the incident's page`, ...lines.slice(left)];
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `## ${title}\n\n${list(lines)}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

function instant(atMs: number): string {
  return withoutFraction(new Date(atMs).toISOString());
}

/**
 * Returns foreign text for a line of Markdown, as a code span: nothing in one is a link, an image, HTML or a mention, in no
 * dialect. Escaping each character was rejected: services look for mentions, addresses and issue numbers in what was rendered,
 * but not in code. A backtick becomes an apostrophe, because some chats know only spans of one backtick; `@` becomes `[at]` for
 * those that look for mentions in code, too.
 */
function inertText(text: string): string {
  // On one line: a blank one would end the span.
  const line = escapeControls(text.replaceAll(/\s+/g, " ").trim());
  const inert = breakAddresses(line).replaceAll("@", "[at]").replaceAll("`", "'");
  return inert === "" ? "–" : `\`${inert}\``;
}
