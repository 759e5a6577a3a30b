/** One attempt to tell a receiver of something, and what it answered. */
export interface DeliveryAttempt {
  readonly notificationId: string;
  readonly receiver: string;
  /** Who of its recipients it was for; null where the receiver is one. */
  readonly recipient: string | null;
  readonly atMs: number;
  readonly tookMs: number;
  readonly outcome: "accepted" | "retry" | "refused";
  /** What the receiver answered, in words without its address. */
  readonly detail: string;
  /** The organizations that it told of. */
  readonly slugs: readonly string[];
}

export interface DeliveryStore {
  add(attempts: readonly DeliveryAttempt[]): Promise<void>;
  /** The latest attempts of one organization since `fromMs`, oldest first. */
  ofOrganization(query: {
    readonly slug: string;
    readonly fromMs: number;
    readonly limit: number;
  }): Promise<readonly DeliveryAttempt[]>;
  /** The last attempt of a receiver that was accepted, or the last that was not; null without one. */
  last(receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null>;
  /** Deletes those at or before `beforeMs`, at most `maxRows` at a time. */
  prune(limits: { readonly beforeMs: number; readonly maxRows: number }): Promise<{ readonly hasMore: boolean }>;
}
