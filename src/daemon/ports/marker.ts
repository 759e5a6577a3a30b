import type { Clock } from "../../base/time.ts";
import type { MarkerStore } from "../../store/alerts/markers.ts";
import type { MarkersPort } from "../../web/ports.ts";

export interface MarkerPortOptions {
  readonly markers: MarkerStore;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Told when a marker was made or deleted. */
  readonly onChange: () => void;
}

/** Markers as the HTTP server sees them. */
export function createMarkerPort({ markers, clock, newId, onChange }: MarkerPortOptions): MarkersPort {
  return {
    between: (query) => markers.between(query),
    add: async (marker) => {
      const made = { ...marker, id: newId(), createdAtMs: clock.nowMs() };
      await markers.add(made);
      onChange();
      return made;
    },
    remove: async (id) => {
      const isRemoved = await markers.remove(id);
      if (isRemoved) onChange();
      return isRemoved;
    },
  };
}
