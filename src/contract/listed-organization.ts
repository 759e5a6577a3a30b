import type { z } from "zod";

import type { SpikeThresholds } from "../spike/thresholds.ts";
import type { discoverySchema } from "./v1/status.ts";

/** The fields of an organization in a discovery source's list; others are errors (CONTRACT 14). */
export interface ListedOrganization {
  readonly slug: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly timezone?: string;
  readonly schedule?: string;
  readonly thresholds?: Partial<SpikeThresholds>;
}

/** A discovery source (CONTRACT 14). `up`: its last refresh gave a list; `organizations`: in the list that holds. */
export interface DiscoverySource extends Readonly<Omit<z.infer<typeof discoverySchema>, "refreshedAt">> {
  /** null: it was not asked yet. */
  readonly refreshedAtMs: number | null;
}
