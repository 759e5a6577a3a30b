import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { CheckName } from "../contract/report.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckKey } from "../store/runs/check-state.ts";
import type { Store } from "../store/store.ts";
import type { GatePolicy } from "./decide/gate.ts";
import type { Matcher, SilenceRule } from "../contract/silence.ts";

/** The times after which alerts of one (check, slug) fire, end and are repeated; milliseconds. */
export interface AlertPolicy {
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** Consecutive runs without a result until the alert of kind unknown fires, ≥ 1. */
  readonly unknownAfter: number;
  /** 0: never. */
  readonly repeatIntervalMs: number;
  /** Share (0–1) of the baseline that must lie after the first stored event; below it an alert stays pending. */
  readonly minBaselineCoverage: number;
}

/** A receiver that an organization names: notified at once, or, as an escalation, of what was not acknowledged by then. */
export interface RoutedReceiver {
  readonly name: string;
  /** The time since the transition to firing; 0: at once. */
  readonly afterMs: number;
}

/** What alerting knows of a (check, slug) by the configuration that holds now. */
export interface AlertTarget {
  readonly policy: AlertPolicy;
  readonly receivers: readonly RoutedReceiver[];
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
}

/** What one receiver wants to be notified of. */
export interface ReceiverRoute {
  readonly name: string;
  readonly minSeverity: "warn" | "fail";
  readonly sendResolved: boolean;
  /** Whether it is notified of alerts of kind unknown, whatever its minSeverity; the configuration says so unless that is fail. */
  readonly sendUnknown: boolean;
  readonly sendActs?: boolean;
  readonly sendComments?: boolean;
  /** Whether it shows an incident as a thread, which has news that others are not sent [it does not]. */
  readonly hasThreads?: boolean;
  /** Whether it calls people until the incident is acknowledged there, too, and so is told when it is here [it does not]. */
  readonly takesAcknowledgements?: boolean;
  readonly match: Matcher | null;
  readonly sample?: boolean;
  /** Each of them is sent a notification of its own; absent: the receiver is one. */
  readonly recipients?: readonly string[];
}

/** The part of the configuration that alerting works by; a reload replaces it as a whole. */
export interface AlertingSettings {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** What fires within this after the first alert of an incident joins it. */
  readonly incidentWithinMs: number;
  /** How many organizations of an incident must have begun together for a fleet verdict (CONTRACT 15); null: there is none. */
  readonly fleet: { readonly minOrganizations: number } | null;
  /** How many dead assets the notification of a fleet verdict names [none]. */
  readonly sample?: number;
  readonly externalUrl: string | null;
  readonly slugs: readonly string[];
  /** The host that is asked for results, or the type of a source of one's own. */
  readonly source: string;
  /** Whether the dead assets of an alert can be asked for here [they cannot]. */
  readonly hasAssets?: boolean;
  readonly receivers: readonly ReceiverRoute[];
  readonly silences: readonly SilenceRule[];
  /** null: it is not, or no longer, checked. */
  targetOf(check: CheckName, slug: string): AlertTarget | null;
  /** What releases the gate of an organization; by `defaults` where it is not, or no longer, configured. */
  gateOf(slug: string): GatePolicy;
  readonly isGateConfigured: boolean;
  /** Those that held until a reload replaced them; absent: there was none. */
  readonly before?: { readonly settings: Pick<AlertingSettings, "receivers" | "targetOf">; readonly untilMs: number };
}

/** What the shells of this room work with. */
export interface AlertingGround {
  readonly store: Store;
  readonly board: Board;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ids, unique over all time. */
  readonly newId: () => string;
  /** Returns those that hold now. */
  readonly settings: () => AlertingSettings;
}

/** Returns why the settings name this check no more; null: they do. The organization may still be there. */
export function removalReason(
  settings: AlertingSettings,
  { check, slug }: CheckKey,
): "organization_removed" | "check_removed" | null {
  if (settings.targetOf(check, slug) !== null) return null;
  // The one that every organization has.
  return settings.targetOf("dead-asset-spike", slug) !== null ? "check_removed" : "organization_removed";
}
