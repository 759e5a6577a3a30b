/** A silence that was made at run time (CONTRACT 7); those of the configuration are not stored. */
export interface StoredSilence {
  readonly id: string;
  /** A pattern: of one organization `literalPattern` of its slug. */
  readonly slug: string;
  /** A pattern; null matches every check. */
  readonly check: string | null;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly comment: string;
  readonly createdBy: string | null;
  /** What the request claims about its author; not verified. */
  readonly note: string | null;
  readonly createdAtMs: number;
}

/** A silence as requested. */
export type NewSilence = Omit<StoredSilence, "id" | "createdBy" | "note" | "createdAtMs">;

/** What of a silence is to be another. */
export type SilenceChange = Partial<Pick<StoredSilence, "endsAtMs" | "comment">>;

export interface SilenceStore {
  add(silence: StoredSilence): Promise<void>;
  /** Those that end after `atMs`, whether begun or not, in the order of their start. */
  endingAfter(atMs: number): Promise<readonly StoredSilence[]>;
  byId(id: string): Promise<StoredSilence | null>;
  /** Changes its end, its comment or both. False: no such silence, or it has ended. */
  change(id: string, change: SilenceChange, nowMs: number): Promise<boolean>;
  /** Ends it now; kept, so that what changed under it is still known. False: no such silence, or it has ended. */
  expire(id: string, nowMs: number): Promise<boolean>;
  /** Deletes those that ended at or before `beforeMs`. */
  prune(beforeMs: number): Promise<void>;
}
