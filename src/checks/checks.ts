import type { z } from "zod";

import type { layer, Whole } from "../base/schema/section.ts";
import {
  checkErrorReasons,
  checkNames,
  isOwnCheck,
  type CheckErrorReason,
  type CheckName,
  type OwnCheckName,
} from "../contract/report.ts";
import { deadAssetSpike, spikeTarget, type SpikeTarget } from "./dead-asset-spike/dead-asset-spike.ts";
import { eventFlow, type EventFlowTarget } from "./event-flow/event-flow.ts";
import {
  healthcheckTargets,
  platformHealthcheck,
  type HealthcheckSettings,
  type HealthcheckTarget,
} from "./healthcheck/healthcheck.ts";
import {
  type CheckedOrganization,
  type CheckKind,
  type CheckSettings,
  scheduleOf,
  type SpikeThresholds,
} from "./kind.ts";
import { regret, type RegretTarget } from "./regret/regret.ts";
import { reviewQueue, type ReviewQueueTarget } from "./review-queue/review-queue.ts";
import { sentinel, type SentinelTarget } from "./sentinel/sentinel.ts";

/** The kinds of flatline's own checks. A new one is a folder, its name in contract/report.ts, and a line here. */
const ownKinds = {
  "dead-asset-spike": deadAssetSpike,
  "review-queue": reviewQueue,
  sentinel,
  "event-flow": eventFlow,
  regret,
} as const satisfies Readonly<Record<OwnCheckName, CheckKind>>;

type Configured = Extract<(typeof ownKinds)[OwnCheckName], { readonly settings: CheckSettings }>["settings"];
/** The effective settings of checks, by their keys in the configuration. */
export type SettingsOfChecks = {
  readonly [Of in Configured as Of["key"]]:
    Whole<Of["shape"]> | (Of extends { readonly switchedBy: string } ? never : null);
};
/** The part of an organization's configuration that checks need. */
export interface OrganizationOfChecks extends CheckedOrganization, SettingsOfChecks {
  readonly thresholds: SpikeThresholds;
  readonly healthchecks: readonly HealthcheckSettings[];
}
/** The schemas of their keys in the configuration. */
export type SettingsShape = {
  readonly [Of in Configured as Of["key"]]: z.ZodOptional<ReturnType<typeof layer<Of["shape"]>>>;
};

/** One check of one organization, with what a run needs. */
export type CheckTarget =
  SpikeTarget | ReviewQueueTarget | SentinelTarget | EventFlowTarget | RegretTarget | HealthcheckTarget;

export function isSpike(target: CheckTarget): target is SpikeTarget {
  return target.check === "dead-asset-spike";
}

/** Returns the kind of a check: one of flatline's own, else a healthcheck of the platform. */
export function checkKind(name: CheckName): CheckKind {
  return isOwnCheck(name) ? ownKinds[name] : platformHealthcheck;
}

/** Returns the reasons that a run of a check can have for no result; only some checks have `not_found`. */
export function errorReasonsOf(name: CheckName): readonly CheckErrorReason[] {
  const own: readonly CheckErrorReason[] = Object.values(checkKind(name).errorReasons ?? {});
  return checkErrorReasons.filter((reason) => reason !== "not_found" || own.includes(reason));
}

/** The keys of checks in the configuration. */
export const checkSettings = checkNames.flatMap(
  (check): (CheckSettings & { readonly key: keyof SettingsOfChecks; readonly check: OwnCheckName })[] => {
    const kind = ownKinds[check];
    return "settings" in kind ? [{ ...kind.settings, check }] : [];
  },
);

/** Returns whether written settings switch their check on. */
export function isSwitchedOn({ switchedBy }: CheckSettings, written: object): boolean {
  if (switchedBy === undefined) return true;
  const value = (written as Readonly<Record<string, unknown>>)[switchedBy];
  return Array.isArray(value) ? value.length > 0 : value === true;
}

/** The checks whose failures hold the gate. */
export const gateChecks = checkNames.filter((name) => ownKinds[name].holdsGate);

/** Returns the checks of an organization that are switched on. */
export function targetsOf(organization: OrganizationOfChecks): CheckTarget[] {
  const { slug, whenNoEvents } = organization;
  const switchedOn = checkSettings.flatMap(({ check, ...one }): CheckTarget[] => {
    const settings = organization[one.key] as { readonly schedule?: string } | null;
    if (settings === null || !isSwitchedOn(one, settings)) return [];
    const schedule = scheduleOf(organization, settings.schedule);
    return [{ check, slug, schedule, whenNoEvents, settings } as CheckTarget];
  });
  return [spikeTarget(organization), ...switchedOn, ...healthcheckTargets(organization)];
}
