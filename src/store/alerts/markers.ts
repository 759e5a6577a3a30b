/** Something that people did at an instant and that may explain what began after it: a rollout, a deployment. */
export interface Marker {
  readonly id: string;
  readonly atMs: number;
  /** What was done, in a few words. */
  readonly text: string;
  /** The organization that it is about; null: all of them. */
  readonly slug: string | null;
  readonly createdBy: string | null;
  /** What the request claims about its author; not verified. */
  readonly note: string | null;
  readonly createdAtMs: number;
}

export interface MarkerStore {
  add(marker: Marker): Promise<void>;
  /** At or after `fromMs` and at or before `toMs`, oldest first; of one organization those that are about all, too. */
  between(query: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly slug?: string;
  }): Promise<readonly Marker[]>;
  byId(id: string): Promise<Marker | null>;
  /** False: there is none with this id. */
  remove(id: string): Promise<boolean>;
  /** Deletes those before `beforeMs`. */
  prune(beforeMs: number): Promise<void>;
}
