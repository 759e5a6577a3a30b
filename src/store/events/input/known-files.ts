import { FlatlineError } from "../../../base/errors.ts";
import type { CheckedFile } from "./check.ts";

/** Content that was imported before. */
export interface KnownFile {
  readonly name: string;
  readonly importedAtMs: number;
}

/**
 * Rejects content that was imported before and would count twice; `lookUp` finds the latest import of a content by its
 * SHA-256.
 * @throws already_imported
 */
export function refuseKnownFiles(
  files: readonly CheckedFile[],
  lookUp: (sha256: string) => KnownFile | undefined,
): void {
  const own = new Map<string, string>();
  for (const { sha256, name, rowsWithoutId } of files) {
    const same = own.get(sha256);
    own.set(sha256, name);
    if (rowsWithoutId === 0) continue;
    const before = lookUp(sha256);
    if (before === undefined && same === undefined) continue;
    const when =
      before === undefined
        ? `is the same as ${same ?? ""}`
        : `was imported as ${before.name} at ${new Date(before.importedAtMs).toISOString()}`;
    throw new FlatlineError(
      "already_imported",
      `${name}: ${when}, and its ${rowsWithoutId} rows without an id would count twice; nothing was imported (--again imports it nevertheless)`,
    );
  }
}
