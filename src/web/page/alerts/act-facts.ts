/** What the dialogs of the acts say, computed from what holds; the scripts read it. */
export interface ActFacts {
  readonly id: string;
  readonly slug: string;
  readonly count: number | null;
  readonly undone: number | null;
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
