import { z } from "zod";

import type { FlatlineError } from "../base/errors.ts";
import { readWith, type SchemaProblem } from "../contract/issues.ts";
import type { ReportsPage, ReportsQuery } from "../contract/reports.ts";
import { reportSchema } from "../contract/reports-query.ts";
import { invalid } from "./exchange.ts";

/**
 * The query string of a listing, "" when nothing is asked. A flag that is false is left out, which means the same
 * (CONTRACT 9) and cannot be misread by a service that takes any text for true.
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
// An absent cursor is the end of a listing; null and "" say the same in services that always name the field.
const cursorSchema = z.string().nullish();

/**
 * A page out of an answer: one array of report objects, under `reports`, else under the only property that is an array,
 * and a string `cursor` where there is one (CONTRACT 9, the client). @throws api_invalid_response
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

/** Where and what the first problem is; its path has names of the answer's only where the schema knows them. */
export function describeFirst([first]: readonly SchemaProblem[]): string {
  if (first === undefined) return "";
  const path = first.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return `${path}: ${first.message}`;
}
