/** The rows that one step deletes of a table: at or before `beforeMs`, at most `maxRows` of them. */
export interface PruneLimits {
  readonly beforeMs: number;
  readonly maxRows: number;
}

/** Whether another step is needed. */
export interface Pruned {
  readonly hasMore: boolean;
}
