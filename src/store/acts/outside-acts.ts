/** An act that came from outside under an id of its own: a link of a message, or an event of PagerDuty. */
export interface OutsideAct {
  readonly id: string;
  readonly via: "link" | "pagerduty";
  readonly alertId: string;
  /** When it was done there, by that side's clock. */
  readonly occurredAtMs: number;
  readonly atMs: number;
}

/** Acts that may arrive again, or late: each counts once. */
export interface OutsideActStore {
  /** Notes the act in the transaction that carries it out; false: it was noted before. */
  note(act: OutsideAct): Promise<boolean>;
  isNoted(via: OutsideAct["via"], id: string): Promise<boolean>;
  /** When the last act of that way on the alert was done there; null: there was none. */
  lastOccurredAtMs(via: OutsideAct["via"], alertId: string): Promise<number | null>;
  /** Deletes those noted before `beforeMs`. */
  prune(beforeMs: number): Promise<void>;
}
