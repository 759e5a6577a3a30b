import { FlatlineError } from "../base/errors.ts";
import type { CallOptions, PlatformApi } from "./platform-api.ts";
import type { Report, ReportsPage, ReportsQuery } from "./reports.ts";

// Ten million reports: a service may return new cursors forever.
const mostPages = 100_000;

/** Iterates over all pages. @throws api_invalid_response for a repeated cursor, and as `listReports` */
export async function* walkReportPages(
  api: Pick<PlatformApi, "listReports">,
  query: ReportsQuery,
  options: CallOptions = {},
): AsyncGenerator<ReportsPage, void, undefined> {
  const seen = new Set<string>(query.cursor === undefined ? [] : [query.cursor]);
  let next = query;
  for (let index = 0; index < mostPages; index++) {
    const page = await api.listReports(next, options);
    yield page;
    if (page.cursor === undefined) return;
    if (seen.has(page.cursor)) throw endless("the listing repeated a cursor and would never end");
    seen.add(page.cursor);
    next = { ...query, cursor: page.cursor };
  }
  throw endless(`the listing has more than ${mostPages} pages`);
}

/** Iterates over the reports of a listing, in its order. @throws as walkReportPages */
export async function* walkReports(
  api: Pick<PlatformApi, "listReports">,
  query: ReportsQuery,
  options: CallOptions = {},
): AsyncGenerator<Report, void, undefined> {
  for await (const page of walkReportPages(api, query, options)) yield* page.reports;
}

function endless(message: string): FlatlineError {
  return new FlatlineError("api_invalid_response", message);
}
