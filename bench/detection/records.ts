import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { EventRecord } from "../../src/backtest/event-record.ts";
import { readEventFiles } from "../../src/cli/replay/event-records.ts";

/** The folder of the two lists whose past is replayed. */
export const recordsFolder = fileURLToPath(new URL("../../examples/records/", import.meta.url));

/** Their files in it. */
export const recordFiles = ["lightswitch.csv.gz", "riskhosts.csv.gz"];

/** Reads both lists. */
export async function readRecords(): Promise<readonly EventRecord[]> {
  const files = recordFiles.map((name) => join(recordsFolder, name));
  const { signal } = new AbortController();
  return [...(await readEventFiles({ files, signal, onProgress: () => undefined })).values()];
}
