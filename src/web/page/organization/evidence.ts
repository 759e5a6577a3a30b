import type { HealthcheckResult } from "../../../contract/healthcheck.ts";
import { formatCount } from "../../../base/numbers.ts";

const causes: Readonly<Record<string, string>> = {
  checker: "the liveness checker",
  assets: "the assets themselves",
  unclear: "unclear",
};

interface FindingLine {
  readonly severity: HealthcheckResult["severity"];
  readonly message: string;
}

/**
 * Returns the findings of a result as lines, how many more there were, and what a spike's result says of its cause. Its addresses
 * are broken (`brokenResult`).
 */
export function findingLines(result: HealthcheckResult | null): FindingLine[] {
  if (result === null) return [];
  const { severity, findings, findingsOmitted = 0 } = result;
  return [
    ...findings.map((finding) => ({ severity: finding.severity, message: finding.message })),
    ...(findingsOmitted === 0 ? [] : [{ severity, message: `+${formatCount(findingsOmitted)} more` }]),
    ...evidenceLines(result),
  ];
}

/** What a spike's result says of its cause and of undone deaths. */
function evidenceLines(result: HealthcheckResult): FindingLine[] {
  if (result.id !== "dead-asset-spike") return [];
  const { likelyCause, likelyCauseReason, revivedCount } = result.observed;
  const lines: string[] = [];
  // Keys of a service that is not ours may be called the same.
  const isEmpty = likelyCause === "unclear" && typeof likelyCauseReason !== "string";
  if (!isEmpty && typeof likelyCause === "string" && Object.hasOwn(causes, likelyCause)) {
    const reason = typeof likelyCauseReason === "string" ? `. ${likelyCauseReason}` : "";
    lines.push(`Likely cause: ${causes[likelyCause] ?? ""}${reason}`);
  }
  if (typeof revivedCount === "number" && revivedCount > 0)
    lines.push(`${formatCount(revivedCount)} of the deaths were undone: found alive again`);
  return lines.map((message) => ({ severity: result.severity, message }));
}
