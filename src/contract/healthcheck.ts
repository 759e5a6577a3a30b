import { breakAddress, breakAddresses } from "../base/broken-address.ts";
import { mapTexts } from "../base/json.ts";

export const healthcheckCategories = [
  "detection",
  "reviewing",
  "blocklisting",
  "takedowns",
  "assets",
  "organization",
] as const;
export const healthcheckSeverities = ["ok", "warn", "fail"] as const;
export const findingSeverities = ["warn", "fail"] as const;

export type HealthcheckMap = Readonly<Record<string, number | string | boolean | null>>;

/** `ref` is the subject; null: none. */
export interface Finding {
  readonly kind: string;
  readonly ref: string | null;
  readonly severity: (typeof healthcheckSeverities)[number];
  readonly message: string;
}

export interface HealthcheckResult {
  readonly id: string;
  readonly title: string;
  readonly category: (typeof healthcheckCategories)[number];
  readonly generatedAt: string;
  readonly scope: { readonly slug: string | null };
  readonly ok: boolean;
  readonly severity: (typeof healthcheckSeverities)[number];
  readonly observed: HealthcheckMap;
  readonly threshold: HealthcheckMap;
  readonly findings: readonly Finding[];
  readonly suggestedAction: string | null;
  readonly appUrl: string | null;
  /** Findings that the service sent beyond the limit (contract/result-bounds.ts). */
  readonly findingsOmitted?: number;
  /** The report was shortened further for storage. */
  readonly isTruncated?: true;
}

type ShownTexts = Pick<HealthcheckResult, "title" | "observed" | "threshold" | "findings" | "suggestedAction">;

/** Breaks every address in the texts that people read, except those of `own` origins (CONTRACT 12). */
export function brokenResult<Result extends ShownTexts>(result: Result, own: readonly string[]): Result {
  const { title, observed, threshold, findings, suggestedAction } = result;
  return {
    ...result,
    ...mapTexts({ title, observed, threshold, suggestedAction }, (text) => breakAddresses(text, own)),
    findings: findings.map((finding) => ({ ...finding, ...brokenFinding(finding, own) })),
  };
}

/** Breaks the addresses of a finding; a sentinel's `ref` is an asset, which may have no scheme. */
export function brokenFinding(
  { kind, ref, message: text }: Pick<Finding, "kind" | "ref" | "message">,
  own: readonly string[] = [],
): { readonly ref: string | null; readonly message: string } {
  const isAsset = kind === "sentinel.asset" && ref !== null && ref !== "";
  const named = isAsset ? text.replaceAll(ref, () => breakAddress(ref)) : text;
  const subject = ref === null ? null : isAsset ? breakAddress(ref) : breakAddresses(ref, own);
  return { ref: subject, message: breakAddresses(named, own) };
}
