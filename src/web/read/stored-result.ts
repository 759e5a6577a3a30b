import type { KeptAlert } from "../../store/alerts/alerts.ts";
import type { StoredResult } from "../../store/runs/history.ts";
import type { StoreParts } from "../../store/store-parts.ts";

// Findings that change are stored once an hour: the last eight days of an alert, and of a longer one that is enough.
const mostReports = 200;

/**
 * Returns the last stored result of an alert that is over, of a run in which it was as bad as it ever was; where none of
 * these is kept, of one in which it was not ok. Null: it lives, it is of kind unknown, or the history has none any more.
 */
export async function readStoredResult(
  runs: Pick<StoreParts["runs"], "reports">,
  { alert: { check, slug, kind, startsAtMs, peak }, end }: KeptAlert,
): Promise<StoredResult | null> {
  if (end === null || kind !== "verdict") return null;
  // A run counts from when it was due, and its report is stored when it is over.
  const span = { fromMs: startsAtMs - 1, toMs: end.atMs };
  const found = (await runs.reports({ check, slug, ...span, limit: mostReports })).flatMap((report) =>
    report.kind === "result" && report.severity !== "ok" ? [report] : [],
  );
  const last = found.findLast(({ severity }) => severity === peak.severity) ?? found.at(-1);
  return last === undefined ? null : { result: last.result, atMs: last.startedAtMs };
}
