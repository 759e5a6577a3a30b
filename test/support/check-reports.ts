import type { CheckErrorReason, ErrorReport, ResultReport } from "../../src/contract/report.ts";

/** A result as flatline's own sources give it: 42 deaths where 6 were expected, failed. */
export function resultReport(
  changes: Partial<Omit<ResultReport, "kind" | "result">> & { readonly result?: Partial<ResultReport["result"]> } = {},
): ResultReport {
  const { result, ...report } = changes;
  const slug = report.slug ?? "acme";
  const severity = report.severity ?? "fail";
  const finishedAtMs = report.finishedAtMs ?? 1_767_225_600_000;
  return {
    kind: "result",
    check: "dead-asset-spike",
    slug,
    startedAtMs: finishedAtMs - 20,
    finishedAtMs,
    severity,
    counts: { currentCount: 42, baselineCount: 42, expectedCount: 6, ratio: 7 },
    baselineCoverage: 1,
    ...report,
    result: {
      id: "dead-asset-spike",
      title: "Spike in recently dead assets",
      category: "assets",
      generatedAt: new Date(finishedAtMs).toISOString(),
      scope: { slug },
      ok: severity === "ok",
      severity,
      observed: { currentCount: 42, baselineCount: 42, expectedCount: 6, ratio: 7 },
      threshold: { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 },
      findings:
        severity === "ok"
          ? []
          : [
              {
                kind: "dead-asset-spike",
                ref: slug,
                severity,
                message: "42 deaths where 6 were expected, 7 times as many",
              },
            ],
      suggestedAction: severity === "ok" ? null : "Look at the liveness checker.",
      appUrl: null,
      ...result,
    },
  };
}

/** A run that gave no result. */
export function errorReport(
  changes: Partial<Omit<ErrorReport, "kind" | "error">> & { readonly reason?: CheckErrorReason } = {},
): ErrorReport {
  const { reason = "timeout", ...report } = changes;
  const finishedAtMs = report.finishedAtMs ?? 1_767_225_600_000;
  return {
    kind: "error",
    check: "dead-asset-spike",
    slug: "acme",
    startedAtMs: finishedAtMs - 20,
    finishedAtMs,
    severity: "unknown",
    error: { reason, message: "no complete answer in time" },
    ...report,
  };
}
