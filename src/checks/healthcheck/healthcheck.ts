import { FlatlineError } from "../../base/errors.ts";
import type { HealthcheckParameters } from "../../contract/platform-api.ts";
import { healthcheckName } from "../../contract/platform-healthcheck.ts";
import type { CheckName } from "../../contract/report.ts";
import { type CheckedOrganization, type CheckKind, scheduleOf, type AnyTarget } from "../kind.ts";

export interface HealthcheckSettings {
  readonly path: string;
  /** Cron pattern; null: the organization's. */
  readonly schedule: string | null;
  readonly parameters: HealthcheckParameters;
}

export interface HealthcheckTarget extends AnyTarget {
  readonly check: CheckName;
  readonly path: string;
  readonly parameters: HealthcheckParameters;
}

export function healthcheckTargets(
  organization: CheckedOrganization & { readonly healthchecks: readonly HealthcheckSettings[] },
): HealthcheckTarget[] {
  return organization.healthchecks.map(({ path, schedule, parameters }) => ({
    check: healthcheckName(path),
    slug: organization.slug,
    schedule: scheduleOf(organization, schedule),
    path,
    parameters,
  }));
}

/** The healthchecks of the platform that the configuration lists. flatline knows only the shape of their result. */
export const platformHealthcheck = {
  holdsGate: false,
  isSaidByFinding: true,
  isClosedFinding: () => true,
  // The platform evaluates as of now only.
  canLookBack: false,
  alertName: "FlatlineHealthcheck",
  back: "the platform finds nothing wrong any more",
  errorReasons: { api_not_found: "not_found" },
  run: async ({ slug, path, parameters }: HealthcheckTarget, run) => {
    const api = run.api();
    if (api.healthcheck === undefined)
      throw new FlatlineError("internal", `the healthcheck ${path} needs the platform's API, and this source has none`);
    return {
      result: await api.healthcheck({ path, slug, parameters }, { signal: run.signal }),
      baselineCoverage: null,
    };
  },
} as const satisfies CheckKind;
