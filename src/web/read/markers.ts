import type { Actor } from "../../contract/actor.ts";
import type { Marker, MarkerStore } from "../../store/alerts/markers.ts";
import type { Running } from "./running.ts";

export type NewMarker = Pick<Marker, "atMs" | "text" | "slug">;

/** Markers, with the acts of people on them. */
export type MarkerReading = ReturnType<typeof createMarkerReading>;

/** Returns the markers over what runs. */
export function createMarkerReading({
  store,
  clock,
  newId,
  publish,
}: Pick<Running, "store" | "clock" | "newId" | "publish">) {
  return {
    between: (query: Parameters<MarkerStore["between"]>[0]) => store.markers.between(query),
    add: async (marker: NewMarker, author: Actor): Promise<Marker> => {
      const { name: createdBy, note } = author;
      const nowMs = clock.nowMs();
      const made = { ...marker, id: newId(), createdBy, note, createdAtMs: nowMs };
      const { id, slug, text, atMs } = made;
      await store.transaction(async ({ markers, audit }) => {
        await markers.add(made);
        const detail = { text, at: new Date(atMs).toISOString() };
        await audit.append({ atMs: nowMs, actor: author, action: "marker.create", slug, subject: id, detail });
      });
      publish();
      return made;
    },
    /** False: no such marker. */
    remove: async (id: string, author: Actor): Promise<boolean> => {
      const isRemoved = await store.transaction(async ({ markers, audit }) => {
        const marker = await markers.byId(id);
        if (marker === null || !(await markers.remove(id))) return false;
        const { slug, text } = marker;
        const detail = { text };
        await audit.append({ atMs: clock.nowMs(), actor: author, action: "marker.delete", slug, subject: id, detail });
        return true;
      });
      if (isRemoved) publish();
      return isRemoved;
    },
  };
}
