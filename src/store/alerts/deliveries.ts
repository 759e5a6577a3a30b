/** One attempt to notify a receiver, and its answer. */
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
  /** The organizations in the notification. */
  readonly slugs: readonly string[];
  /** The fleet verdict in the notification; null: none. */
  readonly fleetId: string | null;
}

/** An attempt to be stored. */
export interface NewDeliveryAttempt extends DeliveryAttempt {
  /** The alerts in the notification [none]. */
  readonly alertIds?: readonly string[];
}

/** When a receiver, or one of its recipients, first accepted something. */
export interface FirstAcceptance {
  readonly receiver: string;
  readonly recipient: string | null;
  readonly atMs: number;
}

export interface DeliveryStore {
  add(attempts: readonly NewDeliveryAttempt[]): Promise<void>;
  /** The latest attempts of one organization since `fromMs`, oldest first. */
  ofOrganization(query: {
    readonly slug: string;
    readonly fromMs: number;
    readonly limit: number;
  }): Promise<readonly DeliveryAttempt[]>;
  /** The last attempt of a receiver that was accepted, or the last that was not; null without one. */
  last(receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null>;
  /** The latest attempts of one receiver, or of all (null), newest first. */
  latest(query: { readonly receiver: string | null; readonly limit: number }): Promise<readonly DeliveryAttempt[]>;
  /** When any receiver first accepted a message about each of these alerts; those that none did are absent. */
  firstAccepted(alertIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The receivers that accepted a message about each of these alerts. */
  notifiedOf(alertIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** Who accepted a notification of this fleet verdict, and when each first did, in this order. */
  acceptedOfFleet(fleetId: string): Promise<readonly FirstAcceptance[]>;
  /** Deletes those at or before `beforeMs`, at most `maxRows` at a time. */
  prune(limits: { readonly beforeMs: number; readonly maxRows: number }): Promise<{ readonly hasMore: boolean }>;
}
