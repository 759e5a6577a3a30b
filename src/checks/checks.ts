import type { z } from "zod";

import { checkNames, type CheckName } from "../contract/report.ts";
import { deadAssetSpike } from "./dead-asset-spike/dead-asset-spike.ts";
import { eventFlow } from "./event-flow/event-flow.ts";
import type { CheckedOrganization, CheckKind } from "./kind.ts";
import { regret } from "./regret/regret.ts";
import { reviewQueue } from "./review-queue/review-queue.ts";
import type { CheckSettings } from "./settings.ts";
import { sentinel } from "./sentinel/sentinel.ts";
import type { SpikeThresholds } from "./target.ts";

/** All kinds of checks. A new one is a folder, its name in contract/report.ts, and a line here. */
export const checkKinds = {
  "dead-asset-spike": deadAssetSpike,
  "review-queue": reviewQueue,
  sentinel,
  "event-flow": eventFlow,
  regret,
} as const satisfies Readonly<Record<CheckName, CheckKind>>;

type Kinds = typeof checkKinds;

type Configured = Extract<Kinds[CheckName], { readonly settings: CheckSettings }>["settings"];
/** The effective settings of checks, by their keys in the configuration. */
export type SettingsOfChecks = {
  readonly [Settings in Configured as Settings["key"]]: ReturnType<Settings["resolve"]>;
};
/** What the configuration has to say of an organization for any check. */
export interface OrganizationOfChecks extends CheckedOrganization, SettingsOfChecks {
  readonly thresholds: SpikeThresholds;
}
/** What the configuration says of them. */
export type SettingsShape = {
  readonly [Settings in Configured as Settings["key"]]: z.ZodOptional<Settings["schema"]>;
};

/** One check of one organization, with all that a run of it needs to know. */
export type CheckTarget = NonNullable<ReturnType<Kinds[CheckName]["targetOf"]>>;

/** Returns everything that depends on the kind. */
export function checkKind(name: CheckName): CheckKind {
  return checkKinds[name];
}

/** The keys of checks in the configuration. */
export const checkSettings: readonly (CheckSettings & { readonly key: keyof SettingsOfChecks })[] = Object.values(
  checkKinds,
).flatMap((kind) => ("settings" in kind ? [kind.settings] : []));

/** The checks whose failures hold the gate. */
export const gateChecks = checkNames.filter((name) => checkKinds[name].holdsGate);

/** Returns what is to be checked of an organization. */
export function targetsOf(organization: OrganizationOfChecks): CheckTarget[] {
  return checkNames.flatMap((name) => checkKinds[name].targetOf(organization) ?? []);
}
