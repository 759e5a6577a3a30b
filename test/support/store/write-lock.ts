import { DatabaseSync } from "node:sqlite";

/** Whether another connection holds the lock for writing to a database, which exists. */
export function isWriteLocked(path: string): boolean {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec("begin immediate");
    db.exec("rollback");
    return false;
  } catch {
    return true;
  } finally {
    db.close();
  }
}
