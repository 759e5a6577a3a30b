/** The fields of an organization in a discovery source's list (CONTRACT 14), and no others. */
export interface ListedOrganization {
  readonly slug: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly timezone?: string;
  /** A cron pattern. */
  readonly schedule?: string;
  /** The thresholds of the spike check that the list sets. */
  readonly thresholds?: ListedThresholds;
}

export type ListedThresholds = Partial<
  Readonly<Record<"windowHours" | "baselineDays" | "warnMultiplier" | "failMultiplier" | "minSpikeCount", number>>
>;
