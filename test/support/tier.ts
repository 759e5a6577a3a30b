import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** How long random and repeated tests go on: at full length in the long tests, at night. */
    readonly length: "short" | "long";
    /** The databases that this tier of the tests is about (vitest.config.ts). */
    readonly engines: readonly ("SQLite" | "PostgreSQL" | "ClickHouse")[];
  }
}

/** Whether these are the long tests. */
export const isLong = inject("length") === "long";

/** Tells whether this tier of the tests is about a database. */
export function isTested(engine: "SQLite" | "PostgreSQL" | "ClickHouse"): boolean {
  return inject("engines").includes(engine);
}
