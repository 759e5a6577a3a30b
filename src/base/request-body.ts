import type { IncomingMessage, ServerResponse } from "node:http";

import { FlatlineError } from "./errors.ts";

/**
 * Passes on the pieces of a request's body, as they arrive. Does not destroy the request, which would cost the client the answer.
 * @throws FlatlineError invalid_data when the client goes away before its end
 */
export async function* piecesOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw brokeOff(error);
  }
}

export interface ReceiveOptions {
  readonly mostBytes: number;
  /** Holds the body until its request has been answered. */
  readonly budget: ByteBudget;
}

/**
 * Reads the body of a request into one buffer.
 * @throws FlatlineError too_large, unavailable (of the budget), invalid_data (it broke off)
 */
export async function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  { mostBytes, budget }: ReceiveOptions,
): Promise<Buffer> {
  const held = budget.open();
  const block = createBlock(mostBytes, (count) => held.hold(count));
  try {
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw tooLarge(mostBytes);
    await passOn(request, (piece) => block.add(piece));
  } catch (error) {
    held.release();
    // The rest of the body is dropped, so that the client can end its request and read the answer.
    request.resume();
    throw error;
  }
  // A client may close the connection as soon as it has sent its body.
  if (response.closed) held.release();
  else response.once("close", () => held.release());
  const bytes = block.bytes();
  return Buffer.from(bytes.buffer, 0, bytes.length);
}

/** Calls `take` with each piece; as `piecesOf`, for bodies that are read at once: an iterator takes as long as the rest of a request. */
function passOn(request: IncomingMessage, take: (piece: Uint8Array) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown): void => reject(brokeOff(cause));
    // The request would emit no further event.
    if (request.destroyed) return fail();
    const onPiece = (piece: Uint8Array): void => {
      try {
        take(piece);
      } catch (error) {
        request.off("data", onPiece);
        reject(error);
      }
    };
    // Every request is closed in the end: no error with its stack is made for those that were read.
    const end = (): void => {
      request.off("close", fail);
      resolve();
    };
    request.on("data", onPiece).once("end", end).once("error", fail).once("close", fail);
  });
}

function brokeOff(cause: unknown): FlatlineError {
  return new FlatlineError("invalid_data", "the body broke off", { cause });
}

/** Copies pieces into one block of memory. @throws FlatlineError too_large */
export async function collectBytes(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mostBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const block = createBlock(mostBytes);
  for await (const piece of pieces) block.add(piece);
  return block.bytes();
}

// Most bodies are one piece.
const firstBytes = 1_024;

/**
 * Memory for pieces, at most twice as large as what it holds: pieces that are kept may be of one byte, and take some hundred
 * bytes each. `onBytes` is called before so many are added, and may throw.
 */
function createBlock(
  mostBytes: number,
  onBytes: (count: number) => void = () => undefined,
): { readonly add: (piece: Uint8Array) => void; readonly bytes: () => Uint8Array<ArrayBuffer> } {
  let block = new Uint8Array(0);
  let length = 0;
  return {
    add: (piece) => {
      if (length + piece.length > mostBytes) throw tooLarge(mostBytes);
      onBytes(piece.length);
      if (length + piece.length > block.length) {
        const grown = Math.min(mostBytes, Math.max(length + piece.length, 2 * block.length, firstBytes));
        block = new Uint8Array(block.buffer.transfer(grown));
      }
      block.set(piece, length);
      length += piece.length;
    },
    bytes: () => block.subarray(0, length),
  };
}

function tooLarge(mostBytes: number): FlatlineError {
  return new FlatlineError("too_large", `the body has more than ${mostBytes} bytes`);
}

/** Bounds how many bytes all of its holders have in memory at once. */
export interface ByteBudget {
  /** Opens an account, which holds nothing yet. */
  open(): HeldBytes;
  /** Returns a part of this budget: what is held of it is held of the whole, too, and leaves the rest of it to others. */
  part(mostBytes: number): ByteBudget;
}

/** What one holder has of a budget. */
export interface HeldBytes {
  /** Takes so many more. @throws FlatlineError unavailable when others hold what would be needed; nothing is taken then */
  hold(bytes: number): void;
  /** Gives all of them back. */
  release(): void;
}

interface Pool {
  readonly mostBytes: number;
  usedBytes: number;
}

/** Creates a budget of which nothing is held. */
export function createByteBudget(mostBytes: number): ByteBudget {
  return budgetOf([{ mostBytes, usedBytes: 0 }]);
}

function budgetOf(pools: readonly Pool[]): ByteBudget {
  return {
    open: () => {
      let heldBytes = 0;
      return {
        hold: (bytes) => {
          if (pools.some(({ mostBytes, usedBytes }) => usedBytes + bytes > mostBytes))
            throw new FlatlineError(
              "unavailable",
              "other requests hold all memory that bodies may take: try again later",
            );
          for (const pool of pools) pool.usedBytes += bytes;
          heldBytes += bytes;
        },
        release: () => {
          for (const pool of pools) pool.usedBytes -= heldBytes;
          heldBytes = 0;
        },
      };
    },
    part: (mostBytes) => budgetOf([...pools, { mostBytes, usedBytes: 0 }]),
  };
}
