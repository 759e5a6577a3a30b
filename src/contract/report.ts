import type { ErrorCode } from "../base/errors.ts";
import { readAssetTypeExcess } from "../spike/findings.ts";
import type { HealthcheckResult } from "./healthcheck.ts";
import type { Severity } from "./severity.ts";

/** The kinds of healthcheck (CONTRACT 1). */
export const checkNames = ["dead-asset-spike", "review-queue", "sentinel", "event-flow"] as const;
export type CheckName = (typeof checkNames)[number];

/** Why a run gave no result: the closed set of `flatline_check_errors_total` (CONTRACT 6), and a stream without events. */
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
] as const;
export type CheckErrorReason = (typeof checkErrorReasons)[number];

/** The counts of a spike result where it has them under the names of `source.observedKeys` (CONTRACT 4 and 6). */
export interface ObservedCounts {
  readonly currentCount: number | null;
  readonly baselineCount: number | null;
  readonly expectedCount: number | null;
  readonly ratio: number | null;
}

/** What one asset type carries of a spike: its deaths above its expected ones. */
export interface AssetTypeExcess {
  readonly assetType: string;
  readonly excess: number;
}

interface ReportBase {
  readonly check: CheckName;
  readonly slug: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** The flatline that ran it; absent in reports that are older than this field. */
  readonly version?: string;
}

/** A run that gave a verdict. */
export interface ResultReport extends ReportBase {
  readonly kind: "result";
  readonly severity: Exclude<Severity, "unknown">;
  readonly result: HealthcheckResult;
  readonly counts: ObservedCounts;
  /** Local sources: share (0–1) of the baseline that lies after the organization's first stored event; null for remote ones. */
  readonly baselineCoverage: number | null;
  /** The types that the findings name with how many deaths more than expected each had, largest first; absent where unknown. */
  readonly assetTypeExcess?: readonly AssetTypeExcess[];
}

/** A run that gave none: `unknown`, never folded into ok, warn or fail. */
export interface ErrorReport extends ReportBase {
  readonly kind: "error";
  readonly severity: "unknown";
  readonly error: { readonly reason: CheckErrorReason; readonly message: string };
}

/** What one run of one check for one organization gave. */
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
};

/** The reason under which an error of a PlatformApi is counted. What is not an answer of the far side is the store's. */
export function checkErrorReason(code: ErrorCode): CheckErrorReason {
  return reasons[code] ?? "store";
}

// Of flatline's own results (CONTRACT 2), and of what else words its findings like them.
const mostAssetTypes = 5;
const longestAssetType = 256;

/**
 * The excess of each asset type that a result's findings name, as `assetTypeExcess` of a report wants it; largest first.
 * Empty when the findings are worded by somebody else than flatline's evaluation.
 */
export function assetTypeExcessOf(result: Pick<HealthcheckResult, "findings">): readonly AssetTypeExcess[] {
  return result.findings
    .flatMap((finding) => readAssetTypeExcess(finding) ?? [])
    .filter(({ assetType }) => assetType.length <= longestAssetType)
    .slice(0, mostAssetTypes);
}
