import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { createClient } from "@clickhouse/client";

import { startLineProcess } from "../program/line-process.ts";

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
  const bridge = startLineProcess("../clickhouse/bridge.ts", []);
  await bridge.untilLines(1);
  const [url = ""] = bridge.lines;
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
      await bridge.kill();
    },
  };
}
