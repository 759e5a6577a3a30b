import type { Db } from "../tables.ts";

/** Someone who signed in on the page (CONTRACT 19). */
export interface StoredSession {
  /** SHA-256 of what the browser keeps, hex: the cookie itself is nowhere in the store. */
  readonly sha256: string;
  readonly tokenName: string;
  /** Proves which secret the token had; whoever reads the store cannot find out the secret with it. */
  readonly tokenProof: string;
  readonly personName: string;
  /** The browser keeps it when it is closed. */
  readonly isRemembered: boolean;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}

export interface SessionTables {
  readonly sessions: Omit<StoredSession, "isRemembered"> & { readonly isRemembered: number };
}

/** Creates the sessions over the table `sessions`. */
export function createSessionStore(db: Db) {
  return {
    add: async (session: StoredSession): Promise<void> => {
      const row = { ...session, isRemembered: session.isRemembered ? 1 : 0 };
      await db.insertInto("sessions").values(row).execute();
    },
    /** null: there is none, or it has ended. */
    bySha256: async (sha256: string): Promise<StoredSession | null> => {
      const row = await db.selectFrom("sessions").selectAll().where("sha256", "=", sha256).executeTakeFirst();
      return row === undefined ? null : { ...row, isRemembered: row.isRemembered === 1 };
    },
    /** Notes that it was used; a replica with a slower clock takes nothing back. */
    touch: async (sha256: string, atMs: number): Promise<void> => {
      await db
        .updateTable("sessions")
        .set({ lastUsedAtMs: atMs })
        .where("sha256", "=", sha256)
        .where("lastUsedAtMs", "<", atMs)
        .execute();
    },
    /** Ends it; false: it had ended before. */
    remove: async (sha256: string): Promise<boolean> => {
      const { numDeletedRows } = await db.deleteFrom("sessions").where("sha256", "=", sha256).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    /** Deletes those last used at or before `beforeMs`, and those of all tokens but these. */
    prune: async ({
      beforeMs,
      tokenNames,
    }: {
      readonly beforeMs: number;
      readonly tokenNames: readonly string[];
    }): Promise<void> => {
      const old = db.deleteFrom("sessions").where("lastUsedAtMs", "<=", beforeMs);
      await old.execute();
      const gone = db.deleteFrom("sessions");
      await (tokenNames.length === 0 ? gone : gone.where("tokenName", "not in", [...tokenNames])).execute();
    },
  };
}
