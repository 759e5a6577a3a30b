import type { Actor } from "../../contract/actor.ts";
import type { FleetEvidence } from "../../contract/fleet/evidence.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { ResultReport } from "../../contract/report.ts";
import type { AlertHistoryEntry } from "../../store/alerts/alert-history.ts";
import type { AlertState, KeptAlert } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/comments.ts";
import type { JudgementEntry } from "../../store/alerts/judgements.ts";
import type { FleetState } from "../../alerting/view.ts";
import type { StoredResult } from "../../store/runs/history.ts";

/** A live alert with what the configuration that holds now says of its organization. */
export interface AlertSnapshot {
  /** When a receiver first accepted a message about it; null: none did. */
  readonly notifiedAtMs: number | null;
  readonly state: AlertState;
  /** What the last run of its check found; null: it gave no result or is stale, or the alert is over or not about a verdict. */
  readonly lastResult: ResultReport | null;
  readonly silenced: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Where a reader goes from here; null when there is nowhere. */
  readonly url: string | null;
}

/** An alert, live or ended, with all that people said of it. */
export interface AlertDetail extends AlertSnapshot {
  /** null while it lives. */
  readonly endsAtMs: number | null;
  /** Oldest first, what was withdrawn included. */
  readonly judgements: readonly JudgementEntry[];
  /** Its life as far as it is kept, oldest first. */
  readonly history: readonly AlertHistoryEntry[];
  /** Oldest first, those that came with acts included. */
  readonly comments: readonly AlertComment[];
  /** What a run found when it was at its worst, of one that is over; null: it lives, or nothing of it is kept. */
  readonly worstResult: StoredResult | null;
}

/** Everything that lives, and the fleet verdict while it lasts. */
export interface AlertsSnapshot {
  readonly alerts: readonly AlertSnapshot[];
  readonly fleet: FleetSnapshot | null;
}

/** The fleet verdict with what its members have in common. */
export interface FleetSnapshot extends FleetState {
  /** Until any receiver was sent it, it is forming. */
  readonly isSent: boolean;
  /** Organizations whose spike alert fires now. */
  readonly spiking: number;
  readonly evidence: FleetEvidence;
}

export interface AlertsPort {
  /** Firing before pending, then the oldest first. */
  list(): Promise<AlertsSnapshot>;
  /** Of those that live, or ended and are kept; in their order. */
  snapshots(kept: readonly KeptAlert[]): Promise<readonly AlertSnapshot[]>;
  /** The organization of one that lives, or ended and is kept; null: no such alert. */
  slugOf(id: string): Promise<string | null>;
  /** Those that live, or ended and are kept, whose id begins so, with their organizations: hexadecimal digits and hyphens only. */
  startingWith(prefix: string): Promise<readonly { readonly id: string; readonly slug: string }[]>;
  /** Quiet until resolved or worse. @throws FlatlineError not_found (no live alert), conflict (it does not fire yet) */
  acknowledge(id: string, author: Actor, comment: string | null, mayOpenGate: boolean): Promise<AlertSnapshot>;
  /** Takes an acknowledgement back. @throws FlatlineError not_found (no live alert), conflict (it is not acknowledged) */
  unacknowledge(id: string, author: Actor): Promise<AlertSnapshot>;
  /** Adds a comment. @throws FlatlineError not_found, conflict (it has too many) */
  comment(id: string, author: Actor, text: string): Promise<AlertComment>;
  /** Live, or ended and still kept; null: there is none. */
  find(id: string): Promise<AlertDetail | null>;
  /**
   * Says what it was; verdict null takes that back. @throws FlatlineError not_found, invalid_data, conflict (it is pending),
   * forbidden (it would open the gate)
   */
  judge(
    id: string,
    verdict: JudgementVerdict | null,
    said: { readonly author: Actor; readonly comment: string | null; readonly mayOpenGate: boolean },
  ): Promise<AlertDetail | null>;
}
