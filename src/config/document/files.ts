import { open } from "node:fs/promises";

/** The content of a file; null when it holds more than `maxBytes`. Reads no further than that: it may be a device. */
export async function readBounded(absolutePath: string, maxBytes: number): Promise<Buffer | null> {
  const handle = await open(absolutePath, "r");
  try {
    const chunks: Buffer[] = [];
    let totalBytes = 0;
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, null);
      if (bytesRead === 0) return Buffer.concat(chunks);
      totalBytes += bytesRead;
      if (totalBytes > maxBytes) return null;
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** Why a file could not be read, to follow its name: `does not exist`, `cannot be read (EACCES)`. */
export function describeFileError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  if (code === "ENOENT") return "does not exist";
  return code === "EISDIR" ? "is a folder" : `cannot be read (${code})`;
}
