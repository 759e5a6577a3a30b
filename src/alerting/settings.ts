import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { CheckName } from "../contract/report.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckKey } from "../store/runs/check-state.ts";
import type { Store } from "../store/store.ts";
import type { GatePolicy } from "./decide/gate.ts";
import type { Matcher, SilenceRule } from "../contract/silence.ts";

/** When alerts of one (check, slug) fire, end and are repeated. */
export interface AlertPolicy {
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** The alert of kind unknown fires after so many consecutive runs without a result; ≥ 1. */
  readonly unknownAfter: number;
  /** 0: never. */
  readonly repeatIntervalMs: number;
  /** Share (0–1) of the baseline that must lie after the first stored event; below it an alert stays pending. */
  readonly minBaselineCoverage: number;
}

/** A receiver of an organization. It is notified at once, or later of what is not acknowledged (an escalation). */
export interface RoutedReceiver {
  readonly name: string;
  /** The time since the transition to firing; 0: at once. */
  readonly afterMs: number;
}

/** What the current configuration says about a (check, slug). */
export interface AlertTarget {
  readonly policy: AlertPolicy;
  readonly receivers: readonly RoutedReceiver[];
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
}

export interface ReceiverRoute {
  readonly name: string;
  readonly minSeverity: "warn" | "fail";
  readonly sendResolved: boolean;
  /** Notified of alerts of kind unknown whatever minSeverity is. Default: true unless minSeverity is fail. */
  readonly sendUnknown: boolean;
  readonly sendActs?: boolean;
  readonly sendComments?: boolean;
  /** It shows an incident as a thread, and so gets news that others do not [false]. */
  readonly hasThreads?: boolean;
  /** It calls people until its incident is acknowledged, so it must hear of acknowledgements made here [false]. */
  readonly takesAcknowledgements?: boolean;
  readonly match: Matcher | null;
  readonly sample?: boolean;
  /** Each recipient gets its own notification; absent: the receiver has only one. */
  readonly recipients?: readonly string[];
}

/** The configuration of alerting. A reload replaces all of it. */
export interface AlertingSettings {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** An alert joins an incident when it fires within this time after the incident's first alert. */
  readonly incidentWithinMs: number;
  /** A fleet verdict needs so many organizations that began together (CONTRACT 15); null: no fleet verdicts. */
  readonly fleet: { readonly minOrganizations: number } | null;
  /** A fleet verdict's notification names so many dead assets [0]. */
  readonly sample?: number;
  readonly externalUrl: string | null;
  readonly slugs: readonly string[];
  /** The host that gives the results, or the type of a custom source. */
  readonly source: string;
  /** flatline can list the dead assets of an alert [false]. */
  readonly hasAssets?: boolean;
  readonly receivers: readonly ReceiverRoute[];
  readonly silences: readonly SilenceRule[];
  /** null: the check is not configured (any more). */
  targetOf(check: CheckName, slug: string): AlertTarget | null;
  /** The organization's policy for its gate; the policy of `defaults` when it is not configured (any more). */
  gateOf(slug: string): GatePolicy;
  readonly isGateConfigured: boolean;
  /** The settings before the last reload; absent: there was no reload. */
  readonly before?: { readonly settings: Pick<AlertingSettings, "receivers" | "targetOf">; readonly untilMs: number };
}

export interface AlertingGround {
  readonly store: Store;
  readonly board: Board;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns an id that is unique over all time. */
  readonly newId: () => string;
  readonly settings: () => AlertingSettings;
}

/** Returns why the settings no longer name this check; null: they name it. */
export function removalReason(
  settings: AlertingSettings,
  { check, slug }: CheckKey,
): "organization_removed" | "check_removed" | null {
  if (settings.targetOf(check, slug) !== null) return null;
  // Every organization has this check.
  return settings.targetOf("dead-asset-spike", slug) !== null ? "check_removed" : "organization_removed";
}
