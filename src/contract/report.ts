import type { ErrorCode } from "../base/errors.ts";
import { readAssetTypeExcess } from "../spike/findings.ts";
import type { HealthcheckResult } from "./healthcheck.ts";
import type { Severity } from "./severity.ts";

/** What depends on the kind of a check and is text or yes or no. */
export interface CheckFacts {
  /** Whether its failure says that deaths cannot be trusted; a full review queue says nothing of them. */
  readonly holdsGate: boolean;
  /** Of Alertmanager and Prometheus (CONTRACT 7). */
  readonly alertName: string;
  /** Follows the slug in a title. */
  readonly subject: string;
  /** Says why an alert is over, without a claim that something was repaired: no person has looked (CONTRACT 7). */
  readonly back: string;
  /** The same in a message [`back`]. */
  readonly ended?: string;
  /** Whether the first finding of its result says what is wrong, and the others are details. */
  readonly isSaidByFinding: boolean;
}

/** The kinds of healthcheck (CONTRACT 1). A new one is a line here, and its evaluation. */
const kinds = {
  "dead-asset-spike": {
    holdsGate: true,
    isSaidByFinding: false,
    alertName: "FlatlineDeadAssetSpike",
    subject: "",
    back: "the rate is back under the threshold",
  },
  "review-queue": {
    holdsGate: false,
    isSaidByFinding: false,
    alertName: "FlatlineReviewQueue",
    subject: " review queue",
    back: "the queue is back under the threshold",
    ended: "the oldest report in the queue is under the limit again",
  },
  sentinel: {
    holdsGate: true,
    isSaidByFinding: true,
    alertName: "FlatlineSentinel",
    subject: " sentinels",
    back: "no sentinel is called dead any more",
  },
  "event-flow": {
    holdsGate: true,
    isSaidByFinding: true,
    alertName: "FlatlineEventFlow",
    subject: " event flow",
    back: "liveness events flow again",
  },
  regret: {
    holdsGate: true,
    isSaidByFinding: true,
    alertName: "FlatlineRegret",
    subject: " undone deaths",
    back: "fewer deaths are undone",
  },
} as const satisfies Readonly<Record<string, CheckFacts>>;
export type CheckName = keyof typeof kinds;
export const checks: Readonly<Record<CheckName, CheckFacts>> = kinds;
export const checkNames = Object.keys(kinds) as [CheckName, ...CheckName[]];

/** The checks whose failures hold the gate. */
export const gateChecks = checkNames.filter((check) => checks[check].holdsGate);

/** Why a run has no result: the closed set of `flatline_check_errors_total` (CONTRACT 6). */
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
] as const;
export type CheckErrorReason = (typeof checkErrorReasons)[number];

/** The counts of a spike result, if it has them under the names of `source.observedKeys` (CONTRACT 4 and 6). */
export interface ObservedCounts {
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  readonly ratio: number | null;
}

/** The excess of one asset type: its deaths above the expected number. */
export interface AssetTypeExcess {
  readonly assetType: string;
  readonly excess: number;
}

interface ReportBase {
  readonly check: CheckName;
  readonly slug: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** The version of flatline that ran the check; absent in reports older than this field. */
  readonly version?: string;
}

/** The report of a run with a verdict. */
export interface ResultReport extends ReportBase {
  readonly kind: "result";
  readonly severity: Exclude<Severity, "unknown">;
  readonly result: HealthcheckResult;
  readonly counts: ObservedCounts;
  /** Local sources: share (0–1) of the baseline after the organization's first stored event; null for remote sources. */
  readonly baselineCoverage: number | null;
  /** The asset types of the findings with their excess, largest first; absent if unknown. */
  readonly assetTypeExcess?: readonly AssetTypeExcess[];
}

/** The report of a run without a verdict: `unknown`, never folded into ok, warn or fail. */
export interface ErrorReport extends ReportBase {
  readonly kind: "error";
  readonly severity: "unknown";
  readonly error: { readonly reason: CheckErrorReason; readonly message: string };
}

/** The report of one run of one check for one organization. */
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

/**
 * Returns the reason under which an error of a PlatformApi is counted. An error that is not an answer of the service is a
 * store error.
 */
export function checkErrorReason(code: ErrorCode): CheckErrorReason {
  return reasons[code] ?? "store";
}

// The limit of flatline's own findings (CONTRACT 2), also for other producers.
const mostAssetTypes = 5;
const longestAssetType = 256;

/**
 * Returns the excess of each asset type in a result's findings, for `assetTypeExcess` of a report; largest first. Empty if
 * the findings are not from flatline's evaluation.
 */
export function assetTypeExcessOf(result: Pick<HealthcheckResult, "findings">): readonly AssetTypeExcess[] {
  return result.findings
    .flatMap((finding) => readAssetTypeExcess(finding) ?? [])
    .filter(({ assetType }) => assetType.length <= longestAssetType)
    .slice(0, mostAssetTypes);
}
