import { formatCount } from "../base/numbers.ts";
import { escapeControls } from "../base/unseen-text.ts";
import type { Severity } from "../contract/severity.ts";
import { statusSchema, type DaemonStatus } from "../contract/v1/status.ts";
import { discoveryProblem } from "../web/read/discovery.ts";
import { importText, refusedText } from "../words/events-in.ts";
import { countOf, durationText } from "../words/numbers.ts";
import { asking } from "./ask.ts";
import { hasColour } from "./context.ts";
import { asJson, severityExitCodes } from "./values.ts";

/** `flatline status`. */
export const status = asking({
  description: "print the state of the running daemon on one screen: what fires, gate, receivers, runs, store",
  json: "print the answer of GET /api/v1/status",
  help: `
Exit code, as of \`check\`: 0 ok, 1 warn, 2 fail, 3 unknown; the worst of all (fail > unknown > warn > ok). 69 no daemon answers,
77 reading is closed and the token is missing or wrong.

Examples:
  flatline status
  watch -c -n 10 flatline status
  flatline status --json | jq .receivers
`,
  ask: async ({ api }) => ({ url: api.url, said: await api.read("/api/v1/status", statusSchema) }),
  say: ({ said, url }, { context: { stdout, env } }) => renderStatus(said, { isColoured: hasColour(stdout, env), url }),
  data: ({ said }) => asJson(said),
  exitCode: ({ said }) => severityExitCodes[said.severity],
});

const [red, green, yellow, magenta, bold, dim] = [31, 32, 33, 35, 1, 2];
const marks = {
  fail: ["■", red],
  unknown: ["◌", magenta],
  warn: ["▲", yellow],
  ok: ["○", green],
} as const satisfies Record<Severity, readonly [mark: string, colour: number]>;
const order: readonly Severity[] = ["fail", "unknown", "warn", "ok"];
const nameColumns = 12;
const shownUnwatched = 3;

/** Returns the state of a daemon as one screen: a sentence, then a line for each part; parts that are fine are short. */
export function renderStatus(
  status: DaemonStatus,
  { isColoured, url }: { readonly isColoured: boolean; readonly url: string | null },
): string {
  const paint = (text: string, colour: number): string => (isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text);
  const marked = (severity: Severity, text: string): string => {
    const [mark, colour] = marks[severity];
    return paint(`${mark} ${text}`, colour);
  };
  const nowMs = Date.parse(status.at);
  const since = (instant: string | null): string => (instant === null ? "?" : length(nowMs - Date.parse(instant)));
  const sentence =
    paint(`${marks[status.severity][0]} `, marks[status.severity][1]) + paint(escapeControls(status.sentence), bold);
  const { firing } = status.alerts;
  const waiting = firing === 0 ? "" : ` ${countOf(firing, "alert")} ${firing === 1 ? "waits" : "wait"} for someone.`;

  const severities = order.flatMap((severity) => {
    const count = status.severities[severity];
    return count === 0 ? [] : [marked(severity, `${formatCount(count)} ${severity}`)];
  });
  const rows: readonly (readonly [name: string, parts: readonly string[]])[] = [
    ["severity", severities.length === 0 ? ["no organization is configured"] : severities],
    ["alerts", alertParts(status)],
    ["takedowns", [gateText(status, since, marked)]],
    ["receivers", receiverParts(status, since, marked)],
    ["last run", [runText(status, since, marked)]],
    ["store", storeParts(status, marked)],
    ["discovery", discoveryParts(status, marked)],
    ...eventRows(status, marked),
    ["not watched", unwatchedParts(status)],
    [
      "daemon",
      [
        url === null
          ? marked("unknown", "none runs on this store: this is how the last one left it")
          : `${status.daemon.version}, up ${since(status.daemon.startedAt)}, ${url}`,
      ],
    ],
  ];
  const lines = rows
    .filter(([, parts]) => parts.length > 0)
    .map(([name, parts]) => `${paint(name.padEnd(nameColumns), dim)} ${parts.join("   ")}`);
  return `${sentence}${waiting}\n\n${lines.join("\n")}\n`;
}

type Since = (instant: string | null) => string;
type Marked = (severity: Severity, text: string) => string;

function alertParts({ alerts }: DaemonStatus): readonly string[] {
  const parts = (["firing", "acknowledged", "pending", "silenced"] as const).flatMap((state) =>
    alerts[state] === 0 ? [] : [`${formatCount(alerts[state])} ${state}`],
  );
  return parts.length === 0 ? ["none"] : parts;
}

function gateText({ gate }: DaemonStatus, since: Since, marked: Marked): string {
  if (gate === null) return marked("unknown", "not known: the store cannot be read");
  const { held, longest } = gate;
  if (longest === null) return "nothing is on hold";
  const name = escapeControls(longest.slug);
  return held === 1
    ? `those of ${name} are on hold: ${since(longest.since)}`
    : `those of ${countOf(held, "organization")} are on hold, of ${name} the longest: ${since(longest.since)}`;
}

function receiverParts({ receivers }: DaemonStatus, since: Since, marked: Marked): readonly string[] {
  if (receivers === undefined) return ["need a token for all organizations with the right read"];
  if (receivers.length === 0) return [marked("warn", "none is configured: no alert is sent")];
  return receivers.map(({ name, state, waiting, oldestAt, deadLetters, pausedUntil, lastError }) => {
    const facts = [
      ...(deadLetters > 0 ? [`${formatCount(deadLetters)} not delivered`] : []),
      ...(waiting > 0 ? [`${formatCount(waiting)} waiting`, `oldest ${since(oldestAt)}`] : []),
      ...(pausedUntil === null ? [] : [`paused until ${pausedUntil.slice(11, 19)} UTC`]),
      ...(state === "ok" || lastError === null ? [] : [lastError.text]),
    ];
    if (state === "ok") return escapeControls([name, ...(facts.length === 0 ? ["ok"] : [facts.join(", ")])].join(" "));
    return marked(state, escapeControls(`${name} ${facts.join(", ")}`));
  });
}

function runText({ runs }: DaemonStatus, since: Since, marked: Marked): string {
  const last = runs.lastAt === null ? "none yet" : `${since(runs.lastAt)} ago`;
  if (runs.late > 0)
    return `${last}, ${marked("warn", `${formatCount(runs.late)} of ${countOf(runs.checks, "check")} late`)}`;
  return runs.lastAt === null ? last : `${last}, all on time`;
}

function storeParts({ store: { bytes, problem } }: DaemonStatus, marked: Marked): readonly string[] {
  if (problem !== null)
    return [...(bytes === null ? [] : [formatBytes(bytes)]), marked("fail", escapeControls(problem))];
  return [bytes === null ? "ok" : formatBytes(bytes)];
}

function discoveryParts({ discovery = [] }: DaemonStatus, marked: Marked): readonly string[] {
  return discovery.map((source) => {
    const problem = discoveryProblem(source);
    if (problem !== null) return marked("warn", escapeControls(problem));
    return `${escapeControls(source.name)} ${countOf(source.organizations, "organization")}`;
  });
}

function eventRows(
  { at, imports = [], refused = null }: DaemonStatus,
  marked: Marked,
): readonly (readonly [name: string, parts: readonly string[]])[] {
  const nowMs = Date.parse(at);
  const shown = (text: string): string => escapeControls(text.replaceAll("\u00a0", " "));
  const texts = imports.map((one) => {
    const text = shown(importText({ ...one, renewedAtMs: Date.parse(one.renewedAt) }, nowMs));
    return ["import", [one.isRunning ? text : marked("warn", text)]] as const;
  });
  if (refused === null) return texts;
  const { since, lastAt, ...its } = refused;
  const text = refusedText({ ...its, sinceMs: Date.parse(since), lastAtMs: Date.parse(lastAt) }, nowMs);
  return [...texts, ["events", [marked("warn", shown(text))]]];
}

function unwatchedParts({ unwatched: slugs = [] }: DaemonStatus): readonly string[] {
  if (slugs.length === 0) return [];
  const more = slugs.length > shownUnwatched ? ` and ${formatCount(slugs.length - shownUnwatched)} more` : "";
  const verb = slugs.length === 1 ? "sends" : "send";
  const some = escapeControls(slugs.slice(0, shownUnwatched).join(", "));
  return [`${countOf(slugs.length, "slug")} ${verb} events: ${some}${more}`];
}

/** 11 h 40 min, with plain spaces. */
function length(ms: number): string {
  return durationText(ms).replaceAll("\u00a0", " ");
}

const units = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** 118 MB: powers of 1,000, as disks are sold and `df -H` counts. */
function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power] ?? "bytes"}`;
}
