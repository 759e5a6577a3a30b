import type { StoredSession } from "../../store/acts/sessions.ts";

/** The sessions of who signed in on the page, in the store that all replicas share. */
export interface SessionsPort {
  /** null: there is none of this SHA-256. */
  find(sha256: string): Promise<StoredSession | null>;
  /** Notes that it was used. */
  touch(sha256: string, atMs: number): Promise<void>;
  /** Stores it, with its row of the audit. */
  begin(session: StoredSession): Promise<void>;
  /** Deletes it, with its row of the audit; nothing where it had ended before. */
  end(session: StoredSession, atMs: number): Promise<void>;
}
