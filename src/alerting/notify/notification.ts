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
  /** null: its event named none. */
  readonly assetType: string | null;
  readonly deadAtMs: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** One alert's change, as a receiver is notified of it. Times are epoch ms here and ISO 8601 in the payload. Absent is: none. */
export interface AlertNotice extends Pick<
  Alert,
  "id" | "check" | "slug" | "kind" | "severity" | "startsAtMs" | "onset" | "incident" | "judgement"
> {
  readonly event: NoticeEvent;
  readonly status: Notification["status"];
  /**
   * The severity of the last notification to this receiver: ok before the first. On `resolved` too, where it may differ from
   * `severity` when minSeverity or a silence kept a change from the receiver: labels to be ended are those of this one.
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
  /** Who had acknowledged it then, as a person reads it. */
  readonly acknowledgedBy?: string;
  readonly assetsUrl?: string;
  /** Where what its incident has to bring back can be asked for: in a judgement as `checker`. */
  readonly restoreUrl?: string;
  /** The gate of its organization opened with the end that this is. */
  readonly gateOpened?: true;
  readonly act?: NotifiedAct;
  /** Assets that died, in a `firing` or `escalated` one of a spike over stored events. */
  readonly sample?: readonly SampledAsset[];
}

/** An act that receivers with `sendActs` are notified of. */
export interface NotifiedAct {
  /** null: no person did, a run did. */
  readonly by: string | null;
  readonly comment: string | null;
  readonly atMs: number;
}

/** The fleet verdict (CONTRACT 7 and 15): totals only, never names. */
export interface FleetNotice extends Pick<FleetVerdict, "together" | "usual" | "probability" | "organizations"> {
  /** The incident's. */
  readonly id: string;
  readonly spiking: number;
  /** Within how long those began. */
  readonly withinMs: number;
  readonly assetTypes: readonly { readonly assetType: string; readonly count: number; readonly share: number }[];
  /** When it began, by the median of its members' onsets, the markers before, and the share of reversed deaths; absent at its end. */
  readonly evidence?: FleetEvidence;
  /** Assets of alerts in this notification; absent: none. */
  readonly sample?: readonly SampledAsset[];
}

/** The incident that a notification is about (CONTRACT 15): totals of all its members, carriers and the worst of the receiver's part. */
export interface IncidentNotice extends IncidentSummary {
  /** How many acknowledgements of it ended by themselves. */
  readonly outlived: number;
  readonly worst: ReturnType<typeof worstMembers>;
  readonly headline: HeadlineFacts;
  /** Gates that opened with what this notification tells. */
  readonly opened: number;
  readonly own: {
    readonly organizations: number;
    readonly firing: number;
    /** Organizations whose alerts a link of the incident acknowledges: those that fire. */
    readonly toAcknowledge: number;
    /** What the last organization without a result was answered; null but in `unreachable`. */
    readonly lastError: string | null;
  };
}

/** What one address is sent at once, as the outbox stores it: words are made of it at the attempt. */
export interface Notification extends Address {
  /** Stable over retries: also the `webhook-id`. */
  readonly id: string;
  readonly status: "firing" | "resolved";
  readonly severity: Severity;
  readonly generatedAtMs: number;
  readonly externalUrl: string | null;
  readonly fleet: FleetNotice | null;
  /** null: a test, or an act on no alert. */
  readonly incident: IncidentNotice | null;
  /** In order; changes of one alert within one group are several entries with the same id. */
  readonly alerts: readonly AlertNotice[];
}
