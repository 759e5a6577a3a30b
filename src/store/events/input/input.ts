import { createHash, randomUUID } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { open, stat, unlink, type FileHandle } from "node:fs/promises";
import { addAbortSignal, Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import { FlatlineError } from "../../../base/errors.ts";
import { describeUnreadable, systemCodeOf } from "../../../base/file-error.ts";
import { CsvParser } from "./csv.ts";
import { JsonArrayParser, NdjsonParser } from "./json.ts";
import type { EventNames, RowParser, RowSink } from "./rows.ts";

/** A file of events, or a stream that can be read once; `name` is used in messages instead of the path. */
export type EventFile =
  | string
  | { readonly name: string; readonly path: string }
  | { readonly name: string; readonly stream: NodeJS.ReadableStream };

/** Bytes that can be read twice: to check and to store them. */
export interface EventInput {
  /** For messages. */
  readonly name: string;
  /** Formats a line for messages; lines count from 1. Lines of a JSON array are its elements. */
  locate(line: number): string;
  /** Whether a JSON array is accepted; files must be CSV or NDJSON, which are read as streams. */
  readonly allowsArray: boolean;
  open(): Readable;
  close(): Promise<void>;
}

/** Maximum size of an import after decompression: tens of millions of events; stops gzip bombs. */
export const mostInputBytes = 4 * 1_024 ** 3;

// Large enough for cheap reads, small enough that a chunk is parsed within a few milliseconds.
const chunkBytes = 128 * 1_024;

/** Creates an input from a request body in memory. */
export function inputOfBody(body: Buffer): EventInput {
  const isArray = firstCharacter(withoutByteOrderMark(body)) === 0x5b;
  const chunks = function* (): Generator<Buffer> {
    for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
  };
  return {
    name: "body",
    locate: (line) => `${isArray ? "event" : "line"} ${line}`,
    allowsArray: true,
    open: () => Readable.from(chunks(), { objectMode: false }),
    close: () => Promise.resolve(),
  };
}

/**
 * Makes a file readable twice. A stream or a pipe is first copied into `spoolFolder`, into a file that is unlinked at once,
 * so that nothing remains after a failure.
 * @throws no_input if it cannot be read, too_large for a stream of more than mostInputBytes, unavailable (signal)
 */
export async function inputOfFile(file: EventFile, spoolFolder: string, signal: AbortSignal): Promise<EventInput> {
  const name = typeof file === "string" ? file : file.name;
  try {
    if (typeof file !== "string" && "stream" in file) return await spool(name, file.stream, spoolFolder, signal);
    const path = typeof file === "string" ? file : file.path;
    if ((await stat(path)).isFile()) return inputOfHandle(name, await open(path, constants.O_RDONLY));
    return await spool(name, createReadStream(path), spoolFolder, signal);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function inputOfHandle(name: string, handle: FileHandle): EventInput {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for (let position = 0; ;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  };
  return {
    name,
    locate: (line) => `${name}:${line}`,
    allowsArray: false,
    open: () => Readable.from(chunks(), { objectMode: false, highWaterMark: chunkBytes }),
    close: () => handle.close(),
  };
}

async function spool(
  name: string,
  stream: NodeJS.ReadableStream,
  folder: string,
  signal: AbortSignal,
): Promise<EventInput> {
  const path = `${folder}/.flatline-input-${randomUUID()}`;
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await unlink(path);
    let bytes = 0;
    if (signal.aborted) throw stoppedReading(name);
    // Without the signal, a pipe whose writer is silent would block forever.
    for await (const chunk of stream instanceof Readable ? addAbortSignal(signal, stream) : stream) {
      const data = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      bytes += data.length;
      if (bytes > mostInputBytes) throw tooLarge(name);
      await handle.appendFile(data);
    }
    return inputOfHandle(name, handle);
  } catch (error) {
    await handle.close();
    throw signal.aborted ? stoppedReading(name, error) : error;
  }
}

export interface InputTotals {
  /** SHA-256 of the decompressed content. */
  readonly sha256: string;
  readonly bytes: number;
}

export interface ReadOptions {
  readonly names: EventNames;
  readonly sink: RowSink;
  /** Maximum number of bytes after decompression. */
  readonly maxBytes: number;
}

/**
 * Reads an input: gzip is detected by its magic bytes, NDJSON by its first character. Yields after each chunk, when its rows
 * have been passed to the sink; returns the content's hash.
 * @throws no_input, too_large, invalid_data for a broken gzip file
 */
export async function* readInput(input: EventInput, options: ReadOptions): AsyncGenerator<void, InputTotals> {
  const hash = createHash("sha256");
  let bytes = 0;
  let parser: RowParser | null = null;
  // The first bytes determine the format; they are kept until a non-blank character arrives.
  let head: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of decompressed(input)) {
      bytes += chunk.length;
      if (bytes > options.maxBytes) throw tooLarge(input.name);
      hash.update(chunk);
      if (parser === null) {
        head = Buffer.concat([head, chunk]);
        parser = chooseParser(input, head, options);
        if (parser === null && head.length > chunkBytes)
          throw new FlatlineError("invalid_data", `${input.name}: begins with ${chunkBytes} blank characters`);
        parser?.push(withoutByteOrderMark(head));
      } else parser.push(chunk);
      yield;
    }
    if (parser !== null) parser.end();
    else if (!input.allowsArray) options.sink.problem(1, "is empty");
  } catch (error) {
    throw unreadable(input.name, error);
  }
  return { sha256: hash.digest("hex"), bytes };
}

/** Yields the content of an input, decompressed if its first two bytes are gzip's. */
async function* decompressed(input: EventInput): AsyncGenerator<Buffer> {
  const source = input.open();
  try {
    const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await chunks.next();
    if (first.done === true) return;
    const whole = async function* (): AsyncGenerator<Buffer> {
      yield first.value;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    };
    if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
      yield* whole();
      return;
    }
    const gunzip = createGunzip({ chunkSize: chunkBytes });
    const packed = Readable.from(whole(), { objectMode: false });
    packed.on("error", (error) => gunzip.destroy(error));
    try {
      for await (const chunk of packed.pipe(gunzip)) yield chunk as Buffer;
    } finally {
      packed.destroy();
      gunzip.destroy();
    }
  } finally {
    source.destroy();
  }
}

function chooseParser(input: EventInput, head: Buffer, { names, sink }: ReadOptions): RowParser | null {
  const first = firstCharacter(withoutByteOrderMark(head));
  if (first === undefined) return null;
  if (first === 0x7b) return new NdjsonParser(names, sink);
  if (first === 0x5b && input.allowsArray) return new JsonArrayParser(names, sink);
  if (first === 0x5b)
    throw new FlatlineError(
      "invalid_data",
      `${input.name}:1: is a JSON array; write one object a line (NDJSON), or CSV`,
    );
  if (input.allowsArray)
    throw new FlatlineError("invalid_data", "the body is neither NDJSON nor a JSON array of events");
  return new CsvParser(names, sink);
}

/** Returns the first non-blank byte; undefined without one. */
function firstCharacter(bytes: Buffer): number | undefined {
  return bytes.find((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function stoppedReading(name: string, cause?: unknown): FlatlineError {
  return new FlatlineError("unavailable", `stopped while ${name} was read; nothing was stored`, { cause });
}

function tooLarge(name: string): FlatlineError {
  return new FlatlineError(
    "too_large",
    `${name}: more than ${mostInputBytes} bytes after decompression; split it into several imports`,
  );
}

function unreadable(name: string, error: unknown): unknown {
  if (error instanceof FlatlineError || !(error instanceof Error)) return error;
  const code = systemCodeOf(error);
  if (code.startsWith("Z_"))
    return new FlatlineError("invalid_data", `${name}: broken gzip file: ${error.message}`, { cause: error });
  if (code === "ENOSPC")
    return new FlatlineError("store_unusable", `${name}: no space left to copy the input`, { cause: error });
  if (/^E[A-Z]+$/.test(code)) {
    return new FlatlineError("no_input", `${name}: ${describeUnreadable(error)}`, { cause: error });
  }
  return error;
}
