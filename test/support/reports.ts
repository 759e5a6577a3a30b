import { minuteMs } from "../../src/base/time.ts";
import type { CheckName, ErrorReport, ResultReport } from "../../src/contract/report.ts";
import { noEvidence, type SpikeEvidence } from "../../src/contract/spike-evidence.ts";
import type { ResultSeverity } from "../../src/contract/severity.ts";
import { errorReport as anyError, resultReport as anyResult } from "./check-reports.ts";

/** A report of a run that gave a verdict; everything that a test does not name is unremarkable. */
export function resultReport(given: {
  readonly startedAtMs: number;
  readonly severity: ResultSeverity;
  readonly check?: CheckName;
  readonly slug?: string;
  readonly currentCount?: number;
  readonly baselineCoverage?: number | null;
  readonly assetTypes?: SpikeEvidence["assetTypes"];
  /** `key=value` that 85 % of its deaths share, usually 5 %. */
  readonly carrier?: string;
  /** Whether its excess has stopped, half an hour before [nothing is known]. */
  readonly excess?: "ongoing" | "stopped";
}): ResultReport {
  const { startedAtMs, severity, slug = "acme", check = "dead-asset-spike", currentCount = 10 } = given;
  const counts = { currentCount, baselineCount: 70, expectedCount: 10, ratio: currentCount / 10 };
  const findings = severity === "ok" ? [] : [{ kind: check, ref: slug, severity, message: `${currentCount} deaths` }];
  return anyResult({
    check,
    slug,
    startedAtMs,
    finishedAtMs: startedAtMs + 5,
    severity,
    counts,
    baselineCoverage: given.baselineCoverage ?? null,
    ...(severity === "ok" ? {} : { evidence: evidenceOf(given) }),
    result: { id: check, generatedAt: new Date(startedAtMs).toISOString(), observed: { ...counts }, findings },
  });
}

function evidenceOf({
  assetTypes = [],
  carrier,
  excess,
  startedAtMs,
}: Parameters<typeof resultReport>[0]): SpikeEvidence {
  const [key = "", value = ""] = carrier?.split("=") ?? [];
  const quietSinceMs = excess === "stopped" ? startedAtMs - 30 * minuteMs : null;
  return {
    ...noEvidence,
    assetTypes,
    carriers: carrier === undefined ? [] : [{ key, value, share: 0.85, usualShare: 0.05 }],
    sharedValue: carrier ?? null,
    excess:
      excess === undefined
        ? null
        : { state: excess, deathsLastHour: 0, usualPerHour: 1, quietSinceMs, expectedEndAtMs: null },
  };
}

/** A report of a run that gave none. */
export function errorReport(given: {
  readonly startedAtMs: number;
  readonly check?: CheckName;
  readonly slug?: string;
}): ErrorReport {
  const error = { reason: "timeout", message: "no answer within 30 s" } as const;
  return { ...anyError({ ...given, finishedAtMs: given.startedAtMs + 5 }), error };
}
