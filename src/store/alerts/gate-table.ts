import type { GateStore } from "./gate.ts";
import type { Db } from "../schema.ts";

/** Releases of the gate, over the table `gate_releases`. */
export function createGateStore(db: Db): GateStore {
  return {
    addRelease: async ({ slug, atMs, by, comment }) => {
      const row = { slug, at_ms: atMs, how: "released", alert_id: null, released_by: by, comment };
      await db.insertInto("gate_releases").values(row).execute();
    },
    releases: async (slug, fromMs) => {
      const rows = await db
        .selectFrom("gate_releases")
        .select(["slug", "at_ms", "released_by", "comment"])
        .where("slug", "=", slug)
        .where("at_ms", ">=", fromMs)
        .orderBy("at_ms")
        .orderBy("release_id")
        .execute();
      return rows.map((row) => ({ slug: row.slug, atMs: row.at_ms, by: row.released_by, comment: row.comment }));
    },
    prune: async (beforeMs) => {
      await db.deleteFrom("gate_releases").where("at_ms", "<", beforeMs).execute();
    },
  };
}
