import type { Severity } from "../contract/severity.ts";

/** Exit codes of `check` and `status`: the worst of all decides (CONTRACT 3). */
export const severityExitCodes: Readonly<Record<Severity, number>> = { ok: 0, warn: 1, fail: 2, unknown: 3 };
