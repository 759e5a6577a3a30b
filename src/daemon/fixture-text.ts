import { readFile, stat } from "node:fs/promises";
import { FlatlineError } from "../base/errors.ts";
import { describeUnreadable } from "../base/file-error.ts";

// The size is checked before the file is read: a text that is longer than a string may be would fail in the middle.
const longestFileBytes = 256 * 1_024 * 1_024;

/** Reads the text of a fixture's file; `name` is what messages call it. @throws no_input, too_large */
export async function readFixtureText(path: string, name: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= longestFileBytes) return await readFile(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? describeUnreadable(error) : String(error);
    throw new FlatlineError("no_input", `${name}: ${reason}`, { cause: error });
  }
  throw new FlatlineError("too_large", `${name} is larger than ${longestFileBytes} bytes`);
}
