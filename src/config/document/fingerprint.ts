import { createHash } from "node:crypto";
import { resolve } from "node:path";

import { readDocument } from "./document.ts";
import { maxConfigBytes, readRegularFile } from "./files.ts";
import type { LoadOptions } from "../load.ts";

/**
 * Returns the absolute paths of the files whose content is the configuration: the file, and those that its `${file:…}` name.
 * Never rejects: a file that cannot be read names none.
 */
export async function configFiles({ path, cwd, env }: LoadOptions): Promise<readonly string[]> {
  const absolutePath = resolve(cwd, path);
  const bytes = await readBytes(absolutePath);
  if (bytes === null) return [absolutePath];
  const document = await readDocument({ file: absolutePath, absolutePath, bytes, environment: env });
  return [...new Set([absolutePath, ...document.files])];
}

/**
 * Returns a hash that changes with the content of the files, and when one appears or disappears. Content is compared, so that
 * mounted and symlinked files work. Never rejects: an unreadable file is a content of its own.
 */
export async function fingerprintFiles(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    const bytes = await readBytes(path);
    hash.update(`${path}\0${bytes?.length ?? "none"}\0`).update(bytes ?? new Uint8Array());
  }
  return hash.digest("hex");
}

async function readBytes(path: string): Promise<Uint8Array | null> {
  const content = await readRegularFile(path, maxConfigBytes);
  return content.kind === "content" ? content.bytes : null;
}
