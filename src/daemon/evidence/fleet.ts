import { secondMs, type Clock } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";

export interface FleetEvidenceOptions {
  readonly store: Pick<Store, "alerts" | "incidents">;
  readonly clock: Clock;
  /** The bound from which many organizations at once are a fleet verdict; null: never. */
  readonly fleet: { readonly minOrganizations: number; readonly ratio: number | "auto" } | null;
  /** How many organizations are checked. */
  readonly organizations: number;
}

// During an outage of the fleet every organization asks within seconds, and an answer reads all alerts.
const rememberMs = 2 * secondMs;

/**
 * Creates the evidence of whether many organizations spike at once: the fleet verdict holds, or with this one as many are not ok as it begins at. The
 * verdict itself is only given as a group of alerts is about to be sent, after the first runs that saw it.
 */
export function createFleetEvidence(options: FleetEvidenceOptions): (slug: string) => Promise<boolean> {
  const { store, clock, fleet, organizations } = options;
  let known: { readonly atMs: number; readonly slugs: Set<string> } | null = null;

  const remembered = (): Set<string> | null =>
    known !== null && clock.monotonicMs() - known.atMs < rememberMs ? known.slugs : null;

  async function spikingSlugs(): Promise<Set<string>> {
    const before = remembered();
    if (before !== null) return before;
    const alerts = await store.alerts.allLive();
    // Another organization of the same round may have been faster, and may have added itself already.
    const meanwhile = remembered();
    if (meanwhile !== null) return meanwhile;
    const spiking = alerts.filter(
      ({ check, kind, okSinceMs }) => check === "dead-asset-spike" && kind === "verdict" && okSinceMs === null,
    );
    const slugs = new Set(spiking.map(({ slug }) => slug));
    known = { atMs: clock.monotonicMs(), slugs };
    return slugs;
  }

  return async (slug) => {
    // A number that is no chance has one cause, but it does not tell whether that is the checker (CONTRACT 15).
    if (fleet === null || fleet.ratio === "auto") return false;
    if ((await store.incidents.open()).some(({ verdict }) => verdict?.by === "ratio")) return true;
    // Only organizations that are not ok ask, and the remembered set learns of them: a round within two seconds has to see
    // its own spikes.
    const spiking = (await spikingSlugs()).add(slug);
    return spiking.size >= fleet.minOrganizations && spiking.size >= fleet.ratio * organizations;
  };
}
