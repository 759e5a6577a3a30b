import type { HeadlineFacts } from "../headline-facts.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckErrorReason, ObservedCounts } from "../../contract/report.ts";
import type { FleetEvidence } from "../../contract/fleet/evidence.ts";
import type { Severity } from "../../contract/severity.ts";
import type { IncidentSummary, worstMembers } from "../incident-summary.ts";
import type { Address } from "../../store/alerts/outbox.ts";
import type { FleetVerdict } from "../../store/alerts/incidents.ts";
import type { AlertPeak, Alert } from "../../store/alerts/alerts.ts";

/** What happened to an alert (CONTRACT 7). */
export type NoticeEvent =
  | "firing"
  | "escalated"
  | "deescalated"
  | "reminder"
  | "resolved"
  | "unknown"
  | "recovered"
  | "acknowledged"
  | "unacknowledged"
  | "judged"
  | "released"
  | "commented"
  | "test";

/** One of the assets that a notification names (CONTRACT 12). */
export interface SampledAsset {
  readonly asset: string;
  /** null: the event named none. */
  readonly assetType: string | null;
  readonly deadAtMs: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A change of one alert for one receiver. Times are epoch ms here, ISO 8601 in the payload. */
export interface AlertNotice extends Pick<
  Alert,
  "id" | "check" | "slug" | "kind" | "severity" | "startsAtMs" | "onset" | "incident" | "judgement"
> {
  readonly event: NoticeEvent;
  readonly status: Notification["status"];
  /**
   * The severity in the last notification to this receiver; ok before the first. It may differ from `severity` on
   * `resolved` too, when minSeverity or a silence hid a change: use it to find the labels to end.
   */
  readonly previousSeverity: Severity;
  readonly reason: string;
  readonly endsAtMs: number | null;
  readonly peak: AlertPeak | null;
  readonly notifiedAtMs?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
  readonly result: HealthcheckResult | null;
  readonly counts: ObservedCounts | null;
  readonly error: { readonly reason: CheckErrorReason; readonly message: string } | null;
  /** Set on the sample incident of `notify test --incident`, whose numbers are made up. */
  readonly isTest?: true;
  /** The name of the person who acknowledged it. */
  readonly acknowledgedBy?: string;
  readonly assetsUrl?: string;
  /** The URL of the assets to restore, in a judgement as `checker`. */
  readonly restoreUrl?: string;
  /** The end of this alert opened the gate of its organization. */
  readonly gateOpened?: true;
  readonly act?: NotifiedAct;
  /** Assets that died; in `firing` and `escalated` of a spike over stored events. */
  readonly sample?: readonly SampledAsset[];
}

/** An act, for receivers with `sendActs`. */
export interface NotifiedAct {
  /** null: a run did it. */
  readonly by: string | null;
  readonly comment: string | null;
  readonly atMs: number;
}

/** The fleet verdict (CONTRACT 7 and 15): totals only, never names. */
export interface FleetNotice extends Pick<FleetVerdict, "together" | "usual" | "probability" | "organizations"> {
  /** The id of the incident. */
  readonly id: string;
  readonly spiking: number;
  /** The organizations of `together` began within this time. */
  readonly withinMs: number;
  readonly assetTypes: readonly { readonly assetType: string; readonly count: number; readonly share: number }[];
  /** Median onset of the members, earlier markers and the share of reversed deaths; absent at its end. */
  readonly evidence?: FleetEvidence;
  /** Assets of alerts in this notification; absent: none. */
  readonly sample?: readonly SampledAsset[];
}

/** The incident of a notification (CONTRACT 15): totals of all members; `worst` from the receiver's part only. */
export interface IncidentNotice extends IncidentSummary {
  /** How many acknowledgements of the incident ended because it got worse. */
  readonly outlived: number;
  readonly worst: ReturnType<typeof worstMembers>;
  readonly headline: HeadlineFacts;
  /** Gates that opened with the changes in this notification. */
  readonly opened: number;
  readonly own: {
    readonly organizations: number;
    readonly firing: number;
    /** Organizations with a firing alert that is neither silenced nor acknowledged. */
    readonly toAcknowledge: number;
    /** The last error of an organization without a result; null unless the family is `unreachable`. */
    readonly lastError: string | null;
  };
}

/** A notification to one address, as the outbox stores it. Each attempt makes its words from this. */
export interface Notification extends Address {
  /** Stays the same over retries; also the `webhook-id`. */
  readonly id: string;
  readonly status: "firing" | "resolved";
  readonly severity: Severity;
  readonly generatedAtMs: number;
  readonly externalUrl: string | null;
  readonly fleet: FleetNotice | null;
  /** null: a test, or an act that changed no alert. */
  readonly incident: IncidentNotice | null;
  /** In order. Several changes of one alert are several entries with the same id. */
  readonly alerts: readonly AlertNotice[];
}
