import { createHttpDispatcher } from "../base/http.ts";
import type { Secret } from "../base/secret.ts";
import type { Clock } from "../base/time.ts";
import type { OperationName } from "../contract/operations.ts";
import type { CallOptions, PlatformApi } from "../contract/platform-api.ts";
import type { OwnFilterName, Report, ReportsPage, ReportsQuery } from "../contract/reports.ts";
import { createConnectedClient } from "./connected-client.ts";
import type { PauseRegistry } from "./pauses.ts";

// What this file exports is flatline/client. Its declarations name no library, so that they need none beside them.
export { FlatlineError, type ErrorCode } from "../base/errors.ts";
export { Secret } from "../base/secret.ts";
export type { HealthcheckResult } from "../contract/healthcheck.ts";
export type { CallOptions, PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
export type { Report, ReportsPage, ReportsQuery } from "../contract/reports.ts";
export type { ReviewDecision, ReviewOutcome, ReviewRequest } from "../contract/review.ts";
export { PauseRegistry } from "./pauses.ts";

/** One attempt that was made: `code` is the answer's status, or `timeout`, `network`, `aborted` without one. */
export interface RequestEvent {
  readonly operation: OperationName;
  readonly code: string;
}

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
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read, as `process.env` [none]. */
  readonly env?: Readonly<Record<string, string | undefined>>;
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
  /** Closes the connections. */
  close(): Promise<void>;
}

/**
 * Creates a client of API v2 (CONTRACT 9, the client): strict about what the API's description shows, tolerant about the rest.
 * Its promises reject with a FlatlineError whose code begins with `api_`. @throws invalid_config for a base URL or key that cannot be used
 */
export function createClient(options: ClientOptions): Client {
  const dispatcher = createHttpDispatcher({ env: options.env ?? {} });
  return { ...createConnectedClient({ ...options, dispatcher }), close: () => dispatcher.close() };
}
