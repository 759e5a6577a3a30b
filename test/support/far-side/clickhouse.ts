import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { createClient } from "@clickhouse/client";

const installed = fileURLToPath(new URL("../../clickhouse/node_modules/chdb", import.meta.url));

/** Whether the engine is there: it is half a gigabyte, so CI installs it and a bare clone does not. */
export const clickhouse = existsSync(installed)
  ? { isMissing: false, note: "" }
  : {
      isMissing: true,
      note: "(skipped: no ClickHouse engine here; npm install --no-package-lock --prefix test/clickhouse installs it)",
    };

/** A ClickHouse of the test's own. */
export interface TestClickhouse {
  readonly url: string;
  /** Runs a statement that answers nothing, as the user who may do everything. */
  run(statement: string): Promise<void>;
  insert(table: string, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a real engine behind its HTTP interface. */
export async function startClickhouse(): Promise<TestClickhouse> {
  const bridge = spawn(process.execPath, [fileURLToPath(new URL("../../clickhouse/bridge.ts", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(bridge, "close");
  const url = await Promise.race([once(createInterface({ input: bridge.stdout }), "line"), closed]).then(String);
  const client = createClient({ url });
  return {
    url,
    run: async (query) => {
      await client.command({ query });
    },
    insert: async (table, rows) => {
      // As text: the bridge takes statements, no streams of rows.
      const values = rows.map((row) => JSON.stringify(row)).join("\n");
      await client.command({ query: `INSERT INTO ${table} FORMAT JSONEachRow ${values}` });
    },
    stop: async () => {
      await client.close();
      bridge.kill("SIGKILL");
      await closed;
    },
  };
}
