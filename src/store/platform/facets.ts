/** The properties of a report that the listing can filter by, as index entries. */
export interface FacetedReport {
  readonly status: string;
  readonly source: string;
  readonly country: string | null;
  readonly reporterKind: string;
  readonly isSelfReported: boolean;
  readonly proposals: readonly {
    readonly decision: string | null;
    readonly decidedBy: string | null;
    readonly queue: string;
  }[];
  readonly assetTypes: readonly string[];
}

/** Names of the facets of a report; the listing's filters use the same names. */
export const facetNames = {
  all: "all",
  /** A proposal waits for the customer, and the report is not self-reported. */
  queued: "queued",
  status: (status: string) => `status=${status}`,
  decision: (decision: string) => `decision=${decision}`,
  assetType: (assetType: string) => `assetType=${assetType}`,
  source: (source: string) => `source=${source}`,
  reportedBy: (kind: string) => `reportedBy=${kind}`,
  reviewedBy: (kind: string) => `reviewedBy=${kind}`,
  country: (country: string) => `country=${country}`,
} as const;

/** Returns every facet of a report, each once. */
export function facetsOf(report: FacetedReport): readonly string[] {
  const facets = new Set<string>([
    facetNames.all,
    facetNames.status(report.status),
    facetNames.source(report.source),
    facetNames.reportedBy(report.reporterKind),
  ]);
  if (report.country !== null) facets.add(facetNames.country(report.country));
  for (const { decision, decidedBy, queue } of report.proposals) {
    if (decision !== null) facets.add(facetNames.decision(decision));
    if (decidedBy !== null) facets.add(facetNames.reviewedBy(decidedBy));
    if (queue === "queued" && !report.isSelfReported) facets.add(facetNames.queued);
  }
  for (const assetType of report.assetTypes) facets.add(facetNames.assetType(assetType));
  return [...facets];
}
