import { readFile, stat } from "node:fs/promises";
import { FlatlineError } from "../base/errors.ts";

// Before it is read: what is longer than a string may be would fail in the middle.
const longestFileBytes = 256 * 1_024 * 1_024;

/** The text of a fixture's file; `name` is what messages call it. @throws no_input, too_large */
export async function readFixtureText(path: string, name: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= longestFileBytes) return await readFile(path, "utf8");
  } catch (error) {
    throw new FlatlineError("no_input", `${name}: ${reasonOf(error)}`, { cause: error });
  }
  throw new FlatlineError("too_large", `${name} is larger than ${longestFileBytes} bytes`);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { ENOENT: "no such file", EISDIR: "is a folder", EACCES: "permission denied" }[code] ?? error.message;
}
