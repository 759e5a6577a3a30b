import { readFileSync } from "node:fs";

import type { Dispatcher } from "undici";

import { FlatlineError } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http.ts";
import { Secret } from "../base/secret.ts";
import { createSystemClock, type Clock } from "../base/time.ts";
import { healthcheckResultSchema, type HealthcheckResult } from "../contract/healthcheck.ts";
import { readWith } from "../contract/issues.ts";
import { operations } from "../contract/operations.ts";
import type { CallOptions, PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
import { walkReports } from "../contract/report-pages.ts";
import { answerBounds, boundResult } from "../contract/result-bounds.ts";
import type { OwnFilterName, Report, ReportsPage, ReportsQuery } from "../contract/reports.ts";
import { reviewOutcomeSchema, type ReviewOutcome, type ReviewRequest } from "../contract/review.ts";
import { Exchange, invalid, outcomeUnknown, type RequestEvent } from "./exchange.ts";
import { PauseRegistry } from "./pauses.ts";
import { applyOwnFilters } from "./report-filters.ts";
import { describeFirst, parseReportsPage, reportsQueryString } from "./report-listing.ts";
import { quoteUpstream } from "./upstream-text.ts";

export { FlatlineError, type ErrorCode } from "../base/errors.ts";
export { Secret } from "../base/secret.ts";
export type { HealthcheckResult } from "../contract/healthcheck.ts";
export type { CallOptions, PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
export type { Report, ReportsPage, ReportsQuery } from "../contract/reports.ts";
export type { ReviewDecision, ReviewOutcome, ReviewRequest } from "../contract/review.ts";
export type { RequestEvent } from "./exchange.ts";
export { PauseRegistry } from "./pauses.ts";

export interface ClientOptions {
  /** Ends in /api/v2, as in `https://security.example.com/api/v2`; the key is sent to its origin only. */
  readonly baseUrl: string;
  readonly apiKey: string | Secret;
  /** Of one attempt, milliseconds [30000]. */
  readonly timeoutMs?: number;
  /** Extra attempts of the healthcheck and the listing on network errors, 429 and 5xx [2]; a review has none. */
  readonly retries?: number;
  /** [flatline/VERSION] */
  readonly userAgent?: string;
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read when there is no `dispatcher`, as `process.env` [none]. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Who makes the connections; closed by its owner [one of its own, closed by `close`]. */
  readonly dispatcher?: Dispatcher;
  /** [the machine's] */
  readonly clock?: Clock;
  /** For the jitter: 0 ≤ x < 1 [Math.random]. */
  readonly random?: () => number;
  /** Clients that share one keep each other's Retry-After, by key and origin [one of its own]. */
  readonly pauses?: PauseRegistry;
  /** Keys of the maps that are kept first when a map is larger than what is kept of it [none]. */
  readonly observedKeys?: readonly string[];
  /** Told of every attempt, for counting. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Told once of each filter with a name of ours that the service seems to ignore. */
  readonly onIgnoredFilter?: (name: OwnFilterName) => void;
}

/** API v2 over the wire. */
export interface Client extends PlatformApi {
  /** One page; without a query the first. */
  listReports(query?: ReportsQuery, options?: CallOptions): Promise<ReportsPage>;
  /** Every report of a listing, page after page. Rejects as `listReports`, and with api_invalid_response for a repeated cursor. */
  allReports(query?: ReportsQuery, options?: CallOptions): AsyncGenerator<Report, void, undefined>;
  /** Closes the connections, unless the dispatcher was given. */
  close(): Promise<void>;
}

/**
 * A client of API v2 (CONTRACT 9, the client): strict about what the API's description shows, tolerant about the rest.
 * Its promises reject with a FlatlineError whose code begins with `api_`. @throws invalid_config for a base URL or key that cannot be used
 */
export function createClient(options: ClientOptions): Client {
  const apiKey = usableKey(options.apiKey);
  const baseUrl = parseBaseUrl(options.baseUrl);
  const clock = options.clock ?? createSystemClock();
  const dispatcher = options.dispatcher ?? createHttpDispatcher({ env: options.env ?? {} });
  const exchange = new Exchange({
    baseUrl,
    apiKey,
    timeoutMs: options.timeoutMs ?? 30_000,
    retries: options.retries ?? 2,
    userAgent: options.userAgent ?? `flatline/${ownVersion()}`,
    dispatcher,
    clock,
    random: options.random ?? Math.random,
    pauses: options.pauses ?? new PauseRegistry({ clock }),
    onRequest: options.onRequest ?? ((): void => undefined),
  });
  const toldFilters = new Set<OwnFilterName>();

  async function deadAssetSpike(request: SpikeRequest, callOptions: CallOptions = {}): Promise<HealthcheckResult> {
    const { slug, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount } = request;
    const operation = operations.deadAssetSpike;
    const body = { slug, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount };
    const json = await exchange.repeatable({ operation, path: operation.path, body }, callOptions);
    const read = readWith(healthcheckResultSchema, json);
    if (read.kind === "problems")
      throw invalid(`the answer is not a healthcheck result: ${quoteUpstream(describeFirst(read.problems), apiKey)}`);
    const answered = read.data.scope.slug;
    if (answered !== null && answered !== slug)
      throw invalid(`the answer is about "${quoteUpstream(answered, apiKey)}", not about "${slug}"`);
    return boundResult(read.data, answerBounds, options.observedKeys);
  }

  async function listReports(query: ReportsQuery = {}, callOptions: CallOptions = {}): Promise<ReportsPage> {
    const operation = operations.listReports;
    const path = `${operation.path}${reportsQueryString(query)}`;
    const page = parseReportsPage(await exchange.repeatable({ operation, path }, callOptions));
    const { reports, ignored } = applyOwnFilters(page.reports, query);
    for (const name of ignored) {
      if (toldFilters.has(name)) continue;
      toldFilters.add(name);
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
      throw outcomeUnknown("the service accepted the review with an answer that cannot be read", parsed.error);
    return parsed.data;
  }

  return {
    deadAssetSpike,
    listReports,
    reviewProposal,
    allReports: (query = {}, callOptions = {}) => walkReports({ listReports }, query, callOptions),
    close: async () => {
      if (options.dispatcher === undefined) await dispatcher.close();
    },
  };
}

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (!isUsable)
    throw new FlatlineError("invalid_config", "the base URL is not an http(s) URL without query and fragment");
  return url;
}

/**
 * A key that no header can hold would fail at every request, with the key in the library's message. Plain JavaScript may
 * pass a variable of the environment that is not set.
 */
function usableKey(given: string | Secret | undefined): Secret {
  const apiKey = given === undefined || typeof given === "string" ? new Secret(given ?? "") : given;
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(apiKey.reveal())) return apiKey;
  throw new FlatlineError("invalid_config", "the API key is empty or has characters that no header can hold");
}

function ownVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
