import type { Actor } from "../../contract/actor.ts";
import type { Marker } from "../../store/alerts/markers.ts";

export type NewMarker = Pick<Marker, "atMs" | "text" | "slug">;

export interface MarkersPort {
  /** Oldest first; of one organization those that are about all, too. */
  between(query: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly slug?: string;
  }): Promise<readonly Marker[]>;
  add(marker: NewMarker, author: Actor): Promise<Marker>;
  /** False: no such marker. */
  remove(id: string, author: Actor): Promise<boolean>;
  byId(id: string): Promise<Pick<Marker, "slug"> | null>;
}
