import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";

/** A piece of an exposition: whole lines. */
export interface ExpositionPart {
  readonly bytes: Buffer;
  /** Whether the next answer may have the same bytes: their compression is kept as long as they are. */
  readonly isKept: boolean;
}

/** What of `Accept-Encoding` an exposition comes in. */
export type ExpositionEncoding = "identity" | "gzip";

const deflate = promisify(deflateRaw);
const compressed = new WeakMap<Buffer, Promise<Buffer>>();
// RFC 1952: magic number, deflate, no flags, no time, fastest algorithm, Unix.
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
// RFC 1951: an empty last block.
const deflateEnd = Buffer.from([3, 0]);
const uint32Range = 2 ** 32;

/** Returns a part that is rendered at each scrape. */
export function textPart(text: string): ExpositionPart {
  return { bytes: Buffer.from(text), isKept: false };
}

/** The body of an answer, in pieces: to join those of ten thousand targets takes a third of a rendering. */
export type ExpositionBody = readonly Buffer[];

/** Returns the body of an answer. */
export async function encodeParts(
  parts: readonly ExpositionPart[],
  encoding: ExpositionEncoding,
): Promise<ExpositionBody> {
  return encoding === "gzip" ? gzipParts(parts) : parts.map(({ bytes }) => bytes);
}

/**
 * Compresses all parts into one gzip member, each on its own and on libuv's threads, so that an unchanged part is not
 * compressed again. It is one member, because not every client reads a second one.
 */
async function gzipParts(parts: readonly ExpositionPart[]): Promise<ExpositionBody> {
  let checksum = 0;
  let byteLength = 0;
  for (const { bytes } of parts) {
    checksum = crc32(bytes, checksum);
    byteLength += bytes.length;
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(checksum, 0);
  tail.writeUInt32LE(byteLength % uint32Range, 4);
  // The compressed parts have a twentieth of the bytes: they are joined and sent at once.
  return [Buffer.concat([gzipHead, ...(await Promise.all(parts.map(compressPart))), deflateEnd, tail])];
}

function compressPart({ bytes, isKept }: ExpositionPart): Promise<Buffer> {
  const known = compressed.get(bytes);
  if (known !== undefined) return known;
  // A part is flushed, not finished, because the parts become one stream.
  const made = deflate(bytes, {
    level: constants.Z_BEST_SPEED,
    finishFlush: constants.Z_SYNC_FLUSH,
    chunkSize: chunkBytes,
  });
  if (isKept) compressed.set(bytes, made);
  return made;
}

// Size of a compressed chunk. Series shrink to a twentieth, and each chunk is a round through the event loop.
const chunkBytes = 64 * 1_024;
