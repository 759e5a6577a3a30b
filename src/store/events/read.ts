import { isUtf8 } from "node:buffer";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, open, rm, stat, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAbortSignal, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

import { FlatlineError } from "../../base/errors.ts";
import { describeUnreadable, systemCodeOf } from "../../base/file-error.ts";
import type { Refusal } from "../../contract/refusals.ts";
import { CsvParser } from "./csv.ts";
import { isSpace, JsonArrayParser, NdjsonParser } from "./json.ts";
import { plainLayout, usualTimes, type EventLayout } from "./layout.ts";
import {
  createEventNames,
  longestLineBytes,
  type EventNames,
  type InputParser,
  type LineParser,
  type LivenessEvent,
  type RowSink,
} from "./rules.ts";

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
  readonly open: () => Readable;
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
const reading = { highWaterMark: chunkBytes };
// The mark of a tar archive ends at byte 262.
const headBytes = 512;
const lineFeed = 0x0a;
const [hash, openingBracket, openingBrace] = [0x23, 0x5b, 0x7b];
// With a carriage return and a line feed.
const lineEndBytes = 2;

/** Creates an input from a request body in memory. */
export function inputOfBody(body: Buffer, layout: EventLayout): EventInput {
  const chunks = function* (): Generator<Buffer> {
    for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
  };
  const opened = (): Readable => Readable.from(chunks(), { objectMode: false });
  return { name: "body", isBody: true, layout, open: opened, close: () => Promise.resolve() };
}

/** The layout of a post that arrived at `nowMs`. */
export function postLayout(nowMs: number): EventLayout {
  return { ...plainLayout, times: usualTimes(nowMs) };
}

/**
 * Opens a file, or takes a stream; the signal ends it. What is to be read twice and cannot be, as a pipe, is copied to a temporary
 * file.
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
  // Without the signal, a pipe whose writer is silent would block forever.
  const begun = (stream: Readable): Readable => {
    // An error before the first read is thrown by that read.
    stream.on("error", () => undefined);
    return addAbortSignal(signal, stream);
  };
  try {
    if (typeof file !== "string" && "stream" in file) {
      const stream = file.stream instanceof Readable ? file.stream : new Readable().wrap(file.stream);
      return await once(input, begun(stream), isReadTwice);
    }
    const path = typeof file === "string" ? file : file.path;
    if (!(await stat(path)).isFile()) return await once(input, begun(createReadStream(path, reading)), isReadTwice);
    const handle = await open(path);
    return {
      ...input,
      open: () => begun(Readable.from(chunksOf(handle), { objectMode: false })),
      close: () => handle.close(),
    };
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Reads an open file from its beginning: a stream of Node's would close it at its end. */
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
  isReadTwice: boolean,
): Promise<EventInput> {
  if (!isReadTwice) return { ...input, open: () => stream, close: async () => void stream.destroy() };
  const folder = await mkdtemp(join(tmpdir(), "flatline-import-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "input");
    await pipeline(stream, createWriteStream(path, { mode: 0o600 }));
    const copied = await inputOfFile({ name: input.name, path }, new AbortController().signal, input.layout);
    return { ...copied, close: () => copied.close().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface ReadOptions {
  readonly names: EventNames;
  readonly sink: {
    readonly row: RowSink["row"];
    /** `place` is a line, or an element of a JSON array, as people read it. */
    readonly problem: (place: string, reason: string, refusal?: Refusal) => void;
  };
  /** Maximum number of bytes after decompression. */
  readonly maxBytes: number;
}

/**
 * Reads an input: gzip is detected by its magic bytes, JSON by its first character. Yields after each chunk, when its rows
 * have been passed to the sink; returns the bytes after decompression.
 * @throws no_input, too_large, invalid_data for a broken gzip file, unavailable when the signal of a file aborts
 */
async function* readInput(input: EventInput, options: ReadOptions): AsyncGenerator<void, number> {
  let bytes = 0;
  let parser: InputParser | null = null;
  // The first bytes determine the format; they are kept until there are enough of them.
  let head: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of decompressed(input.open())) {
      bytes += chunk.length;
      if (bytes > options.maxBytes) {
        const most = `more than ${mostInputBytes} bytes after decompression; split it into several imports`;
        throw new FlatlineError("too_large", `${input.name}: ${most}`);
      }
      if (parser === null) {
        head = Buffer.concat([head, chunk]);
        parser = head.length < headBytes ? null : chooseParser(input, head, options);
        if (parser === null && head.length > chunkBytes)
          throw new FlatlineError("invalid_data", `${input.name}: begins with ${chunkBytes} blank characters`);
        parser?.push(withoutByteOrderMark(head));
      } else parser.push(chunk);
      yield;
    }
    if (parser === null && head.length > 0) {
      parser = chooseParser(input, head, options);
      parser?.push(withoutByteOrderMark(head));
    }
    if (parser !== null) parser.end();
    else if (!input.isBody) options.sink.problem(placeOf(input, 1, false), "is empty");
  } catch (error) {
    throw unreadable(input.name, error);
  }
  return bytes;
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
 * Reads inputs one after the other, calls `row` for each event, and awaits `onChunk` after each chunk.
 * @throws invalid_data with up to 20 bad lines, no_input, too_large, unavailable when the signal aborts
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
  const isBody = inputs.some((input) => input.isBody);
  const most = isBody ? mostBodyIssues : mostIssues;
  const problem: ReadOptions["sink"]["problem"] = (place, reason, refusal = "invalid") => {
    refused[refusal] = (refused[refusal] ?? 0) + 1;
    if (issues.length < most) issues.push(`${place}: ${reason}`);
    else if (issues.length === most) issues.push("and maybe more");
  };
  let bytes = 0;
  for (const input of inputs) {
    const reading = readInput(input, { names, sink: { row, problem }, maxBytes: mostInputBytes - bytes });
    let step = await reading.next();
    for (; step.done !== true && issues.length <= most; step = await reading.next()) {
      if (signal.aborted) throw new FlatlineError("unavailable", "stopped");
      await onChunk();
    }
    if (step.done !== true) {
      await reading.return(0);
      break;
    }
    bytes += step.value;
  }
  if (issues.length === 0) return;
  const count = issues.length > most ? `more than ${most}` : String(issues.length);
  const noun = `${isBody ? "event" : "line"}${issues.length === 1 ? "" : "s"}`;
  throw new RefusedEvents(`nothing was stored: ${count} bad ${noun}`, isBody ? issues.slice(0, most) : issues, refused);
}

/** Yields the content of a stream, decompressed if its first two bytes are gzip's. */
async function* decompressed(stream: Readable): AsyncGenerator<Buffer> {
  try {
    const chunks = bytesOf(stream);
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
    const packed = Readable.from(whole(), { objectMode: false });
    packed.on("error", (error) => gunzip.destroy(error));
    try {
      for await (const chunk of packed.pipe(gunzip)) yield chunk as Buffer;
    } finally {
      packed.destroy();
      gunzip.destroy();
    }
  } finally {
    stream.destroy();
  }
}

/** Yields chunks of at most some hundred kilobytes, at least two bytes in the first. */
async function* bytesOf(stream: Readable): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const part of stream) {
    const chunk = typeof part === "string" ? Buffer.from(part) : (part as Buffer);
    if (head !== null && head.length + chunk.length < 2) {
      head = Buffer.concat([head, chunk]);
      continue;
    }
    const given: Buffer = head === null || head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    head = null;
    for (let at = 0; at < given.length; at += chunkBytes) yield given.subarray(at, at + chunkBytes);
  }
  if (head !== null && head.length > 0) yield head;
}

/** Cuts bytes into lines. */
export class LineReader implements InputParser {
  readonly #parser: LineParser;
  #rest: Buffer = Buffer.alloc(0);
  #isStopped = false;

  constructor(parser: LineParser) {
    this.#parser = parser;
  }

  push(chunk: Buffer): void {
    if (this.#isStopped) return;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(lineFeed);
    this.#rest = Buffer.from(bytes.subarray(end + 1));
    if (end >= 0) this.#read(bytes.subarray(0, end));
    if (this.#isStopped || this.#rest.length <= longestLineBytes + lineEndBytes) return;
    this.#parser.tooLong();
    this.#isStopped = true;
  }

  end(): void {
    if (this.#isStopped) return;
    if (this.#rest.length > 0) this.#read(this.#rest);
    this.#parser.end();
  }

  #read(bytes: Buffer): void {
    const lines = bytes.toString("utf8").split("\n");
    const isText = isUtf8(bytes) ? () => true : textsOf(bytes);
    this.#isStopped = !this.#parser.lines(lines, isText);
  }
}

/** Returns which lines are valid UTF-8. */
function textsOf(bytes: Buffer): (index: number) => boolean {
  const areTexts: boolean[] = [];
  for (let start = 0; start <= bytes.length;) {
    const found = bytes.indexOf(lineFeed, start);
    const end = found < 0 ? bytes.length : found;
    areTexts.push(isUtf8(bytes.subarray(start, end)));
    start = end + 1;
  }
  return (index) => areTexts[index] === true;
}

function chooseParser(input: EventInput, head: Buffer, { names, sink }: ReadOptions): InputParser | null {
  const kind = otherKindOf(head);
  if (kind !== null) throw new FlatlineError("invalid_data", `${input.name}: is ${kind}`);
  const first = firstCharacter(withoutByteOrderMark(head));
  if (first === undefined) return null;
  const isArray = first === openingBracket;
  const rows: RowSink = {
    row: sink.row,
    problem: (line, reason, refusal) => sink.problem(placeOf(input, line, isArray), reason, refusal),
  };
  if (first === openingBrace) return new LineReader(new NdjsonParser(names, rows, input.layout));
  if (isArray) return new JsonArrayParser(names, rows, input.layout);
  if (input.isBody) throw new FlatlineError("invalid_data", "the body is neither NDJSON nor a JSON array of events");
  return new LineReader(new CsvParser(names, rows, input.layout));
}

function placeOf({ name, isBody }: EventInput, line: number, isArray: boolean): string {
  if (isBody) return `${isArray ? "event" : "line"} ${line}`;
  return isArray ? `${name}: event ${line}` : `${name}:${line}`;
}

/** What an input is that is no text of events, by how it begins (latin1). */
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

/** Returns what the bytes are that are no text of events, in words; null where they may be. */
function otherKindOf(head: Buffer): string | null {
  const bytes = head.subarray(0, headBytes).toString("latin1");
  const known = otherKinds.find(([beginning]) => bytes.startsWith(beginning));
  if (known !== undefined) return known[1];
  if (bytes.startsWith("ustar", tarMarkAt)) return "a tar archive; unpack it first";
  // Without a mark: each second byte of Latin letters is 0.
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

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function unreadable(name: string, error: unknown): unknown {
  if (error instanceof FlatlineError || !(error instanceof Error)) return error;
  if (error.name === "AbortError")
    return new FlatlineError("unavailable", `stopped while ${name} was read`, { cause: error });
  const code = systemCodeOf(error);
  if (code.startsWith("Z_"))
    return new FlatlineError("invalid_data", `${name}: broken gzip file: ${error.message}`, { cause: error });
  if (/^E[A-Z]+$/.test(code)) {
    return new FlatlineError("no_input", `${name}: ${describeUnreadable(error)}`, { cause: error });
  }
  return error;
}
