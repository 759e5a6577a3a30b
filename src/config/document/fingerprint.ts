import { createHash } from "node:crypto";
import { resolve } from "node:path";

import { readDocument } from "./document.ts";
import { maxConfigBytes, readRegularFile } from "./files.ts";
import type { LoadOptions } from "../load.ts";
import { valueAt } from "./problems.ts";

/**
 * Returns a hash that changes with the content of the configuration and of its secret files, and when such a file appears or
 * disappears; for `run --watch`. Content is compared, so that mounted and symlinked files work. Never rejects: an unreadable
 * file is a content of its own.
 */
export async function configFingerprint({ path, cwd, env }: LoadOptions): Promise<string> {
  const hash = createHash("sha256");
  const add = async (absolutePath: string): Promise<Uint8Array> => {
    const content = await readRegularFile(absolutePath, maxConfigBytes);
    const bytes = content.kind === "content" ? content.bytes : new Uint8Array();
    hash.update(`${absolutePath}\0${content.kind === "content" ? bytes.length : "none"}\0`).update(bytes);
    return bytes;
  };
  const absolutePath = resolve(cwd, path);
  const document = readDocument({
    file: absolutePath,
    absolutePath,
    bytes: await add(absolutePath),
    environment: env,
  });
  const seen = new Set([absolutePath]);
  for (const leaf of document.isReadable ? document.leafPaths([]) : []) {
    const key = leaf.findLast((step) => typeof step === "string");
    const value = valueAt(document.value, leaf);
    if (typeof value !== "string" || key === undefined || !key.endsWith("File")) continue;
    const secretPath = resolve(document.folder, value);
    if (seen.has(secretPath)) continue;
    seen.add(secretPath);
    await add(secretPath);
  }
  return hash.digest("hex");
}
