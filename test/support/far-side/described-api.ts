import { readFileSync } from "node:fs";

type Lists =
  | "categories"
  | "severities"
  | "findingSeverities"
  | "statuses"
  | "actors"
  | "proposalDecisions"
  | "sources"
  | "assetTypes"
  | "reviewDecisions"
  | "labels"
  | "labelsWithBrand"
  | "rejectReasons"
  | "watchlistReasons";

/** What the API's owners describe, copied by hand: names, enumerations, limits and statuses of API v2. */
export interface DescribedApi {
  readonly version: string;
  readonly keyHeader: string;
  readonly lists: Readonly<Record<Lists, readonly string[]>>;
  /** Statuses are those that a caller may get. The names of the last two operations are flatline's own. */
  readonly operations: Readonly<
    Record<string, { readonly method: string; readonly path: string; readonly statuses: readonly number[] }>
  >;
  readonly errorCodes: Readonly<Record<string, number>>;
  /** A text has at least one character, a number is above 0; what has a default may be left out. */
  readonly spikeRequest: Readonly<Record<string, DescribedThreshold>>;
  readonly listQuery: readonly string[];
  /** The lists that the filters take whose names the description leaves out. */
  readonly namelessFilters: readonly string[];
  readonly reviewBody: readonly string[];
  readonly reviewResult: readonly string[];
  readonly noteLength: number;
  readonly reviewsPerDay: number;
  /** Field → its type: `string`, `string or null`, … or the name of a list. */
  readonly healthcheckResult: Readonly<Record<string, string>>;
  readonly finding: Readonly<Record<string, string>>;
}

/** A field of the healthcheck's request. */
export interface DescribedThreshold {
  readonly kind: "text" | "integer" | "number";
  readonly default?: number;
}

export const describedApi = JSON.parse(
  readFileSync(new URL("../../fixtures/api-v2.json", import.meta.url), "utf8"),
) as DescribedApi;
