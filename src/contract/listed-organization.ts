/** What a discovery source says of an organization (CONTRACT 14): these fields and nothing else. */
export interface ListedOrganization {
  readonly slug: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly timezone?: string;
  /** A cron pattern. */
  readonly schedule?: string;
  /** Those of the spike check that the list sets. */
  readonly thresholds?: ListedThresholds;
}

export type ListedThresholds = Partial<
  Readonly<Record<"windowHours" | "baselineDays" | "warnMultiplier" | "failMultiplier" | "minSpikeCount", number>>
>;
