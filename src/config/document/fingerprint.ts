import { createHash } from "node:crypto";
import { resolve } from "node:path";

import type { LoadOptions } from "../load.ts";
import { readDocument } from "./document.ts";
import { maxConfigBytes, readRegularFile } from "./files.ts";

/**
 * Returns the absolute paths of the files whose content is the configuration: the file, and those that its `${file:…}` name.
 * Never rejects: a file that cannot be read names none.
 */
export async function configFiles({ path, cwd, env }: LoadOptions): Promise<readonly string[]> {
  const absolutePath = resolve(cwd, path);
  const content = await readRegularFile(absolutePath, maxConfigBytes);
  if (content.kind === "unreadable") return [absolutePath];
  const { bytes } = content;
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
    const content = await readRegularFile(path, maxConfigBytes);
    if (content.kind === "unreadable") hash.update(`${path}\0none\0`);
    else hash.update(`${path}\0${content.bytes.length}\0`).update(content.bytes);
  }
  return hash.digest("hex");
}
