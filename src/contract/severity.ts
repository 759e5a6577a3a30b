/** The API's severities, and `unknown`: the check could not be run (CONTRACT 1). */
export const severities = ["ok", "warn", "fail", "unknown"] as const;
export type Severity = (typeof severities)[number];
export type ResultSeverity = Exclude<Severity, "unknown">;

const rank: Readonly<Record<Severity, number>> = { ok: 0, warn: 1, unknown: 2, fail: 3 };

/** Negative if `left` is less severe than `right`: fail > unknown > warn > ok everywhere (CONTRACT 1). */
export function compareSeverity(left: Severity, right: Severity): number {
  return rank[left] - rank[right];
}

/** Returns the highest severity; ok for an empty list. */
export function worstSeverity(all: Iterable<Severity>): Severity {
  let worst: Severity = "ok";
  for (const severity of all) if (compareSeverity(severity, worst) > 0) worst = severity;
  return worst;
}
