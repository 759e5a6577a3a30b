import type { ErrorCode } from "../base/errors.ts";
import type { HealthcheckResult } from "./healthcheck.ts";
import type { SpikeEvidence } from "./spike-evidence.ts";
import type { Severity } from "./severity.ts";

/** flatline's own checks (CONTRACT 1). The folder of a kind in checks/ has all else about it. */
export const checkNames = ["dead-asset-spike", "review-queue", "sentinel", "event-flow", "regret"] as const;
export type OwnCheckName = (typeof checkNames)[number];
/** A name of `checkNames`, or of a configured healthcheck (contract/platform-healthcheck.ts). */
export type CheckName = string;

/** Returns whether a check is flatline's own; the others are healthchecks of the platform. */
export function isOwnCheck(name: CheckName): name is OwnCheckName {
  return checkNames.some((own) => own === name);
}

/** Why a run has no result: the labels of `flatline_check_errors_total` (CONTRACT 6). */
export const checkErrorReasons = [
  "timeout",
  "network",
  "unauthorized",
  "forbidden",
  "bad_request",
  "rate_limited",
  "server_error",
  "invalid_response",
  "store",
  "stream_silent",
  "no_events",
  "not_found",
] as const;
export type CheckErrorReason = (typeof checkErrorReasons)[number];

/** The counts of a spike result under the names of `source.observedKeys` (CONTRACT 4 and 6); null: it has none. */
export interface ObservedCounts {
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  readonly ratio: number | null;
}

/** The counts that lists show. */
export interface ShownCounts extends Omit<ObservedCounts, "baselineCount"> {
  readonly windowHours: number | null;
}

interface ReportBase {
  readonly check: CheckName;
  readonly slug: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

export interface ResultReport extends ReportBase {
  readonly kind: "result";
  readonly severity: Exclude<Severity, "unknown">;
  readonly result: HealthcheckResult;
  readonly counts: ObservedCounts;
  /** Share (0–1) of the baseline after the organization's first stored event; null: a remote source. */
  readonly baselineCoverage: number | null;
  /** Evidence from events; absent for ok results, other checks and remote sources. */
  readonly evidence?: SpikeEvidence;
}

/** A run without a verdict: `unknown`, which never becomes ok, warn or fail. */
export interface ErrorReport extends ReportBase {
  readonly kind: "error";
  readonly severity: "unknown";
  /** `status`: the service answered with this 4xx or 5xx. */
  readonly error: { readonly reason: CheckErrorReason; readonly message: string; readonly status?: number };
}

export type CheckReport = ResultReport | ErrorReport;

const reasons: Readonly<Partial<Record<ErrorCode, CheckErrorReason>>> = {
  api_timeout: "timeout",
  api_network: "network",
  api_outcome_unknown: "network",
  api_unauthorized: "unauthorized",
  api_forbidden: "forbidden",
  api_bad_request: "bad_request",
  api_not_found: "bad_request",
  api_conflict: "bad_request",
  api_rate_limited: "rate_limited",
  api_server_error: "server_error",
  api_invalid_response: "invalid_response",
  stream_silent: "stream_silent",
  no_events: "no_events",
};

/** Returns the reason to count for an error of a PlatformApi; `store` for every code without one. */
export function checkErrorReason(code: ErrorCode): CheckErrorReason {
  return reasons[code] ?? "store";
}
