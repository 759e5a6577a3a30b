/** Whether an alert holds its organization's gate: now, and after an act on it. */
export interface HoldFacts {
  /** Whether it questions deaths: others are not judged, and hold no gate. */
  readonly isOfGate: boolean;
  readonly now: boolean;
  readonly acknowledged: boolean;
  /** Judged as that. */
  readonly checker: boolean;
  readonly real: boolean;
  readonly expected: boolean;
  /** How many other alerts hold it. */
  readonly others: number;
}

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
  readonly hold: HoldFacts;
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
  /** An alert holds its gate. */
  readonly isHeld: boolean;
  /** What opens its gate, beside a release by hand. */
  readonly releaseOn: readonly string[];
  readonly hold: HoldFacts;
  readonly hasReminders: boolean;
}
