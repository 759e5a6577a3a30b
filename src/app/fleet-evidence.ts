import { secondMs, type Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";

export interface FleetEvidenceOptions {
  readonly store: Pick<Store, "alerts" | "notices">;
  readonly clock: Clock;
  /** When many organizations at once are a fleet verdict; null: never. */
  readonly fleet: { readonly minOrganizations: number; readonly ratio: number } | null;
  /** How many organizations are checked. */
  readonly organizations: number;
}

// In a fleet's outage every organization asks within the same seconds, and all alerts are read for an answer.
const rememberMs = 2 * secondMs;

/**
 * Whether many organizations spike at once: the fleet verdict holds, or with this one as many are not ok as it begins at. The
 * verdict itself is only given as a group of alerts is about to be told, after the first runs that saw it.
 */
export function createFleetEvidence(options: FleetEvidenceOptions): (slug: string) => Promise<boolean> {
  const { store, clock, fleet, organizations } = options;
  let known: { readonly atMs: number; readonly slugs: ReadonlySet<string> } | null = null;

  async function spikingSlugs(): Promise<ReadonlySet<string>> {
    const nowMs = clock.monotonicMs();
    if (known !== null && nowMs - known.atMs < rememberMs) return known.slugs;
    const alerts = await store.alerts.allLive();
    const spiking = alerts.filter(
      ({ check, kind, okSinceMs }) => check === "dead-asset-spike" && kind === "verdict" && okSinceMs === null,
    );
    known = { atMs: nowMs, slugs: new Set(spiking.map(({ slug }) => slug)) };
    return known.slugs;
  }

  return async (slug) => {
    if (fleet === null) return false;
    if ((await store.notices.liveFleet("dead-asset-spike")) !== null) return true;
    const spiking = new Set([...(await spikingSlugs()), slug]).size;
    return spiking >= fleet.minOrganizations && spiking >= fleet.ratio * organizations;
  };
}
