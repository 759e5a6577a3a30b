import type { TestProject } from "vitest/node";

import { servePostgres } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where test processes ask for databases. */
    readonly postgres: string;
  }
}

/** One PostgreSQL for the whole run, started when the first test asks for a database, and ended with the run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const served = await servePostgres();
  project.provide("postgres", served.url);
  return () => served.stop();
}
