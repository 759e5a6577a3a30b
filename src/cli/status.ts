import { formatCount } from "../base/numbers.ts";
import { escapeControls } from "../base/outside-text.ts";
import type { Severity } from "../contract/severity.ts";
import { statusSchema, type DaemonStatus } from "../contract/v1/status.ts";
import { discoveryProblem, importText, refusedText } from "../words/incoming.ts";
import { countOf, durationText, onHoldBy } from "../words/numbers.ts";
import { asking } from "./ask.ts";
import { painterFor, type Paint } from "./context.ts";
import { asJson, namesText, severityExitCodes } from "./values.ts";

export const status = asking({
  description: "print the state of the running daemon on one screen: what fires, gate, receivers, runs, store",
  json: "print the answer of GET /api/v1/status",
  help: `
Exit code, as of \`check\`: 0 ok, 1 warn, 2 fail, 3 unknown; the worst of all (fail > unknown > warn >
ok). 69 no daemon answers, 77 reading is closed and the token is missing or wrong.

Examples:
  flatline status
  watch -c -n 10 flatline status
  flatline status --json | jq .receivers
`,
  ask: async ({ api }) => ({ url: api.url, said: await api.read("/api/v1/status", statusSchema) }),
  say: ({ said, url }, { context: { stdout, env } }) => renderStatus(said, { paint: painterFor(stdout, env), url }),
  data: ({ said }) => asJson(said),
  exitCode: ({ said }) => severityExitCodes[said.severity],
});

const marks = { fail: "■", unknown: "◌", warn: "▲", ok: "○" } as const satisfies Record<Severity, string>;
const nameColumns = 12;
const shownUnwatched = 3;

/** Returns the state of a daemon as one screen: a sentence, then a line for each part. */
export function renderStatus(
  status: DaemonStatus,
  { paint, url }: { readonly paint: Paint; readonly url: string | null },
): string {
  const { alerts, gate, runs, store, discovery = [], imports = [], refused = null, unwatched = [], daemon } = status;
  const nowMs = Date.parse(status.at);
  const since = (instant: string | null): string =>
    instant === null ? "?" : plain(durationText(nowMs - Date.parse(instant)));
  const marked = (severity: Severity, text: string): string =>
    paint(`${marks[severity]} ${escapeControls(plain(text))}`, severity);
  const severities = (["fail", "unknown", "warn", "ok"] as const).filter((one) => status.severities[one] > 0);
  const states = (["firing", "acknowledged", "pending", "silenced"] as const).filter((state) => alerts[state] > 0);
  const lastRun = runs.lastAt === null ? "none yet" : `${since(runs.lastAt)} ago`;
  const late = `${formatCount(runs.late)} of ${countOf(runs.checks, "check")} late`;
  const rows: readonly (readonly [name: string, parts: readonly string[]])[] = [
    [
      "severity",
      severities.length === 0
        ? ["no organization is configured"]
        : severities.map((one) => marked(one, `${formatCount(status.severities[one])} ${one}`)),
    ],
    ["alerts", states.length === 0 ? ["none"] : states.map((state) => `${formatCount(alerts[state])} ${state}`)],
    ["takedowns", [gate === null ? marked("unknown", "not known: the store cannot be read") : gateText(gate, since)]],
    ["receivers", receiverParts(status, since, marked)],
    [
      "last run",
      [
        runs.late > 0
          ? `${lastRun}, ${marked("warn", late)}`
          : `${lastRun}${runs.lastAt === null ? "" : ", all on time"}`,
      ],
    ],
    [
      "store",
      [
        ...(store.bytes === null ? (store.problem === null ? ["ok"] : []) : [formatBytes(store.bytes)]),
        ...(store.problem === null ? [] : [marked("fail", store.problem)]),
      ],
    ],
    [
      "discovery",
      discovery.map((source) => {
        const problem = discoveryProblem(source);
        if (problem !== null) return marked("warn", problem);
        return `${escapeControls(source.name)} ${countOf(source.organizations, "organization")}`;
      }),
    ],
    ...imports.map((one) => {
      const text = importText({ ...one, renewedAtMs: Date.parse(one.renewedAt) }, nowMs);
      return ["import", [one.isRunning ? escapeControls(plain(text)) : marked("warn", text)]] as const;
    }),
    [
      "events",
      refused === null
        ? []
        : [
            marked(
              "warn",
              refusedText(
                { ...refused, sinceMs: Date.parse(refused.since), lastAtMs: Date.parse(refused.lastAt) },
                nowMs,
              ),
            ),
          ],
    ],
    ["not watched", unwatched.length === 0 ? [] : [unwatchedText(unwatched)]],
    [
      "daemon",
      [
        url === null
          ? marked("unknown", "none runs on this store: this is how the last one left it")
          : `${daemon.version}, up ${since(daemon.startedAt)}, ${url}`,
      ],
    ],
  ];
  const lines = rows
    .filter(([, parts]) => parts.length > 0)
    .map(([name, parts]) => `${paint(name.padEnd(nameColumns), "dim")} ${parts.join("   ")}`);
  const mark = paint(`${marks[status.severity]} `, status.severity);
  return `${mark}${paint(escapeControls(status.sentence), "bold")}\n\n${lines.join("\n")}\n`;
}

type Since = (instant: string | null) => string;

function gateText({ held, longest, incidents }: NonNullable<DaemonStatus["gate"]>, since: Since): string {
  if (longest === null) return "nothing is on hold";
  const name = escapeControls(longest.slug);
  const who = held === 1 ? `those of ${name}` : `those of ${countOf(held, "organization")}`;
  const lasted = `${held === 1 ? "" : `, of ${name} the longest`}: ${since(longest.since)}`;
  return `${who} are ${onHoldBy(incidents)}${lasted}`;
}

function receiverParts(
  { receivers }: DaemonStatus,
  since: Since,
  marked: (severity: Severity, text: string) => string,
): readonly string[] {
  if (receivers === undefined) return ["need a token for all organizations with the right read"];
  if (receivers.length === 0) return [marked("warn", "none is configured: no alert is sent")];
  return receivers.map(({ name, state, waiting, oldestAt, deadLetters, pausedUntil, lastError }) => {
    const facts = [
      ...(deadLetters > 0 ? [`${formatCount(deadLetters)} not delivered`] : []),
      ...(waiting > 0 ? [`${formatCount(waiting)} waiting`, `oldest ${since(oldestAt)}`] : []),
      ...(pausedUntil === null ? [] : [`paused until ${pausedUntil.slice(11, 19)} UTC`]),
      ...(state === "ok" || lastError === null ? [] : [lastError.text]),
    ];
    if (state === "ok") return escapeControls(`${name} ${facts.join(", ") || "ok"}`);
    return marked(state, `${name} ${facts.join(", ")}`);
  });
}

function unwatchedText(slugs: readonly string[]): string {
  const some = escapeControls(namesText(slugs, shownUnwatched));
  return `${countOf(slugs.length, "slug")} ${slugs.length === 1 ? "sends" : "send"} events: ${some}`;
}

/** Replaces no-break spaces. */
function plain(text: string): string {
  return text.replaceAll("\u00a0", " ");
}

const units = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** Returns `118 MB`, by powers of 1,000 as `df -H`. */
function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power] ?? "bytes"}`;
}
