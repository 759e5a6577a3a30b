import type { Db } from "../schema.ts";

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

export interface SessionRow {
  readonly sha256: string;
  readonly token_name: string;
  readonly token_proof: string;
  readonly person_name: string;
  readonly is_remembered: number;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number;
}

/** Creates the sessions over the table `sessions`. */
export function createSessionStore(db: Db) {
  return {
    add: async (session: StoredSession): Promise<void> => {
      const row = {
        sha256: session.sha256,
        token_name: session.tokenName,
        token_proof: session.tokenProof,
        person_name: session.personName,
        is_remembered: session.isRemembered ? 1 : 0,
        created_at_ms: session.createdAtMs,
        last_used_at_ms: session.lastUsedAtMs,
      };
      await db.insertInto("sessions").values(row).execute();
    },
    /** null: there is none, or it has ended. */
    bySha256: async (sha256: string): Promise<StoredSession | null> => {
      const row = await db.selectFrom("sessions").selectAll().where("sha256", "=", sha256).executeTakeFirst();
      if (row === undefined) return null;
      return {
        sha256,
        tokenName: row.token_name,
        tokenProof: row.token_proof,
        personName: row.person_name,
        isRemembered: row.is_remembered === 1,
        createdAtMs: row.created_at_ms,
        lastUsedAtMs: row.last_used_at_ms,
      };
    },
    /** Notes that it was used; a replica with a slower clock takes nothing back. */
    touch: async (sha256: string, atMs: number): Promise<void> => {
      await db
        .updateTable("sessions")
        .set({ last_used_at_ms: atMs })
        .where("sha256", "=", sha256)
        .where("last_used_at_ms", "<", atMs)
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
      const old = db.deleteFrom("sessions").where("last_used_at_ms", "<=", beforeMs);
      await old.execute();
      const gone = db.deleteFrom("sessions");
      await (tokenNames.length === 0 ? gone : gone.where("token_name", "not in", [...tokenNames])).execute();
    },
  };
}
