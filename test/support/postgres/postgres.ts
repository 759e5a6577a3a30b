import { inject } from "vitest";

import { Secret } from "../../../src/base/secret.ts";

/** A database of the run's PostgreSQL. */
export interface TestDatabase {
  readonly url: Secret;
  readonly drop: () => Promise<void>;
}

/**
 * A new database with flatline's tables, or an `empty` one, on a real PostgreSQL that this run of the tests shares;
 * `drop` ends the connections that are left.
 */
export async function createDatabase(content: "migrated" | "empty" = "migrated"): Promise<TestDatabase> {
  const url = await ask("POST", content === "empty" ? { empty: "" } : {});
  return {
    url: new Secret(url),
    drop: async () => {
      await ask("DELETE", { url });
    },
  };
}

async function ask(method: string, query: Record<string, string>): Promise<string> {
  const response = await fetch(`${inject("postgres")}?${new URLSearchParams(query).toString()}`, { method });
  const text = await response.text();
  if (!response.ok) throw new Error(`no PostgreSQL for this test: ${text}`);
  return text;
}
