import { breakAddress, breakAddresses } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import { escapeControls } from "../../base/outside-text.ts";
import { describeAuthor } from "../../contract/actor.ts";
import { deathWords } from "../../contract/death-counts.ts";
import { lookRoleWords } from "../../contract/second-opinion.ts";
import type { CostAnswer } from "../../contract/v1/alerts.ts";
import { headline, sharedWords } from "../../words/headline.ts";
import { costFacts } from "../pages/incidents/incident.ts";
import { memberFactsOf } from "../pages/incidents/member-facts.ts";
import { decidedQuestions, knownQuestions } from "../pages/incidents/questions.ts";
import { storyOf } from "../pages/incidents/story.ts";
import type { IncidentDetail } from "../read/incidents.ts";

// The incident's page has the rest.
const mostLines = 100;

/** Renders an incident as Markdown, with foreign text inert; `cost` null: no alert is judged `checker`. */
export function renderIncidentReport(facts: IncidentDetail, cost: CostAnswer | null): string {
  const page = inert(facts);
  const { summary, nowMs } = page;
  const { deaths, carriers } = summary;
  const [title, ...sentences] = headline(page.headline, nowMs);
  const asked = [...knownQuestions(page), ...decidedQuestions(page)];
  const parts = [
    `# Incident ${summary.number}: ${title}`,
    sentences.join(" "),
    list([
      ...(summary.url === null ? [] : [`Page: ${summary.url}`]),
      ...(deaths === null
        ? []
        : [`In all: ${deathWords({ currentCount: deaths.count, expectedCount: deaths.expected })}`]),
      ...asked.map(({ question, answer, why }) =>
        `${question}${question.endsWith("?") ? "" : ":"} ${answer}. ${why}`.trimEnd(),
      ),
    ]),
    section("What these deaths share", carriers.map(sharedWords)),
    section("Organizations", memberLines(page)),
    section("What it cost", cost === null ? [] : costFacts(cost).map(([name, text]) => `${name}: ${text}`)),
    section(
      "What happened",
      storyOf(page).map(({ atMs, name, text, detail = "" }) =>
        [`${instant(atMs)}: ${name} ${text}`.trimEnd(), ...(detail === "" ? [] : [detail])].join("; "),
      ),
    ),
    section(
      "What the verifier said",
      page.answers.map(({ role, answer, asset, detail }) =>
        [`${lookRoleWords[role]}, ${answer}: ${asset}`, ...(detail === null ? [] : [detail])].join(", "),
      ),
    ),
    `As of ${instant(nowMs)}. Times are UTC; addresses are broken on purpose.`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function memberLines(page: IncidentDetail): string[] {
  return memberFactsOf(page).map(({ member, slug, count, expected, heldSinceMs }) => {
    const { check, severity, end, isSilenced, judgement } = member;
    const by = judgement ? describeAuthor(judgement.by, judgement.note) : "";
    return [
      `${end === null ? "" : "ended, "}${severity}${isSilenced ? ", silenced" : ""}: ${slug}`,
      deathWords({ currentCount: count, expectedCount: expected }) ?? check,
      ...(heldSinceMs === null ? [] : [`takedowns on hold since ${instant(heldSinceMs)}`]),
      ...(judgement === undefined ? [] : [`judged ${judgement.verdict}${by === "" ? "" : ` by ${by}`}`]),
    ].join(", ");
  });
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `## ${title}\n\n${list(lines)}`;
}

function list(lines: readonly string[]): string {
  const more = lines.length - mostLines;
  const shown =
    more > 0 ? [...lines.slice(0, mostLines), `${formatCount(more)} more are on the incident's page`] : lines;
  return shown.map((line) => `- ${line}`).join("\n");
}

function instant(atMs: number): string {
  return withoutFraction(new Date(atMs).toISOString());
}

/** Fields with flatline's own words, or words of the configuration. */
const ours: ReadonlySet<string> = new Set(
  "act answer cause check checks failure family host kind likelyCause reason role severity state url verdict".split(
    " ",
  ),
);

/** Returns a copy with all text inert, except for the fields in `ours`. */
function inert<Value>(value: Value, field?: string): Value;
function inert(value: unknown, field = ""): unknown {
  if (typeof value === "string") {
    if (value === "" || ours.has(field)) return value;
    // A renderer may take a bare host name for an address.
    return inertText(field === "asset" ? breakAddress(value) : value);
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => inert<unknown>(one, field));
  if (value instanceof Map)
    return new Map([...value].map(([key, one]) => [inert(key, field), inert<unknown>(one, field)]));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inert<unknown>(one, name)]));
}

/**
 * Returns foreign text as a code span, in which no dialect of Markdown finds links, images, HTML or mentions. Escaping
 * each character is not enough: services search the rendered text. Some chats end a span at any backtick, which becomes
 * an apostrophe; some find mentions in code, so that `@` becomes `[at]`.
 */
function inertText(text: string): string {
  // A blank line would end the span.
  const line = escapeControls(text.replaceAll(/\s+/g, " ").trim());
  const inertLine = breakAddresses(line).replaceAll("@", "[at]").replaceAll("`", "'");
  return inertLine === "" ? "–" : `\`${inertLine}\``;
}
