import { sharedFamilies } from "./incident.ts";
import { isOwnCheck, type CheckName } from "./report.ts";

/** The path of a healthcheck after `/healthchecks/`: one to four segments (CONTRACT 17). */
export const healthcheckPathPattern = /^[a-z0-9-]+(?:\/[a-z0-9-]+){0,3}$/;
// The name is a label of metrics, and a part of keys and addresses.
export const longestHealthcheckPath = 128;

export function healthcheckName(path: string): CheckName {
  return path.replaceAll("/", "-");
}

/** Returns the fault of a path; null: it is valid. */
export function healthcheckPathProblem(path: string): string | null {
  if (path.length > longestHealthcheckPath) return `must be at most ${longestHealthcheckPath} characters long`;
  if (!healthcheckPathPattern.test(path))
    return (
      "must be what follows /healthchecks/ in its address, " +
      'one to four parts of a-z, 0-9 and "-": "reviewing/backlog"'
    );
  const name = healthcheckName(path);
  if (path === "assets/dead-asset-spike")
    return "is the check dead-asset-spike, which runs without it: thresholds has its parameters";
  if (isOwnCheck(name)) return `gives its check the name ${JSON.stringify(name)}, which another check has`;
  if (sharedFamilies.some((family) => family === name))
    return `gives its check the name ${JSON.stringify(name)}, which incidents of other checks have`;
  return null;
}
