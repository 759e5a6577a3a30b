import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

import { dayMs } from "../../../src/base/time.ts";

export interface BulkEvents {
  readonly rows: number;
  readonly slugs: readonly string[];
  /** The newest; the others are spread evenly over the eight days before. */
  readonly untilMs: number;
  /** Ids are this and a number: another prefix is other content. */
  readonly idPrefix: string;
}

const rowsAWrite = 20_000;

/** Rows of CSV, without the header: deaths of URLs, in no order of time, each with an id. */
export function* bulkCsvRows({ rows, slugs, untilMs, idPrefix }: BulkEvents): Generator<string> {
  for (let row = 0; row < rows; row++) {
    // A prime: the rows are spread over the days without any order.
    const atMs = untilMs - Math.floor((((row * 7_919) % rows) / rows) * 8 * dayMs);
    yield `${atMs},${slugs[row % slugs.length] ?? ""},URL,asset-${row},DETECTED_AS_DEAD,${idPrefix}-${row}`;
  }
}

/** Writes them to a file, a part at a time: five million would not fit in memory. */
export async function writeBulkCsv(path: string, events: BulkEvents): Promise<void> {
  const file = createWriteStream(path);
  file.write("at,slug,assetType,asset,status,id\n");
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    const isFull = !file.write(lines.join(""));
    lines = [];
    if (isFull) await new Promise<void>((resolve) => file.once("drain", () => resolve()));
  };
  for (const line of bulkCsvRows(events)) {
    lines.push(`${line}\n`);
    if (lines.length === rowsAWrite) await flush();
  }
  await flush();
  file.end();
  await finished(file);
}
