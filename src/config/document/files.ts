import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { buffer } from "node:stream/consumers";

import { FlatlineError, systemCodeOf } from "../../base/errors.ts";

/** Largest configuration file, enough for a hundred thousand organizations. */
export const maxConfigBytes = 32 * 1_024 * 1_024;

/** Largest file of a secret: a key, a URL or a PEM file. */
export const maxSecretBytes = 64 * 1_024;

/** Returns the text of a secret file without its last line ends. */
export function secretOf(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .replace(/[\r\n]+$/, "");
}

/** The content of a file, or the reason why it cannot be read: `does not exist`. */
export type FileContent =
  { readonly kind: "content"; readonly bytes: Buffer } | { readonly kind: "unreadable"; readonly reason: string };

/** Reads a regular file. Others are refused: a pipe may never end, and a read cannot be cancelled. */
export function readRegularFile(absolutePath: string, maxBytes: number): Promise<FileContent> {
  return read(absolutePath, maxBytes, true);
}

/** Reads a regular file or an open descriptor: `/dev/stdin`, or the `/dev/fd/63` of a shell's `<(command)`. */
export function readInputFile(absolutePath: string, maxBytes: number): Promise<FileContent> {
  return read(absolutePath, maxBytes, !/^\/(?:dev|proc)\//.test(absolutePath));
}

// Below the longest possible string.
const maxFixtureBytes = 256 * 1_024 * 1_024;

/** Reads a fixture; `name` is its name in messages. @throws no_input */
export async function readFixtureText(absolutePath: string, name: string): Promise<string> {
  const content = await readInputFile(absolutePath, maxFixtureBytes);
  if (content.kind === "content") return content.bytes.toString("utf8");
  throw new FlatlineError("no_input", `${name}: ${content.reason}`);
}

async function read(absolutePath: string, maxBytes: number, isRegular: boolean): Promise<FileContent> {
  // O_NONBLOCK: the open of a pipe without a writer returns at once.
  const flags = constants.O_RDONLY | (isRegular ? constants.O_NONBLOCK : 0);
  try {
    await using handle = await open(absolutePath, flags);
    const status = isRegular ? await handle.stat() : null;
    if (status?.isFile() === false) return unreadable(status.isDirectory() ? "EISDIR" : "ENXIO");
    // It may be a device without an end.
    const bytes = await buffer(handle.createReadStream({ end: maxBytes }));
    if (bytes.length > maxBytes) return { kind: "unreadable", reason: `is larger than ${maxBytes} bytes` };
    return { kind: "content", bytes };
  } catch (error) {
    return unreadable((error instanceof Error ? systemCodeOf(error) : "") || String(error));
  }
}

function unreadable(code: string): FileContent {
  return { kind: "unreadable", reason: reasons[code] ?? `cannot be read (${code})` };
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  // The code for a socket.
  ENXIO: "is not a regular file but a pipe, a socket or a device",
};
