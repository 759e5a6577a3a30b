import { ownFilterNames, type OwnFilterName, type Report, type ReportsQuery } from "../contract/reports.ts";

type Value = string | null | undefined;

/** Returns the values of a report that a filter compares; undefined where it does not have the field, or one of another type. */
const valuesOf: Readonly<Record<OwnFilterName, (report: Report) => readonly Value[]>> = {
  status: (report) => [textOf(report["status"])],
  source: (report) => [textOf(report["source"])],
  country: (report) => [textOf(report["country"])?.toUpperCase()],
  reportedBy: ({ reporter }) => [textOf(fieldOf(reporter, "kind"))],
  decision: ({ proposals = [] }) => proposals.map(({ decision }) => (decision === null ? null : textOf(decision))),
  reviewedBy: ({ proposals = [] }) => proposals.map(({ decidedBy }) => (decidedBy === null ? null : textOf(decidedBy))),
  assetType: ({ proposals = [], assets }) => [
    ...proposals.map(({ asset }) => textOf(asset["type"])),
    ...(Array.isArray(assets) ? assets : []).map((asset) => textOf(fieldOf(asset, "type"))),
  ],
};

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/**
 * Applies flatline's own filters of `query` to the reports. Another service may not know these filters, so the client
 * applies them again, to the reports that have the field (CONTRACT 9, the client). `ignored` are those that it received but did not apply.
 */
export function applyOwnFilters(reports: readonly Report[], query: ReportsQuery) {
  const asked = ownFilterNames.filter((name) => query[name] !== undefined);
  const ignored = new Set<OwnFilterName>();
  const kept = reports.filter((report) => {
    const failing = asked.filter((name) => {
      const wanted = name === "country" ? query.country?.toUpperCase() : query[name];
      const shown = valuesOf[name](report).filter((value) => value !== undefined);
      return shown.length > 0 && !shown.some((value) => value === wanted);
    });
    for (const name of failing) ignored.add(name);
    return failing.length === 0;
  });
  return { reports: kept, ignored: [...ignored] };
}
