import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";

/** A piece of an exposition: whole lines. */
export interface ExpositionPart {
  /** Its bytes, in order. They may change later: they are to be used within the same turn of the event loop. */
  readonly chunks: readonly Buffer[];
  /** Another object when the bytes are others; null for a part that is made anew each time. */
  readonly revision: object | null;
}

/** What of `Accept-Encoding` an exposition comes in. */
export type ExpositionEncoding = "identity" | "gzip";

const deflate = promisify(deflateRaw);
// Of the same content; a part's compression goes with its revision.
const compressed = new WeakMap<object, Promise<Buffer>>();
// RFC 1952: magic number, deflate, no flags, no time, fastest algorithm, Unix.
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
// RFC 1951: an empty last block.
const deflateEnd = Buffer.from([3, 0]);
const uint32Range = 2 ** 32;

/** A part that is made anew each time. */
export function textPart(text: string): ExpositionPart {
  return { chunks: [Buffer.from(text)], revision: null };
}

/** The body of an answer. Copies the parts before it answers, whatever changes them afterwards. */
export async function encodeParts(parts: readonly ExpositionPart[], encoding: ExpositionEncoding): Promise<Buffer> {
  return encoding === "gzip" ? gzipParts(parts) : Buffer.concat(parts.flatMap(({ chunks }) => chunks));
}

/**
 * One gzip member of all parts, each compressed on its own and on libuv's threads, so that one that has not changed since the
 * last scrape isn't compressed again. One member, because not every client reads a second one.
 */
async function gzipParts(parts: readonly ExpositionPart[]): Promise<Buffer> {
  let checksum = 0;
  let byteLength = 0;
  for (const chunk of parts.flatMap(({ chunks }) => chunks)) {
    checksum = crc32(chunk, checksum);
    byteLength += chunk.length;
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(checksum, 0);
  tail.writeUInt32LE(byteLength % uint32Range, 4);
  return Buffer.concat([gzipHead, ...(await Promise.all(parts.map(compressPart))), deflateEnd, tail]);
}

function compressPart({ chunks, revision }: ExpositionPart): Promise<Buffer> {
  const known = revision === null ? undefined : compressed.get(revision);
  if (known !== undefined) return known;
  // A copy: the bytes may change while another thread reads them. Flushed, not finished: the parts become one stream.
  const made = deflate(Buffer.concat(chunks), {
    level: constants.Z_BEST_SPEED,
    finishFlush: constants.Z_SYNC_FLUSH,
    chunkSize: chunkBytes,
  });
  if (revision !== null) compressed.set(revision, made);
  return made;
}

// Of the compressed side: series shrink to a twentieth, and each chunk is a round through the event loop.
const chunkBytes = 64 * 1_024;
