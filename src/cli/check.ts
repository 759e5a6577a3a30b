import { checkOnce } from "./check-once.ts";
import { breakAddresses, ownOrigins } from "../base/broken-address.ts";
import { FlatlineError } from "../base/errors.ts";
import { formatCount, formatExpected, none } from "../base/numbers.ts";
import { ratioWords, type DeathCounts } from "../contract/death-counts.ts";
import { brokenFinding } from "../contract/healthcheck.ts";
import type { CheckReport } from "../contract/report.ts";
import { compareSeverity, worstSeverity } from "../contract/severity.ts";
import { loadFleetConfig } from "./command-config.ts";
import { command, configFlag, value, type Flag } from "./command.ts";
import type { CliContext } from "./context.ts";
import { renderTable } from "./table.ts";
import { asJson, parseInstant, parseNumber, severityExitCodes } from "./values.ts";

const threshold = (kind: "int" | "positive"): Flag<number | undefined> =>
  value(kind === "int" ? "<n>" : "<x>", "override the threshold", parseNumber(kind));
const thresholds = {
  windowHours: threshold("int"),
  baselineDays: threshold("int"),
  warnMultiplier: threshold("positive"),
  failMultiplier: threshold("positive"),
  minSpikeCount: threshold("int"),
};

export const check = command({
  description: "evaluate once and print the verdicts, the worst first; no receiver is notified",
  words: [["[slug...]", "organizations to check [all]"]],
  flags: {
    ...configFlag,
    check: value("<name>", "only this check [all]"),
    at: value("<time>", "evaluate as of this time (ISO 8601 or epoch ms); local sources only", parseInstant),
    ...thresholds,
  },
  json: "print an array of {slug, check, severity, result, error}, in the order of the configuration",
  help: `
Exit code: 0 ok, 1 warn, 2 fail, 3 unknown; the worst of all (fail > unknown > warn > ok).
Discovered organizations are those of the list that the daemon applied last; where none is stored
the source is asked. One that gives no list counts as unknown.

Examples:
  flatline check                                   every organization
  flatline check acme --json | jq '.[].severity'   one, as JSON
  flatline check acme --check review-queue         one of its checks
  flatline check acme --at 2026-01-15T12:00:00Z    as of then, over the stored events
  flatline check --fail-multiplier 6               what if
`,
  run: async ({ context, flags: { config: file, check: only, at, ...thresholds }, words: [slugs] }) => {
    const { config, unlisted } = await loadFleetConfig(file, context);
    const asked = { ...(only !== undefined && { check: only }), ...(at !== undefined && { at }) };
    const reports = await checkOnce(config, context, { slugs, thresholds, ...asked });
    if (context.signal.aborted) throw new FlatlineError("unavailable", "stopped before every check had run");
    // All were asked for, and nothing is known of organizations that are not listed.
    const unknown = slugs.length === 0 && unlisted.length > 0 ? (["unknown"] as const) : [];
    const severity = worstSeverity([...reports.map((report) => report.severity), ...unknown]);
    return { reports, own: ownOrigins(config.appUrl, config.alerting.externalUrl), severity };
  },
  say: ({ reports, own }, { context }) => renderReports(reports, own, context),
  data: ({ reports }) => asJson(reports.map(describe)),
  exitCode: ({ severity }) => severityExitCodes[severity],
});

function describe(report: CheckReport): object {
  const { slug, check, severity } = report;
  const [result, error] = report.kind === "result" ? [report.result, null] : [null, report.error];
  return { slug, check, severity, result, error };
}

/** Renders reports as a table, the worst first; addresses in `own` stay links. */
export function renderReports(reports: readonly CheckReport[], own: readonly string[], context: CliContext): string {
  const checks = new Set(reports.map((report) => report.check));
  const columns = {
    SEVERITY: ({ severity }: CheckReport) => severity,
    ORGANIZATION: ({ slug }: CheckReport) => slug,
    ...(checks.size > 1 ? { CHECK: (one: CheckReport) => one.check } : {}),
    COUNT: (one: CheckReport) => formatCount(countsOf(one).currentCount),
    EXPECTED: (one: CheckReport) => formatExpected(countsOf(one).expectedCount),
    RATIO: (one: CheckReport) => ratioWords(countsOf(one)) ?? none,
    "": (one: CheckReport) => why(one, own),
  };
  return renderTable(reports.toSorted(byWorst), columns, { right: ["COUNT", "EXPECTED", "RATIO"], context });
}

/** Sorts the worst first, then the largest ratio; equals keep the order of the configuration. */
function byWorst(left: CheckReport, right: CheckReport): number {
  const bySeverity = compareSeverity(right.severity, left.severity);
  const [leftRatio, rightRatio] = [ratioOf(left), ratioOf(right)];
  return bySeverity !== 0 || leftRatio === rightRatio ? bySeverity : leftRatio > rightRatio ? -1 : 1;
}

/** Returns the ratio, infinite for deaths where none was expected; -1: there is none. */
function ratioOf(report: CheckReport): number {
  const { currentCount, expectedCount, ratio } = countsOf(report);
  return ratio ?? (expectedCount === 0 && (currentCount ?? 0) > 0 ? Number.POSITIVE_INFINITY : -1);
}

function countsOf(report: CheckReport): DeathCounts {
  return report.kind === "error" ? { currentCount: null, expectedCount: null } : report.counts;
}

function why(report: CheckReport, own: readonly string[]): string {
  if (report.kind === "error") return `${report.error.reason}: ${breakAddresses(report.error.message, own)}`;
  const [first] = report.result.findings;
  return first === undefined ? "" : brokenFinding(first, own).message;
}
