import { z } from "zod";

import { ownFilterNames, type OwnFilterName, type Report, type ReportsQuery } from "../contract/reports.ts";

/** The fields of a report that flatline's own filters use; a field of another type counts as absent. */
const fieldsSchema = z.looseObject({
  status: z.string().optional().catch(undefined),
  source: z.string().optional().catch(undefined),
  country: z.string().optional().catch(undefined),
  reporter: z
    .looseObject({ kind: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  proposals: z
    .array(
      z.looseObject({
        decision: z.string().nullish().catch(undefined),
        decidedBy: z.string().nullish().catch(undefined),
        asset: z.looseObject({ type: z.string().optional().catch(undefined) }),
      }),
    )
    .default([]),
  assets: z
    .array(z.looseObject({ type: z.string().optional().catch(undefined) }))
    .default([])
    .catch([]),
});
type Fields = z.infer<typeof fieldsSchema>;

/** Returns the values of a report that a filter compares; undefined if the report does not have the field. */
const valuesOf: Readonly<Record<OwnFilterName, (fields: Fields) => readonly (string | null | undefined)[]>> = {
  status: (fields) => [fields.status],
  source: (fields) => [fields.source],
  country: (fields) => [fields.country?.toUpperCase()],
  reportedBy: (fields) => [fields.reporter?.kind],
  decision: (fields) => fields.proposals.map((proposal) => proposal.decision),
  reviewedBy: (fields) => fields.proposals.map((proposal) => proposal.decidedBy),
  assetType: (fields) => [
    ...fields.proposals.map((proposal) => proposal.asset.type),
    ...fields.assets.map((asset) => asset.type),
  ],
};

export interface FilteredReports {
  readonly reports: readonly Report[];
  /** Filters that the service received but did not apply. */
  readonly ignored: readonly OwnFilterName[];
}

/**
 * Applies flatline's own filters of `query` to the reports. Another service may not know these filters, so the client
 * applies them again, to the reports that have the field (CONTRACT 9, the client).
 */
export function applyOwnFilters(reports: readonly Report[], query: ReportsQuery): FilteredReports {
  const asked = ownFilterNames.filter((name) => query[name] !== undefined);
  const ignored = new Set<OwnFilterName>();
  const kept = reports.filter((report) => {
    const fields = fieldsSchema.parse(report);
    const failing = asked.filter((name) => !matches(valuesOf[name](fields), wantedBy(query, name)));
    for (const name of failing) ignored.add(name);
    return failing.length === 0;
  });
  return { reports: kept, ignored: [...ignored] };
}

function wantedBy(query: ReportsQuery, name: OwnFilterName): string | undefined {
  return name === "country" ? query.country?.toUpperCase() : query[name];
}

function matches(values: readonly (string | null | undefined)[], wanted: string | undefined): boolean {
  const shown = values.filter((value) => value !== undefined);
  return shown.length === 0 || shown.some((value) => value === wanted);
}
