/** The acts that a comment may come with. */
export type CommentedAct = "acknowledge" | "judgement" | "release";

/** A comment of a person on an alert. */
export interface AlertComment {
  readonly alertId: string;
  readonly slug: string;
  readonly atMs: number;
  readonly by: string;
  /** The author that the request names in addition; not authenticated. */
  readonly note: string | null;
  readonly text: string;
  /** The act that it came with; null: it came alone. */
  readonly act: CommentedAct | null;
}

/** Comments on alerts; append-only, kept as long as the alert. */
export interface CommentStore {
  append(comment: AlertComment): Promise<void>;
  /** Oldest first. */
  of(alertId: string): Promise<readonly AlertComment[]>;
  count(alertId: string): Promise<number>;
}
