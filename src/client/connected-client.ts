import { z } from "zod";

import { FlatlineError } from "../base/errors.ts";
import type { BodyGate } from "../base/http.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import { healthcheckResultSchema } from "../contract/healthcheck-schemas.ts";
import { readWith, type SchemaProblem } from "../contract/issues.ts";
import { operations } from "../contract/operations.ts";
import { healthcheckPathPattern } from "../contract/platform-healthcheck.ts";
import type { CallOptions, HealthcheckRequest, SpikeRequest } from "../contract/platform-api.ts";
import { walkReports } from "../contract/report-pages.ts";
import { answerBounds, boundResult } from "../contract/result-bounds.ts";
import {
  ownFilterNames,
  type OwnFilterName,
  type Report,
  type ReportsPage,
  type ReportsQuery,
} from "../contract/reports.ts";
import type { ReviewOutcome, ReviewRequest } from "../contract/review.ts";
import { reviewOutcomeSchema } from "../contract/review-body.ts";
import type { Client, ClientOptions } from "./client.ts";
import { createExchange, invalid, outcomeUnknown, type ExchangeRequest } from "./exchange.ts";
import { quoteUpstream } from "./upstream-text.ts";
import { reportSchema } from "../contract/report-schemas.ts";

/** A client that does not own its connections. */
export type ConnectedClient = Omit<Client, "close">;

export interface ConnectedClientOptions extends Omit<ClientOptions, "env"> {
  /** The owner closes it. */
  readonly dispatcher: HttpDispatcher;
  /** Limits how many large answers are read at once, by all clients that share it [no limit]. */
  readonly gate?: BodyGate | undefined;
}

/** Creates a client that uses its owner's connections. @throws as `createClient` */
export function createConnectedClient(options: ConnectedClientOptions): ConnectedClient {
  const exchange = createExchange(options);
  const { apiKey } = exchange;
  const reportedFilters = new Set<OwnFilterName>();

  async function deadAssetSpike(request: SpikeRequest, callOptions: CallOptions = {}): Promise<HealthcheckResult> {
    const { slug, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount } = request;
    const operation = operations.deadAssetSpike;
    const body = { slug, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount };
    const result = await askHealthcheck({ operation, path: operation.path, body }, callOptions);
    return boundResult(result, answerBounds, options.observedKeys);
  }

  async function healthcheck(
    { path, slug, parameters }: HealthcheckRequest,
    callOptions: CallOptions = {},
  ): Promise<HealthcheckResult> {
    if (!healthcheckPathPattern.test(path))
      throw new FlatlineError("usage", `${JSON.stringify(path)} is no path of a healthcheck: reviewing/backlog is one`);
    const operation = operations.healthcheck;
    const body = { ...parameters, slug };
    const result = await askHealthcheck({ operation, path: operation.path.replace("{path}", path), body }, callOptions);
    return boundResult(result, answerBounds);
  }

  async function askHealthcheck(
    request: ExchangeRequest & { readonly body: { readonly slug: string } },
    callOptions: CallOptions,
  ): Promise<HealthcheckResult> {
    const json = await exchange.repeatable(request, callOptions);
    const read = readWith(healthcheckResultSchema, json);
    if (read.kind === "problems")
      throw invalid(`the answer is not a healthcheck result: ${quoteUpstream(describeFirst(read.problems), apiKey)}`);
    const { slug } = request.body;
    const answered = read.data.scope.slug;
    if (answered !== null && answered !== slug)
      throw invalid(`the answer is about "${quoteUpstream(answered, apiKey)}", not about "${slug}"`);
    return read.data;
  }

  async function listReports(query: ReportsQuery = {}, callOptions: CallOptions = {}): Promise<ReportsPage> {
    const operation = operations.listReports;
    const path = `${operation.path}${reportsQueryString(query)}`;
    const page = parseReportsPage(await exchange.repeatable({ operation, path }, callOptions));
    const { reports, ignored } = applyOwnFilters(page.reports, query);
    for (const name of ignored) {
      if (reportedFilters.has(name)) continue;
      reportedFilters.add(name);
      options.onIgnoredFilter?.(name);
    }
    return { ...page, reports };
  }

  async function reviewProposal(request: ReviewRequest, callOptions: CallOptions = {}): Promise<ReviewOutcome> {
    const { proposalId, ...body } = request;
    const operation = operations.reviewProposal;
    const path = operation.path.replace("{proposalId}", encodeURIComponent(String(proposalId)));
    const json = await exchange.once({ operation, path, body }, callOptions);
    const parsed = reviewOutcomeSchema.safeParse(json);
    if (!parsed.success)
      throw outcomeUnknown("the service accepted the review, but its answer cannot be read", parsed.error);
    return parsed.data;
  }

  return {
    deadAssetSpike,
    healthcheck,
    listReports,
    reviewProposal,
    allReports: (query = {}, callOptions = {}) => walkReports({ listReports }, query, callOptions),
  };
}

/** A false flag is left out: some services take any text for true (CONTRACT 9). */
function reportsQueryString(query: ReportsQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, string | number | boolean | undefined][]) {
    if (value !== undefined && value !== false) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

const reportsSchema = z.array(reportSchema);
// A missing cursor ends a listing; services that always send the field mean the same by null and "".
const cursorSchema = z.string().nullish();

/** Reads `reports`, or the only array, and an optional cursor (CONTRACT 9). @throws api_invalid_response */
function parseReportsPage(json: unknown): ReportsPage {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw unlike("it is not an object");
  const page = json as Readonly<Record<string, unknown>>;
  const reports = readWith(reportsSchema, arrayOf(page));
  if (reports.kind === "problems") throw unlike(describeFirst(reports.problems, "reports"));
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

/** Returns path and text of the first problem; the path has only names of the schema. */
function describeFirst([first]: readonly SchemaProblem[], root = ""): string {
  if (first === undefined) return "";
  const steps = first.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  const path = [root, ...steps].join("");
  return path === "" ? first.message : `${path}: ${first.message}`;
}

type Value = string | null | undefined;

/** The values that a filter compares; undefined: the report has no such field, or one of another type. */
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
 * Applies flatline's own filters to the reports that have the field, because another service may ignore them (CONTRACT
 * 9, the client). `ignored`: the filters that the service did not apply.
 */
function applyOwnFilters(reports: readonly Report[], query: ReportsQuery) {
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
