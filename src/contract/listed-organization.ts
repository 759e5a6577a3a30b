import type { SpikeThresholds } from "../spike/thresholds.ts";

/** The fields of an organization in a discovery source's list (CONTRACT 14), and no others. */
export interface ListedOrganization {
  readonly slug: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly timezone?: string;
  /** A cron pattern. */
  readonly schedule?: string;
  /** The thresholds of the spike check that the list sets. */
  readonly thresholds?: Partial<SpikeThresholds>;
}

/** How a source of organizations stands (CONTRACT 14). */
export interface DiscoverySource {
  readonly name: string;
  /** Whether its last refresh gave a list. */
  readonly up: boolean;
  /** In the list that holds. */
  readonly organizations: number;
  /** null: it was not asked yet. */
  readonly refreshedAtMs: number | null;
  readonly problem: string | null;
  /** What the list that is held back would change; null: none is. */
  readonly held: { readonly reason: "empty" | "shrunk"; readonly added: number; readonly removed: number } | null;
}
