import { z } from "zod";

import { ownFilterNames, type OwnFilterName, type Report, type ReportsQuery } from "../contract/reports.ts";

/** What a report shows of the things that our filters ask for; a field of another shape counts as absent. */
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

/** The values in a report that a filter looks at; undefined ones are fields that it does not have. */
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
  /** The filters that took a report away: the service had them in its query and did not apply them. */
  readonly ignored: readonly OwnFilterName[];
}

/**
 * The reports that our own filters of `query` let through. A service that is not flatline's may not know their names, so
 * they are applied again, to the reports that have the field (CONTRACT 9, the client).
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
