import { z } from "zod";

import type { FlatlineError } from "../base/errors.ts";
import { readWith, type SchemaProblem } from "../contract/issues.ts";
import type { ReportsPage, ReportsQuery } from "../contract/reports.ts";
import { reportSchema } from "../contract/reports-query.ts";
import { invalid } from "./exchange.ts";

/**
 * Returns the query string of a listing, "" if nothing is set. A false flag is omitted: it means the same (CONTRACT 9), and
 * some services take any text for true.
 */
export function reportsQueryString(query: ReportsQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, string | number | boolean | undefined][]) {
    if (value !== undefined && value !== false) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

const reportsSchema = z.array(reportSchema);
// A missing cursor ends a listing; null and "" mean the same in services that always send the field.
const cursorSchema = z.string().nullish();

/**
 * Parses a page: an array of reports under `reports` or under the only array property, and an optional string `cursor`
 * (CONTRACT 9, the client).
 * @throws api_invalid_response
 */
export function parseReportsPage(json: unknown): ReportsPage {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw unlike("it is not an object");
  const page = json as Readonly<Record<string, unknown>>;
  const reports = readWith(reportsSchema, arrayOf(page));
  if (reports.kind === "problems") throw unlike(`reports${describeFirst(reports.problems)}`);
  const cursor = cursorSchema.safeParse(page["cursor"]);
  if (!cursor.success) throw unlike("its cursor is not a string");
  const next = cursor.data ?? "";
  return { reports: reports.data, ...(next === "" ? {} : { cursor: next }) };
}

function arrayOf(page: Readonly<Record<string, unknown>>): unknown {
  if (Object.hasOwn(page, "reports")) return page["reports"];
  const arrays = Object.values(page).filter((value) => Array.isArray(value));
  if (arrays.length !== 1) throw unlike(`it has no reports and ${arrays.length} other arrays`);
  return arrays[0];
}

function unlike(what: string): FlatlineError {
  return invalid(`the answer is not a page of reports: ${what}`);
}

/** Returns place and text of the first problem; the path contains only names that the schema knows. */
export function describeFirst([first]: readonly SchemaProblem[]): string {
  if (first === undefined) return "";
  const path = first.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return `${path}: ${first.message}`;
}
