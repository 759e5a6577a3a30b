import { Secret } from "../base/secret.ts";
import type { Clock } from "../base/time.ts";
import type { TableSourceConfig } from "../config/config.ts";
import { createTableCounts, type TableCounts, type TableCountsOptions } from "../sources/table-counts.ts";

/** The connections to the user's tables, which outlive a reload as long as it does not change them. */
export type TableCountsBook = ReturnType<typeof createTableCountsBook>;

/** Makes an empty book; connections are made when first asked. */
export function createTableCountsBook(clock: Clock) {
  // The replaced source stays for the running checks; its idle connections close by themselves.
  const opened = new Map<string, TableCounts>();
  return {
    of: (source: TableSourceConfig, onRequest: TableCountsOptions["onRequest"]): TableCounts => {
      const key = keyOf(source);
      const known = opened.get(key) ?? createTableCounts(source, { clock, onRequest });
      opened.set(key, known);
      return known;
    },
    close: async (): Promise<void> => {
      await Promise.all([...opened.values()].map((counts) => counts.close()));
    },
  };
}

function keyOf(source: TableSourceConfig): string {
  const { concurrency: _concurrency, observedKeys: _observedKeys, ...connection } = source;
  return JSON.stringify(
    Object.entries(connection).map(([key, value]) => [key, value instanceof Secret ? value.reveal() : value]),
  );
}
