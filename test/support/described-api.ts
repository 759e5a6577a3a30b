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

/** What the API's owners describe, copied by hand into the fixture: names, enumerations, limits and statuses of API v2. */
export interface DescribedApi {
  readonly lists: Readonly<Record<Lists, readonly string[]>>;
  /** Field → its type: `string`, `string or null`, … or the name of a list. */
  readonly healthcheckResult: Readonly<Record<string, string>>;
  readonly finding: Readonly<Record<string, string>>;
}

export const describedApi = JSON.parse(
  readFileSync(new URL("../fixtures/api-v2.json", import.meta.url), "utf8"),
) as DescribedApi;
