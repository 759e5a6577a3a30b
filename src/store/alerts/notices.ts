import type { CheckName } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertKind } from "./alerts.ts";

/** What can happen to an alert once it fires. */
export type ChangeEvent = "firing" | "escalated" | "deescalated" | "resolved" | "unknown" | "recovered";

/** One change of an alert of which a receiver has yet to be notified; written with the alert's state. */
export interface AlertChange {
  /** Grows with every change of every alert. */
  readonly seq: number;
  readonly alertId: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  readonly atMs: number;
  readonly event: ChangeEvent;
  readonly severity: Severity;
  readonly reason: string;
}

/** A change to be stored. */
export interface NewAlertChange extends Omit<AlertChange, "seq"> {
  /** The alert as it was then (alerting/notify/snapshot.ts), as JSON. */
  readonly snapshot: string;
}

/** An act, or its consequence, of which receivers with `sendActs` are notified. */
export interface ActNotice {
  /** Grows with every act. */
  readonly seq: number;
  readonly slug: string;
  readonly atMs: number;
  /** What was done to which alerts (alerting/acts/act-notice.ts), as JSON. */
  readonly body: string;
}

/** What one receiver has been notified of about one alert; no row: nothing. */
export interface SentState {
  readonly receiver: string;
  readonly alertId: string;
  /** The last change that was sent; later ones wait. */
  readonly seq: number;
  readonly severity: Severity;
  /** When the last notification about it was formed; reminders count from here. */
  readonly sentAtMs: number;
  /** The resolved or recovered went out too; the row stays until every receiver is through. */
  readonly isEnded: boolean;
}

/** What the grouping keeps of one receiver. */
export interface ReceiverState {
  readonly receiver: string;
  /** When it was last notified of a new alert; null: never. */
  readonly lastNewAtMs: number | null;
  /** The fleet verdict that was last sent to it. */
  readonly sentFleetId: string | null;
  readonly lastFleetAtMs: number | null;
}

/** The fleet verdict: an alert of its own, over many organizations (CONTRACT 7). */
export interface FleetState {
  readonly id: string;
  readonly check: CheckName;
  readonly startsAtMs: number;
  readonly endsAtMs: number | null;
  readonly peakSpiking: number;
  /** Organizations with a result when the peak was seen. */
  readonly organizations: number;
}

export interface NoticeStore {
  /**
   * Waits until no other transaction forms notifications, in any process, and holds that until this one ends; the first thing
   * that a transaction does, so that it sees what the one before did.
   */
  takeTurn(): Promise<void>;
  appendChange(change: NewAlertChange): Promise<void>;
  /** All changes of which a receiver may have to be notified, in order. */
  changes(): Promise<readonly AlertChange[]>;
  /** The snapshots of these changes by seq; those that are gone are absent. */
  snapshots(seqs: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** The snapshot of the alert's last change, settled or not; null when it never changed. */
  lastSnapshot(alertId: string): Promise<string | null>;
  /** No receiver waits for the changes of these alerts: all are deleted but each one's last, which is kept for its snapshot. */
  settle(alertIds: readonly string[]): Promise<void>;
  /** Written in the transaction of the act. */
  appendAct(act: Omit<ActNotice, "seq">): Promise<void>;
  /** Acts of which no receiver was notified yet, in order. */
  acts(): Promise<readonly ActNotice[]>;
  forgetActs(seqs: readonly number[]): Promise<void>;
  sent(): Promise<readonly SentState[]>;
  /** Returns whether a receiver has been notified of an alert that has not been forgotten yet. */
  isSent(receiver: string, alertId: string): Promise<boolean>;
  saveSent(sent: readonly SentState[]): Promise<void>;
  /** These ended, and every receiver is through with them. */
  forgetAlerts(alertIds: readonly string[]): Promise<void>;
  /** Receivers that a reload removed: their notices are void. */
  forgetReceiversExcept(receivers: readonly string[]): Promise<void>;
  receiverStates(): Promise<readonly ReceiverState[]>;
  saveReceiverState(state: ReceiverState): Promise<void>;
  /** The fleet verdict that lasts; at most one a check. */
  liveFleet(check: CheckName): Promise<FleetState | null>;
  saveFleet(state: FleetState): Promise<void>;
  /** The latest ones, newest first. */
  fleets(limit: number): Promise<readonly FleetState[]>;
}
