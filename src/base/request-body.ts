import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import { FlatlineError } from "./errors.ts";

export interface BodyLimits {
  readonly mostBytes: number;
  /** Holds the body until the request is answered. */
  readonly budget: ByteBudget;
}

/** Reads the body into one buffer, held until the request is answered. @throws FlatlineError as readBody */
export async function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  { mostBytes, budget }: BodyLimits,
): Promise<Buffer> {
  const held = budget.open();
  response.on("close", held.release);
  try {
    const body = await readBody(request, mostBytes, held);
    // A client may close the connection after its body.
    if (response.closed) held.release();
    return body;
  } catch (error) {
    held.release();
    throw error;
  }
}

/**
 * Reads the body into one buffer. The caller releases `held`, also after an error.
 * @throws FlatlineError too_large, unavailable (the budget is full), invalid_data (the body broke off)
 */
export async function readBody(request: IncomingMessage, mostBytes: number, held: HeldBytes): Promise<Buffer> {
  try {
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw tooLarge(mostBytes);
    return await collect(request, mostBytes, held, "the body broke off");
  } catch (error) {
    // Drops the rest, so that the client can end its request and read the answer.
    request.resume();
    throw error;
  }
}

/** Unpacks a gzip body, and holds both bodies. @throws FlatlineError as readBody */
export async function unpackBody(packed: Buffer, mostBytes: number, held: HeldBytes): Promise<Buffer> {
  const gunzip = createGunzip();
  gunzip.end(packed);
  try {
    return await collect(gunzip, mostBytes, held, "the body is not gzip, or is incomplete");
  } finally {
    gunzip.destroy();
  }
}

/** Listens for pieces: an async iterator would take as long as the rest of a request. */
function collect(pieces: Readable, mostBytes: number, held: HeldBytes, problem: string): Promise<Buffer> {
  const block = createBlock(mostBytes);
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown): void => reject(new FlatlineError("invalid_data", problem, { cause }));
    // A destroyed request emits no further event.
    if (pieces.destroyed) return fail();
    const take = (piece: Uint8Array<ArrayBuffer>): void => {
      try {
        held.hold(piece.length);
        block.add(piece);
      } catch (error) {
        pieces.off("data", take);
        reject(error);
      }
    };
    // Every request closes in the end: without this, each close would create an error with its stack.
    const end = (): void => {
      pieces.off("close", fail);
      resolve(block.bytes());
    };
    pieces.on("data", take).on("end", end).on("error", fail).on("close", fail);
  });
}

/**
 * Creates memory for pieces, at most twice as large as its content: kept pieces may have one byte each, and take some
 * hundred bytes. Most bodies are one piece, which is kept as it is.
 */
export function createBlock(mostBytes: number) {
  let block = new Uint8Array(0);
  let length = 0;
  return {
    add: (piece: Uint8Array<ArrayBuffer>): void => {
      if (length + piece.length > mostBytes) throw tooLarge(mostBytes);
      if (length === 0) block = piece;
      else {
        if (length + piece.length > block.length) {
          const larger = new Uint8Array(Math.min(mostBytes, Math.max(length + piece.length, 2 * block.length)));
          larger.set(block);
          block = larger;
        }
        block.set(piece, length);
      }
      length += piece.length;
    },
    bytes: (): Buffer => Buffer.from(block.buffer, block.byteOffset, length),
  };
}

function tooLarge(mostBytes: number): FlatlineError {
  return new FlatlineError("too_large", `the body has more than ${mostBytes} bytes: send it in parts`);
}

/** Bounds the bytes that all holders have in memory at once. */
export interface ByteBudget {
  open(): HeldBytes;
  /** Returns a smaller budget within this one: its bytes count in both. */
  part(mostBytes: number): ByteBudget;
}

export interface HeldBytes {
  /** @throws FlatlineError unavailable if others hold too much; then it takes nothing */
  readonly hold: (bytes: number) => void;
  readonly release: () => void;
}

interface Pool {
  readonly mostBytes: number;
  usedBytes: number;
}

export function createByteBudget(mostBytes: number, whole: readonly Pool[] = []): ByteBudget {
  const pools = [...whole, { mostBytes, usedBytes: 0 }];
  return {
    open: () => {
      let heldBytes = 0;
      const take = (bytes: number): void => {
        for (const pool of pools) pool.usedBytes += bytes;
        heldBytes += bytes;
      };
      return {
        hold: (bytes) => {
          if (pools.some((pool) => pool.usedBytes + bytes > pool.mostBytes))
            throw new FlatlineError(
              "unavailable",
              "other requests hold all memory that bodies may take: try again later",
            );
          take(bytes);
        },
        release: () => take(-heldBytes),
      };
    },
    part: (partBytes) => createByteBudget(partBytes, pools),
  };
}
