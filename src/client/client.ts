import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import type { Secret } from "../base/secret.ts";
import type { Clock } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { OperationName } from "../contract/operations.ts";
import type { CallOptions, HealthcheckRequest, PlatformApi } from "../contract/platform-api.ts";
import type { OwnFilterName, Report, ReportsPage, ReportsQuery } from "../contract/reports.ts";
import { createConnectedClient } from "./connected-client.ts";
import type { PauseRegistry } from "./pauses.ts";

// The exports of this file are flatline/client. The declarations need no library to compile.
export { FlatlineError, type ErrorCode } from "../base/errors.ts";
export { Secret } from "../base/secret.ts";
export type { HealthcheckResult } from "../contract/healthcheck.ts";
export type { CallOptions, HealthcheckRequest, PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
export type { Report, ReportsPage, ReportsQuery } from "../contract/reports.ts";
export type { ReviewDecision, ReviewOutcome, ReviewRequest } from "../contract/review.ts";
export { PauseRegistry } from "./pauses.ts";

/** One attempt; `code`: the HTTP status, or `timeout`, `network` or `aborted`. */
export interface RequestEvent {
  readonly operation: OperationName;
  readonly code: string;
}

export interface ClientOptions {
  /** Ends in /api/v2, such as `https://security.example.com/api/v2`; only this origin gets the key. */
  readonly baseUrl: string;
  readonly apiKey: string | Secret;
  /** Timeout of one attempt [30000]. */
  readonly timeoutMs?: number;
  /** Retries of healthchecks and the listing after network errors, 429 and 5xx [2]; a review is never retried. */
  readonly retries?: number;
  /** User-Agent header [flatline/VERSION]. */
  readonly userAgent?: string;
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, such as in `process.env` [none]. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** [the system's clock] */
  readonly clock?: Clock;
  /** Gives the jitter: 0 ≤ x < 1 [Math.random]. */
  readonly random?: () => number;
  /** Shared by clients that honour each other's Retry-After, per key and origin [not shared]. */
  readonly pauses?: PauseRegistry;
  /** Keys to keep first if a map is larger than the limit [none]. */
  readonly observedKeys?: readonly string[];
  /** Called for each attempt, for metrics. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Called once for each of flatline's own filters that the service seems to ignore. */
  readonly onIgnoredFilter?: (name: OwnFilterName) => void;
}

export interface Client extends PlatformApi {
  /** Runs any healthcheck of the platform; retried. @throws usage for a path that cannot be one */
  healthcheck(request: HealthcheckRequest, options?: CallOptions): Promise<HealthcheckResult>;
  /** Returns one page; without a cursor the first one. */
  listReports(query?: ReportsQuery, options?: CallOptions): Promise<ReportsPage>;
  /** Iterates over all reports. Rejects as `listReports`, and with api_invalid_response for a repeated cursor. */
  allReports(query?: ReportsQuery, options?: CallOptions): AsyncGenerator<Report, void, undefined>;
  close(): Promise<void>;
}

/**
 * Creates a client of API v2 (CONTRACT 9, the client): strict about documented fields, tolerant of others. Rejects with
 * a FlatlineError whose code begins with `api_`.
 * @throws invalid_config for a base URL or key that cannot be used
 */
export function createClient(options: ClientOptions): Client {
  const dispatcher = createHttpDispatcher({ env: options.env ?? {} });
  return { ...createConnectedClient({ ...options, dispatcher }), close: () => dispatcher.close() };
}
