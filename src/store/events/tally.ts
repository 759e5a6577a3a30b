/** The outcome of an import's events. */
export interface WriteTally {
  duplicates: number;
  /** Stored rows by status, for the metric. */
  readonly stored: Record<IngestedStatus, number>;
}

/** Label values of flatline_events_ingested_total (CONTRACT 6). */
export const ingestedStatuses = ["DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "other"] as const;
export type IngestedStatus = (typeof ingestedStatuses)[number];

export function createTally(): WriteTally {
  return { duplicates: 0, stored: { DETECTED_AS_DEAD: 0, DETECTED_AS_ALIVE: 0, other: 0 } };
}

export function ingestedStatus(status: string): IngestedStatus {
  return ingestedStatuses.find((known) => known === status) ?? "other";
}
