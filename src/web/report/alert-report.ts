import { pageUrl } from "../../base/uri-text.ts";
import { breakAddress, breakAddresses } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import { describeAuthor } from "../../contract/actor.ts";
import { deathWords } from "../../contract/death-counts.ts";
import { brokenResult, type HealthcheckResult } from "../../contract/healthcheck.ts";
import { lookRoleWords, opinionWords } from "../../contract/second-opinion.ts";
import type { AlertAcknowledgement } from "../../store/alerts/alerts.ts";
import type { AlertDetail } from "../read/alerts.ts";
import type { AssetPage } from "../ports/dead-assets.ts";
import type { GateView } from "../read/gate.ts";
import type { ReadIncidentDetail } from "../read/incidents.ts";
import { escapeControls } from "../../base/unseen-text.ts";

/** Everything that the report of one alert says. */
export interface ReportFacts {
  readonly detail: AlertDetail;
  /** What its check's last run found while it lives, or a run at its worst when it has ended; null: nothing is known. */
  readonly result: HealthcheckResult | null;
  /** When that run was, of one that has ended; null: it is the last one. */
  readonly resultAtMs: number | null;
  /** null: its organization is no longer configured. */
  readonly gate: GateView | null;
  /** The newest of its assets; null: it has none, or they could not be read in time. */
  readonly assets: AssetPage | null;
  /** The second opinion on its incident, with the answers about this organization's assets; null: nothing. */
  readonly opinion: Pick<ReadIncidentDetail, "incident" | "look"> | null;
  /** The address by which people reach flatline; null: it is not configured. */
  readonly externalUrl: string | null;
  readonly nowMs: number;
}

// A report is for pasting: what is longer is on the alert's page.
const mostComments = 100;
const mostEvents = 100;

/** Renders an alert as Markdown. All text of others in it is inert. */
export function renderAlertReport(facts: ReportFacts): string {
  const { state, endsAtMs } = facts.detail;
  const severity = endsAtMs === null ? state.severity : `ended, ${state.severity}`;
  const check = state.kind === "verdict" ? state.check : `${state.check} (${state.kind})`;
  const parts = [
    `# ${severity}: ${inertText(state.slug)}, ${check}`,
    list(instants(facts)),
    section("Evidence", evidence(facts)),
    section("Second opinion", secondOpinion(facts)),
    section("Dead assets", deadAssets(facts)),
    section("What happened", events(facts)),
    section("Comments", comments(facts)),
    `As of ${instant(facts.nowMs)}. Times are UTC; addresses are broken on purpose.`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

type Line = readonly [name: string, text: string | null];

function instants({ detail, gate, externalUrl }: ReportFacts): string[] {
  const { state, endsAtMs, notifiedAtMs, labels, silenced } = detail;
  const { id, slug, incident, onset, startsAtMs, acknowledgement, judgement, peak } = state;
  const marker = onset?.marker ?? null;
  // A pending alert is in no incident yet.
  const path = incident === undefined ? `o/${encodeURIComponent(slug)}` : `incidents/${incident.number}`;
  const lines: Line[] = [
    ["Alert", inertText(id)],
    ["Page", pageUrl(externalUrl, path)],
    [
      "Began",
      onset === undefined
        ? null
        : `${instant(onset.atMs)}${marker === null ? "" : `, after the marker ${inertText(marker.text)} of ${instant(marker.atMs)}`}`,
    ],
    ["Detected", instant(startsAtMs)],
    ["Notified", notifiedAtMs === null ? "nobody yet" : instant(notifiedAtMs)],
    ["Acknowledged", acknowledgement === null ? "by nobody" : by(acknowledgement)],
    ["Judged", judgement === undefined ? "by nobody" : `${judgement.verdict}, ${by(judgement)}`],
    ["Ended", endsAtMs === null ? `not yet, it is ${state.state}${silenced ? ", silenced" : ""}` : instant(endsAtMs)],
    [
      "Peak",
      `${peak.severity}${peak.currentCount === null ? "" : `, ${deathWords({ currentCount: peak.currentCount, expectedCount: null }) ?? ""}`}, ${instant(peak.atMs)}`,
    ],
    ["Gate", gate === null ? null : `${gate.decision}, ${inertText(gate.message)}`],
    [
      "Labels",
      Object.entries(labels)
        .map(([name, value]) => inertText(`${name}=${value}`))
        .join(", ") || null,
    ],
  ];
  return lines.flatMap(([name, text]) => (text === null ? [] : [`${name}: ${text}`]));
}

function evidence({ result: found, resultAtMs }: ReportFacts): string[] {
  if (found === null) return [];
  const result = brokenResult(found, []);
  const { likelyCause, likelyCauseReason, revivedCount } = result.observed;
  const reason = typeof likelyCauseReason === "string" ? `: ${inertText(likelyCauseReason)}` : "";
  return [
    ...(resultAtMs === null ? [] : [`As of the run at ${instant(resultAtMs)}, when it was ${result.severity}:`]),
    ...result.findings.map((finding) => inertText(finding.message)),
    ...(typeof likelyCause === "string" ? [`Likely cause: ${inertText(likelyCause)}${reason}`] : []),
    ...(typeof revivedCount === "number" && revivedCount > 0
      ? [`Undone ${resultAtMs === null ? "so far" : "by then"}: ${formatCount(revivedCount)}`]
      : []),
    ...(result.suggestedAction === null || resultAtMs !== null
      ? []
      : [`Do this first: ${inertText(result.suggestedAction)}`]),
  ];
}

function secondOpinion({ opinion }: ReportFacts): string[] {
  const said = opinion?.incident.secondOpinion;
  if (opinion === null || said === null || said === undefined) return [];
  return [
    `${said.verdict} for incident ${opinion.incident.number}, ${instant(said.atMs)}: ${opinionWords(said)}`,
    ...opinion.look.answers.map(({ role, answer, asset, detail }) => {
      const more = detail === null ? "" : `, ${inertText(detail)}`;
      return `${lookRoleWords[role]}, ${answer}: ${inertText(breakAddress(asset))}${more}`;
    }),
  ];
}

function deadAssets({ assets }: ReportFacts): string[] {
  if (assets === null) return [];
  const { count, knownCount, fromMs, toMs } = assets;
  return [
    `${formatCount(count)} deaths from ${instant(fromMs)} to ${instant(toMs)}, ${formatCount(knownCount)} different assets with a name; the newest:`,
    ...assets.assets.map(({ asset, assetType, deadAtMs, revivedAtMs }) => {
      const type = assetType === null ? "" : ` ${inertText(assetType)}`;
      const revived = revivedAtMs === null ? "still dead" : `alive again ${instant(revivedAtMs)}`;
      return `${instant(deadAtMs)}${type} ${inertText(breakAddress(asset))}, ${revived}`;
    }),
  ];
}

function events({ detail: { history } }: ReportFacts): string[] {
  const lines = history.map(
    ({ atMs, event, severity }) => `${instant(atMs)} ${event.replaceAll("_", " ")}, ${severity}`,
  );
  return newest(lines, mostEvents);
}

const actWords = {
  acknowledge: "acknowledging",
  judgement: "judging",
  release: "releasing the gate",
  silence: "silencing",
} as const;

function comments({ detail }: ReportFacts): string[] {
  const lines = detail.comments.map(
    ({ atMs, by: name, note, act, text }) =>
      `${instant(atMs)} ${inertText(describeAuthor(name, note))}${act === null ? "" : `, ${actWords[act]}`}: ${inertText(text)}`,
  );
  return newest(lines, mostComments);
}

function newest(lines: readonly string[], most: number): string[] {
  const left = lines.length - most;
  return left <= 0 ? [...lines] : [`${formatCount(left)} earlier ones are on the alert's page`, ...lines.slice(left)];
}

function by({ atMs, by: name, note }: Pick<AlertAcknowledgement, "atMs" | "by" | "note">): string {
  const author = describeAuthor(name, note);
  return `${instant(atMs)}${author === "" ? "" : ` by ${inertText(author)}`}`;
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
