/** What the dialogs of the acts say, computed from what holds; the scripts read it. */
export interface ActFacts {
  readonly id: string;
  readonly slug: string;
  readonly count: number | null;
  readonly undone: number | null;
  /** So many were found alive again that they speak for the checker. */
  readonly isMuchUndone: boolean;
  readonly isHeld: boolean;
  readonly isJudged: boolean;
  readonly isEnded: boolean;
  readonly beganMs: number;
  readonly nowMs: number;
  readonly releaseOn: readonly string[];
  /** Whether reminders are sent. */
  readonly hasReminders: boolean;
  /** Receivers that would be notified next, and when, epoch ms. */
  readonly next: readonly { readonly name: string; readonly atMs: number }[];
}

/** An alert as the dialogs about many of them need it. */
export interface BulkSubject {
  readonly id: string;
  readonly slug: string;
  readonly severity: "ok" | "warn" | "fail" | "unknown";
  readonly group: "firing" | "acknowledged" | "pending" | "silenced" | "ended";
  readonly isAcknowledged: boolean;
  readonly verdict: "checker" | "real" | "expected" | null;
  /** Belongs to what a fleet verdict is about: the spike of an organization, which fires. */
  readonly isMember: boolean;
  readonly deaths: number | null;
  readonly undone: number | null;
  /** Its gate is shut. */
  readonly isHeld: boolean;
  /** What opens its gate, beside a release by hand. */
  readonly releaseOn: readonly string[];
  readonly hasReminders: boolean;
}
