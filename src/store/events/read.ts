import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, open, rm, stat, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { pipeline as copy } from "node:stream/promises";
import { createGunzip } from "node:zlib";

import { FlatlineError, systemCodeOf } from "../../base/errors.ts";
import type { Refusal } from "../../contract/refusals.ts";
import { readCsv } from "./csv.ts";
import { ItemReader, type Format } from "./items.ts";
import { isSpace, readJsonArray, readNdjson } from "./json.ts";
import { plainLayout, type EventLayout } from "./layout.ts";
import { createEventNames, type LivenessEvent, type Reading } from "./rules.ts";

/** A file of events, or a stream that can be read once; `name` is used in messages instead of the path. */
export type EventFile =
  | string
  | { readonly name: string; readonly path: string }
  | { readonly name: string; readonly stream: NodeJS.ReadableStream };

/** Bytes of events. */
export interface EventInput {
  /** The name in messages. */
  readonly name: string;
  /** Whether it is a body, which is NDJSON or a JSON array; a file may be CSV, too. */
  readonly isBody: boolean;
  readonly layout: EventLayout;
  /** Begins to read it. */
  readonly open: () => AsyncIterable<unknown> | Iterable<unknown>;
  readonly close: () => Promise<void>;
}

/** Maximum size of an import after decompression: tens of millions of events; stops gzip bombs. */
const mostInputBytes = 4 * 1_024 ** 3;
/** Enough to recognize the problem of a file. */
const mostIssues = 20;
/** CONTRACT 8. */
const mostBodyIssues = 10;

// Large enough for cheap reads, small enough that a chunk is parsed within a few milliseconds.
const chunkBytes = 32 * 1_024;
const nothing = Buffer.alloc(0);
const lineFeed = 0x0a;
const [hash, openingBracket, openingBrace] = [0x23, 0x5b, 0x7b];

/** Creates an input from a request body in memory. */
export function inputOfBody(body: Buffer, layout: EventLayout): EventInput {
  const chunks = function* (): Generator<Buffer> {
    for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
  };
  return { name: "body", isBody: true, layout, open: chunks, close: () => Promise.resolve() };
}

/**
 * Opens a file, or takes a stream; the signal ends it. A pipe or stream that is to be read twice is copied to a
 * temporary file.
 * @throws no_input if it cannot be opened, unavailable when the signal aborts
 */
export async function inputOfFile(
  file: EventFile,
  signal: AbortSignal,
  layout: EventLayout = plainLayout,
  isReadTwice = false,
): Promise<EventInput> {
  const name = typeof file === "string" ? file : file.name;
  const input = { name, isBody: false, layout };
  try {
    if (typeof file !== "string" && "stream" in file) {
      const stream = file.stream instanceof Readable ? file.stream : new Readable().wrap(file.stream);
      return await once(input, stream, signal, isReadTwice);
    }
    const path = typeof file === "string" ? file : file.path;
    if (!(await stat(path)).isFile()) return await once(input, createReadStream(path), signal, isReadTwice);
    const handle = await open(path);
    return { ...input, open: () => chunksOf(handle), close: () => handle.close() };
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Reads an open file from its beginning: its close would wait for a stream of Node's. */
async function* chunksOf(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function once(
  input: Omit<EventInput, "open" | "close">,
  stream: Readable,
  signal: AbortSignal,
  isReadTwice: boolean,
): Promise<EventInput> {
  // The first read throws an earlier error. Without the signal, a pipe whose writer is silent would block forever.
  addAbortSignal(
    signal,
    stream.on("error", () => undefined),
  );
  if (!isReadTwice) return { ...input, open: () => stream, close: async () => void stream.destroy() };
  const folder = await mkdtemp(join(tmpdir(), "flatline-import-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "input");
    await copy(stream, createWriteStream(path, { mode: 0o600 }));
    const copied = await inputOfFile({ name: input.name, path }, signal, input.layout);
    return { ...copied, close: () => copied.close().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Rows that are refused: nothing of their input is stored. */
export class RefusedEvents extends FlatlineError {
  /** The refused rows that were found, by reason. */
  readonly refused: Readonly<Partial<Record<Refusal, number>>>;

  constructor(message: string, issues: readonly string[], refused: RefusedEvents["refused"]) {
    super("invalid_data", message, { issues });
    this.refused = refused;
  }
}

/**
 * Reads inputs one after the other, calls `row` for each event, and awaits `onChunk` after each chunk. gzip is detected
 * by its magic bytes, JSON by its first character.
 * @throws invalid_data with up to 20 bad lines (a fault of a whole file is one), no_input, too_large,
 * unavailable when the signal aborts
 */
export async function readAll(
  inputs: readonly EventInput[],
  row: (event: LivenessEvent) => void,
  signal: AbortSignal,
  onChunk: () => Promise<void> | void = () => undefined,
): Promise<void> {
  const names = createEventNames();
  const issues: string[] = [];
  const refused: Partial<Record<Refusal, number>> = {};
  /** The place in `issues` of a fault of the whole file, and how many more lines have it. */
  let [ofFileAt, moreOfFile] = [-1, 0];
  const isBody = inputs.some((input) => input.isBody);
  const most = isBody ? mostBodyIssues : mostIssues;
  const readerOf = (input: EventInput, head: Buffer): ItemReader => {
    const format = formatOf(input, head, { names, layout: input.layout, row });
    return new ItemReader(format, (number, { message, refusal, isOfInput }) => {
      refused[refusal] = (refused[refusal] ?? 0) + 1;
      const isOfFile = isOfInput && !isBody;
      if (isOfFile && ofFileAt >= 0) moreOfFile++;
      else if (issues.length <= most) {
        if (isOfFile) ofFileAt = issues.length;
        issues.push(issues.length < most ? `${placeOf(input, format, number)}: ${message}` : "and maybe more");
      }
    });
  };
  let bytes = 0;
  for (const input of inputs) {
    let reader: ItemReader | null = null;
    for await (const chunk of bytesOf(input)) {
      bytes += chunk.length;
      if (bytes > mostInputBytes) {
        const tooLarge = `more than ${mostInputBytes} bytes after decompression; split it into several imports`;
        throw new FlatlineError("too_large", `${input.name}: ${tooLarge}`);
      }
      reader ??= readerOf(input, chunk);
      reader.push(chunk);
      if (signal.aborted) throw new FlatlineError("unavailable", "stopped");
      if (issues.length > most) break;
      await onChunk();
    }
    if (issues.length > most) break;
    (reader ?? readerOf(input, nothing)).push(nothing, true);
  }
  if (issues.length === 0) return;
  if (moreOfFile > 0 && ofFileAt < most) issues[ofFileAt] += `, and so ${moreOfFile} more`;
  const badRows = issues.length + moreOfFile;
  const count = issues.length > most ? `more than ${badRows - 1}` : String(badRows);
  const noun = `${isBody ? "event" : "line"}${badRows === 1 ? "" : "s"}`;
  throw new RefusedEvents(`nothing was stored: ${count} bad ${noun}`, isBody ? issues.slice(0, most) : issues, refused);
}

/** Yields the text of an input, without the byte order mark; the first chunk is long enough to tell its format. */
async function* bytesOf(input: EventInput): AsyncGenerator<Buffer> {
  let isFirst = true;
  try {
    for await (const chunk of withHead(decompressed(withHead(input.open(), 2)), chunkBytes)) {
      const hasMark = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
      isFirst = false;
      yield hasMark ? chunk.subarray(3) : chunk;
    }
  } catch (error) {
    throw unreadable(input.name, error);
  }
}

/** Yields the same bytes, the first time at least so many. */
async function* withHead(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
  leastBytes: number,
): AsyncGenerator<Buffer> {
  let head: Buffer | null = nothing;
  for await (const part of chunks) {
    const chunk = typeof part === "string" ? Buffer.from(part) : (part as Buffer);
    if (head !== null) head = Buffer.concat([head, chunk]);
    if (head !== null && head.length < leastBytes) continue;
    yield head ?? chunk;
    head = null;
  }
  if (head !== null && head.length > 0) yield head;
}

/** Unpacks gzip, which its first two bytes show; yields other bytes as they are. */
async function* decompressed(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await chunks.next();
  if (first.done === true) return;
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield first.value;
    yield* chunks;
  };
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* whole();
    return;
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  // An error of the stream destroys this one with it; the loop throws it.
  pipeline(Readable.from(whole(), { objectMode: false }), gunzip, () => undefined);
  yield* gunzip as AsyncIterable<Buffer>;
}

function placeOf({ name, isBody }: EventInput, { item }: Format, number: number): string {
  if (isBody) return `${item} ${number}`;
  return item === "line" ? `${name}:${number}` : `${name}: ${item} ${number}`;
}

function formatOf(input: EventInput, head: Buffer, reading: Reading): Format {
  const kind = otherKindOf(head);
  if (kind !== null) throw new FlatlineError("invalid_data", `${input.name}: is ${kind}`);
  const first = firstCharacter(head);
  if (first === openingBracket) return readJsonArray(reading);
  if (first === openingBrace || (input.isBody && first === undefined)) return readNdjson(reading);
  if (input.isBody) throw new FlatlineError("invalid_data", "the body is neither NDJSON nor a JSON array of events");
  return readCsv(reading);
}

/** Inputs that are no text of events, by how they begin (latin1). */
const otherKinds: readonly (readonly [beginning: string, kind: string])[] = [
  ["\u00ff\u00fe", "UTF-16; save it as UTF-8 (CSV UTF-8)"],
  ["\u00fe\u00ff", "UTF-16; save it as UTF-8 (CSV UTF-8)"],
  ["\u0028\u00b5\u002f\u00fd", "compressed by zstd; unpack it first (zstd -dc FILE), or use gzip"],
  ["BZh91AY&SY", "compressed by bzip2; unpack it first (bzip2 -dc FILE), or use gzip"],
  ["\u00fd7zXZ", "compressed by xz; unpack it first (xz -dc FILE), or use gzip"],
  ["PK\u0003\u0004", "a zip archive or a spreadsheet (.xlsx); save the sheet as CSV UTF-8"],
  ["\u00d0\u00cf\u0011\u00e0", "a spreadsheet (.xls); save the sheet as CSV UTF-8"],
  ["7z\u00bc\u00af", "compressed by 7-Zip; unpack it first, or use gzip"],
  ["PAR1", "Parquet; write it as CSV or NDJSON"],
];
const tarMarkAt = 257;

/** Returns what the bytes are, in words, if they are no text of events; null: they may be. */
function otherKindOf(head: Buffer): string | null {
  const bytes = head.subarray(0, chunkBytes).toString("latin1");
  const known = otherKinds.find(([beginning]) => bytes.startsWith(beginning));
  if (known !== undefined) return known[1];
  if (bytes.startsWith("ustar", tarMarkAt)) return "a tar archive; unpack it first";
  // UTF-16 without a mark: each second byte of Latin letters is 0.
  const isWide = [0, 1].some((odd) => [0, 2].every((at) => bytes[at + odd] === "\0" && bytes[at + 1 - odd] !== "\0"));
  return isWide ? "UTF-16; save it as UTF-8 (CSV UTF-8)" : null;
}

/** Returns the first non-blank byte behind comments; undefined without one. */
function firstCharacter(bytes: Buffer): number | undefined {
  for (let at = 0; at < bytes.length; at++) {
    if (isSpace(bytes[at])) continue;
    if (bytes[at] !== hash) return bytes[at];
    const end = bytes.indexOf(lineFeed, at);
    // A comment that is longer than all: CSV has them.
    if (end < 0) return hash;
    at = end;
  }
  return undefined;
}

function unreadable(name: string, error: unknown): unknown {
  if (error instanceof FlatlineError || !(error instanceof Error)) return error;
  if (error.name === "AbortError")
    return new FlatlineError("unavailable", `stopped while ${name} was read`, { cause: error });
  const code = systemCodeOf(error);
  if (code.startsWith("Z_"))
    return new FlatlineError("invalid_data", `${name}: broken gzip file: ${error.message}`, { cause: error });
  if (/^E[A-Z]+$/.test(code)) {
    return new FlatlineError("no_input", `${name}: ${reasons[code] ?? error.message}`, { cause: error });
  }
  return error;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "is a folder",
  EACCES: "permission denied",
};
