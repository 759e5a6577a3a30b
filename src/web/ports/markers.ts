import type { Actor } from "../../contract/actor.ts";
import type { Marker, MarkerStore } from "../../store/alerts/markers.ts";

export type NewMarker = Pick<Marker, "atMs" | "text" | "slug">;

/** Markers, with the acts of people on them. */
export interface MarkersPort extends Pick<MarkerStore, "between" | "byId"> {
  add(marker: NewMarker, author: Actor): Promise<Marker>;
  /** False: no such marker. */
  remove(id: string, author: Actor): Promise<boolean>;
}
