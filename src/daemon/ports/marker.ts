import type { Clock } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import type { MarkersPort } from "../../web/ports/markers.ts";

export interface MarkerPortOptions {
  readonly store: Pick<Store, "markers" | "transaction">;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Called after a marker was made or deleted. */
  readonly onChange: () => void;
}

/** Markers as the HTTP server sees them. */
export function createMarkerPort({ store, clock, newId, onChange }: MarkerPortOptions): MarkersPort {
  return {
    between: (query) => store.markers.between(query),
    add: async (marker, author) => {
      const { name: createdBy, note } = author;
      const nowMs = clock.nowMs();
      const made = { ...marker, id: newId(), createdBy, note, createdAtMs: nowMs };
      const { id, slug, text, atMs } = made;
      await store.transaction(async ({ markers, audit }) => {
        await markers.add(made);
        const detail = { text, at: new Date(atMs).toISOString() };
        await audit.append({ atMs: nowMs, actor: author, action: "marker.create", slug, subject: id, detail });
      });
      onChange();
      return made;
    },
    byId: (id) => store.markers.byId(id),
    remove: async (id, author) => {
      const isRemoved = await store.transaction(async ({ markers, audit }) => {
        const marker = await markers.byId(id);
        if (marker === null || !(await markers.remove(id))) return false;
        const { slug, text } = marker;
        const detail = { text };
        await audit.append({ atMs: clock.nowMs(), actor: author, action: "marker.delete", slug, subject: id, detail });
        return true;
      });
      if (isRemoved) onChange();
      return isRemoved;
    },
  };
}
