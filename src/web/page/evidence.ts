import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import { formatCount } from "./figures.ts";

const causes: Readonly<Record<string, string>> = {
  checker: "the liveness checker",
  assets: "the assets themselves",
  unclear: "unclear",
};

/** What a spike's result says of its cause and of undone deaths, as lines beside its findings. */
export function evidenceLines(
  result: HealthcheckResult | null,
): { readonly severity: HealthcheckResult["severity"]; readonly message: string }[] {
  if (result === null || result.id !== "dead-asset-spike") return [];
  const { likelyCause, likelyCauseReason, revivedCount } = result.observed;
  const lines: string[] = [];
  // Keys of a service that is not ours may be called the same.
  if (typeof likelyCause === "string" && Object.hasOwn(causes, likelyCause)) {
    const reason = typeof likelyCauseReason === "string" ? `. ${likelyCauseReason}` : "";
    lines.push(`Likely cause: ${causes[likelyCause] ?? ""}${reason}`);
  }
  if (typeof revivedCount === "number" && revivedCount > 0)
    lines.push(`${formatCount(revivedCount)} of the deaths were undone: found alive again`);
  return lines.map((message) => ({ severity: result.severity, message }));
}
