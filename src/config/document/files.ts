import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

import { systemCodeOf } from "../../base/file-error.ts";

/** Largest file of the configuration: a hundred thousand organizations as objects; a larger one was named by mistake. */
export const maxConfigBytes = 32 * 1_024 * 1_024;

/** Largest file of a secret: a key, a URL or a PEM file; a larger one was named by mistake. */
export const maxSecretBytes = 64 * 1_024;

/** Returns the text of a file that a command is given for a secret, without the line ends at its end. */
export function secretOf(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .replace(/[\r\n]+$/, "");
}

/**
 * The content of a file, or the reason why it cannot be read, to follow its name: `does not exist`, `is larger than 65536
 * bytes`.
 */
export type FileContent =
  { readonly kind: "content"; readonly bytes: Buffer } | { readonly kind: "unreadable"; readonly reason: string };

/**
 * Reads a regular file, or the target of a link, up to `maxBytes`. Others are refused: a pipe may never end, and the read
 * cannot be cancelled.
 */
export function readRegularFile(absolutePath: string, maxBytes: number): Promise<FileContent> {
  // With O_NONBLOCK the open of a pipe without a writer returns at once; regular files are not affected.
  return read(absolutePath, constants.O_RDONLY | constants.O_NONBLOCK, async (handle) => {
    const status = await handle.stat();
    if (status.isDirectory()) return { kind: "unreadable", reason: "is a folder" };
    if (!status.isFile())
      return { kind: "unreadable", reason: "is not a regular file but a pipe, a socket or a device" };
    return readBounded(handle, maxBytes);
  });
}

/** Like readRegularFile, but also reads open descriptors: `/dev/stdin`, or the `/dev/fd/63` of a shell's `<(command)`. */
export function readInputFile(absolutePath: string, maxBytes: number): Promise<FileContent> {
  if (!/^\/(?:dev|proc)\//.test(absolutePath)) return readRegularFile(absolutePath, maxBytes);
  return read(absolutePath, constants.O_RDONLY, (handle) => readBounded(handle, maxBytes));
}

async function read(
  absolutePath: string,
  flags: number,
  readHandle: (handle: FileHandle) => Promise<FileContent>,
): Promise<FileContent> {
  try {
    const handle = await open(absolutePath, flags);
    try {
      return await readHandle(handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { kind: "unreadable", reason: describeUnreadable(error) };
  }
}

/** Reads at most `maxBytes`: it may be a device. */
async function readBounded(handle: FileHandle, maxBytes: number): Promise<FileContent> {
  const chunks: Buffer[] = [];
  let totalBytes = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, null);
    if (bytesRead === 0) return { kind: "content", bytes: Buffer.concat(chunks) };
    totalBytes += bytesRead;
    if (totalBytes > maxBytes) return { kind: "unreadable", reason: `is larger than ${maxBytes} bytes` };
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

function describeUnreadable(error: unknown): string {
  const code = error instanceof Error ? systemCodeOf(error) : "";
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "does not exist",
    EISDIR: "is a folder",
    // The code for a socket.
    ENXIO: "is not a regular file but a pipe, a socket or a device",
  };
  return reasons[code] ?? `cannot be read (${code === "" ? String(error) : code})`;
}
