import type { Command } from "commander";
import { breakAddresses } from "../../base/broken-address.ts";
import { explain } from "./explain.ts";
import type { DecisionExplanation, ExplainedCounts, Explanation, VerdictExplanation } from "./explanation.ts";
import { loadFleetConfig } from "../command-config.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { renderTable } from "../table.ts";
import { asJson } from "../values.ts";

interface ExplainFlags {
  readonly config?: string;
  readonly json?: boolean;
}

/** `flatline explain ID` */
export const registerExplain: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("explain")
    .description("recompute a stored verdict or alert from stored input, and say whether it is the same")
    .argument("<id>", "the id of an alert or its first digits, or SLUG@TIME for the verdict of that time")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print {kind, verdict} or {kind, alertId, decisions: [{entry, verdict}]}")
    .addHelpText("after", help)
    .action(async (id: string, flags: ExplainFlags) => {
      const { config } = await loadFleetConfig(flags.config, context);
      const explained = await explain(config, context, id);
      context.stdout.write(flags.json === true ? asJson(describe(explained)) : render(explained, context));
      if (verdictsOf(explained).some(({ match }) => match === "different")) context.setExitCode(1);
    });
};

const help = `
TIME is ISO 8601 or epoch ms; the last verdict at or before it is taken. Events keep when they came in: what they said then
and what they say now are both shown, and the first is held against what was stored. So are judgements and revivals: UNDONE
are deaths of the window whose asset was found alive again by its end. Hours before the first run are evaluated afterwards,
from imported events: then "as known then" is what had come in when that was done (computedAt in --json; null for a run).

Exit code: 0 the same, or not to be recomputed, and then it says why; 1 different; 64 an id of nothing that is kept.

Examples:
  flatline explain acme@2026-01-15T12:00:00Z
  flatline explain 0196f0a2-7c53-7c53-8a51-0b7e3f1c2d4e --json
`;

function verdictsOf(explained: Explanation): VerdictExplanation[] {
  if (explained.kind === "verdict") return [explained.verdict];
  return explained.decisions.flatMap(({ verdict }) => verdict ?? []);
}

function render(explained: Explanation, context: CliContext): string {
  if (explained.kind === "verdict") return renderVerdict(explained.verdict, context);
  const rows = explained.decisions.map(({ entry, verdict }) => [
    iso(entry.atMs),
    entry.event,
    entry.severity,
    entry.reason,
    verdict === null ? "" : verdict.match,
    verdict === null ? "" : verdict.id,
  ]);
  const [first] = explained.decisions;
  const title =
    first === undefined ? "" : `alert ${explained.alertId}: ${first.entry.check} of ${first.entry.slug}\n\n`;
  const table = renderTable(["AT", "EVENT", "SEVERITY", "REASON", "RECOMPUTED", "VERDICT"], rows, { context });
  const decided = explained.decisions.flatMap(({ entry, verdict }) =>
    verdict === null ? [] : [`\n${entry.event}, ${renderVerdict(verdict, context)}`],
  );
  return `${title}${table}${decided.join("")}${notRecomputed(first?.entry)}`;
}

/** Why a decision has no verdict beside it. */
function notRecomputed(entry: DecisionExplanation["entry"] | undefined): string {
  if (entry === undefined || (entry.check === "dead-asset-spike" && entry.kind === "verdict")) return "";
  return entry.kind === "unknown"
    ? "\nIt can't be recomputed: its runs gave no result.\n"
    : `\nIt can't be recomputed: of ${entry.check} the decisions are kept, not what each run saw.\n`;
}

function renderVerdict(verdict: VerdictExplanation, context: CliContext): string {
  const { check, slug, evaluatedAtMs, atMs, computedAtMs, version, baseline, window, baselineSpan } = verdict;
  const { judgements, exclusion, excluded, match, note } = verdict;
  const by = version === null ? "" : `, by flatline ${version}`;
  const spans = [
    ...(window === null ? [] : [["window", `(${iso(window.afterMs)}, ${iso(window.untilMs)}]`]]),
    ...(baselineSpan === null
      ? []
      : [[`baseline, ${baseline}`, `(${iso(baselineSpan.afterMs)}, ${iso(baselineSpan.untilMs)}]`]]),
    ...excluded.map(({ fromMs, toMs }) => [
      exclusion === "too_much" ? "not left out, too much" : "left out",
      `[${iso(fromMs)}, ${iso(toMs)})`,
    ]),
  ];
  const counts: readonly (readonly [string, ExplainedCounts | null])[] = [
    ["stored", verdict.stored],
    ["as known then", verdict.asKnownThen],
    ["as known now", verdict.asKnownNow],
  ];
  const countRows = counts.flatMap(([name, one]) => (one === null ? [] : [[name, ...figures(one)]]));
  const settingRows = verdict.settings.map(({ name, value, setIn, valueNow }) => [
    name,
    String(value),
    setIn ?? "no longer configured",
    valueNow === null ? "" : `now ${valueNow}`,
  ]);
  const judgedRows = judgements.map((one) => [
    one.verdict,
    `[${iso(one.fromMs)}, ${one.toMs === null ? "firing" : iso(one.toMs)})`,
    `${iso(one.atMs)} by ${one.by}`,
    one.alertId,
    one.comment === null ? "" : breakAddresses(one.comment),
  ]);
  const right = ["COUNT", "BASELINE", "EXPECTED", "UNDONE"];
  return [
    `${check} of ${slug} at ${iso(evaluatedAtMs ?? atMs)}${by}: ${verdict.stored.severity}\n`,
    spans.length === 0 ? "" : `\n${renderTable(["", "SPAN"], spans, { context })}`,
    `\n${renderTable(["", "SEVERITY", "COUNT", "BASELINE", "EXPECTED", "UNDONE", "DAYS"], countRows, { right, context })}`,
    judgedRows.length === 0
      ? ""
      : `\n${renderTable(["JUDGED BY THEN", "DEATHS", "AT", "ALERT", ""], judgedRows, { context })}`,
    settingRows.length === 0
      ? ""
      : `\n${renderTable(["THRESHOLD", "VALUE", "SET IN", ""], settingRows, { right: ["VALUE"], context })}`,
    `\n${conclusionOf(match, computedAtMs)}${note === null ? "" : `: ${note}`}\n`,
  ].join("");
}

const conclusions = {
  same: "the same: what was known then gives what was stored",
  different: "different",
  "not-recomputable": "it can't be recomputed",
} as const;

function conclusionOf(match: VerdictExplanation["match"], computedAtMs: number | null): string {
  if (match !== "same" || computedAtMs === null) return conclusions[match];
  return `the same: it was computed afterwards, at ${iso(computedAtMs)}, from what had come in by then`;
}

function figures(counts: ExplainedCounts): string[] {
  const { severity, currentCount, baselineCount, expectedCount, revivedCount, days } = counts;
  const number = (value: number | null): string => (value === null ? "–" : String(Number(value.toPrecision(12))));
  return [
    severity,
    number(currentCount),
    number(baselineCount),
    number(expectedCount),
    number(revivedCount),
    days.join(" "),
  ];
}

/** Instants as ISO 8601, like everywhere in the API. */
function describe(explained: Explanation): object {
  if (explained.kind === "verdict") return { kind: "verdict", verdict: describeVerdict(explained.verdict) };
  return {
    kind: "alert",
    alertId: explained.alertId,
    decisions: explained.decisions.map(({ entry: { atMs, ...entry }, verdict }) => ({
      entry: { ...entry, at: iso(atMs) },
      verdict: verdict === null ? null : describeVerdict(verdict),
    })),
  };
}

function describeVerdict(given: VerdictExplanation): object {
  const { atMs, computedAtMs, evaluatedAtMs, window, baselineSpan, judgements, excluded, ...verdict } = given;
  const span = (one: VerdictExplanation["window"]) =>
    one === null ? null : { after: iso(one.afterMs), until: iso(one.untilMs) };
  return {
    ...verdict,
    at: iso(atMs),
    computedAt: computedAtMs === null ? null : iso(computedAtMs),
    evaluatedAt: evaluatedAtMs === null ? null : iso(evaluatedAtMs),
    window: span(window),
    baselineSpan: span(baselineSpan),
    judgements: judgements.map(({ alertId, verdict: said, comment, by, atMs: saidAtMs, fromMs, toMs }) => ({
      alertId,
      verdict: said,
      comment,
      by,
      at: iso(saidAtMs),
      from: iso(fromMs),
      to: toMs === null ? null : iso(toMs),
    })),
    excluded: excluded.map(({ fromMs, toMs }) => ({ from: iso(fromMs), to: iso(toMs) })),
  };
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
