import type { Db } from "../tables.ts";

/** The token by which somebody signed in. */
export interface TokenClaim {
  readonly tokenName: string;
  /** Proves which secret the token had; whoever reads the store cannot find out the secret with it. */
  readonly tokenProof: string;
}

/** Someone who signed in on the page (CONTRACT 13). */
export interface StoredSession extends TokenClaim {
  /** SHA-256 of what the browser keeps, hex: the cookie itself is nowhere in the store. */
  readonly sha256: string;
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
export function createSessionStore(db: Db<SessionTables>) {
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
    /** Notes that it was used; a clock that was set back takes nothing back. */
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
    /** The tokens of all sessions, each once for each secret that it had. */
    claims: async (): Promise<readonly TokenClaim[]> =>
      db.selectFrom("sessions").select(["tokenName", "tokenProof"]).distinct().execute(),
    /** Deletes those by this token and secret. */
    removeOf: async ({ tokenName, tokenProof }: TokenClaim): Promise<void> => {
      const gone = db.deleteFrom("sessions").where("tokenName", "=", tokenName).where("tokenProof", "=", tokenProof);
      await gone.execute();
    },
    /** Deletes those last used at or before `beforeMs`. */
    prune: async (beforeMs: number): Promise<void> => {
      await db.deleteFrom("sessions").where("lastUsedAtMs", "<=", beforeMs).execute();
    },
  };
}
