import { minuteMs } from "../../src/base/time.ts";
import type { AssetTypeExcess, CheckName, ErrorReport, ResultReport } from "../../src/contract/report.ts";
import type { ResultSeverity } from "../../src/contract/severity.ts";

/** A report of a run that gave a verdict; everything that a test does not name is unremarkable. */
export function resultReport(given: {
  readonly startedAtMs: number;
  readonly severity: ResultSeverity;
  readonly check?: CheckName;
  readonly slug?: string;
  readonly currentCount?: number;
  readonly baselineCoverage?: number | null;
  readonly assetTypeExcess?: readonly AssetTypeExcess[];
  /** `key=value` that 85 % of its deaths share, usually 5 %. */
  readonly carrier?: string;
  /** Whether its excess has stopped, half an hour before [nothing is known]. */
  readonly excess?: "ongoing" | "stopped";
}): ResultReport {
  const { startedAtMs, severity, slug = "acme", check = "dead-asset-spike", currentCount = 10 } = given;
  const counts = { currentCount, baselineCount: 70, expectedCount: 10, ratio: currentCount / 10 };
  const findings = severity === "ok" ? [] : [{ kind: check, ref: slug, severity, message: `${currentCount} deaths` }];
  const { carrier } = given;
  const carriers =
    carrier === undefined
      ? []
      : [{ kind: "dead-asset-spike.attribute", ref: carrier, severity, message: `85 % ${carrier}, usually 5 %` }];
  return {
    kind: "result",
    check,
    slug,
    startedAtMs,
    finishedAtMs: startedAtMs + 5,
    severity,
    counts,
    baselineCoverage: given.baselineCoverage ?? null,
    assetTypeExcess: given.assetTypeExcess ?? [],
    result: {
      id: check,
      title: "Spike in recently dead assets",
      category: "assets",
      generatedAt: new Date(startedAtMs).toISOString(),
      scope: { slug },
      ok: severity === "ok",
      severity,
      observed: { ...counts, ...(carrier === undefined ? {} : { carrier }), ...excessOf(given) },
      threshold: { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 },
      findings: [...findings, ...carriers],
      suggestedAction: severity === "ok" ? null : "Look at the liveness checker.",
      appUrl: null,
    },
  };
}

function excessOf({ excess, startedAtMs }: Pick<Parameters<typeof resultReport>[0], "excess" | "startedAtMs">) {
  if (excess === undefined) return {};
  const stoppedAt = excess === "stopped" ? new Date(startedAtMs - 30 * minuteMs).toISOString() : null;
  return { excess, deathsLastHour: 0, usualPerHour: 1, excessStoppedAt: stoppedAt, expectedEndAt: null };
}

/** A report of a run that gave none. */
export function errorReport(given: {
  readonly startedAtMs: number;
  readonly check?: CheckName;
  readonly slug?: string;
}): ErrorReport {
  const { startedAtMs, slug = "acme", check = "dead-asset-spike" } = given;
  return {
    kind: "error",
    check,
    slug,
    startedAtMs,
    finishedAtMs: startedAtMs + 5,
    severity: "unknown",
    error: { reason: "timeout", message: "no answer within 30 s" },
  };
}
