import { isUtf8 } from "node:buffer";

import { BadRow } from "./layout.ts";

/** Maximum length of a line or an element of an array, in bytes: the longest asset, escaped, with a margin. */
export const longestItemBytes = 64 * 1_024;
const tooLong = `is longer than ${longestItemBytes} bytes`;
// A carriage return and a line feed.
const lineEndBytes = 2;
const lineFeed = 0x0a;

/** How an input is made of items: the lines of a text, or the elements of an array. */
export interface Format {
  /** What people call an item. */
  readonly item: "line" | "event";
  /** Passes on the whole items of some bytes, null for one that is not UTF-8; returns where the rest begins. */
  readonly cut: (bytes: Buffer, isEnd: boolean, take: (item: string | null) => void) => number;
  /** Reads an item; `number` counts from 1. @throws BadRow */
  readonly take: (item: string, number: number) => void;
  /** @throws BadRow */
  readonly end?: () => void;
}

/** Cuts bytes into lines. */
export const cutLines: Format["cut"] = (bytes, isEnd, take) => {
  const end = isEnd ? bytes.length : bytes.lastIndexOf(lineFeed);
  if (end < 0 || bytes.length === 0) return 0;
  const block = bytes.subarray(0, end);
  if (isUtf8(block)) for (const line of block.toString().split("\n")) take(line);
  else
    for (const line of block.toString("latin1").split("\n")) {
      const own = Buffer.from(line, "latin1");
      take(isUtf8(own) ? own.toString() : null);
    }
  return Math.min(end + 1, bytes.length);
};

/** Reads the items of a format, however they are cut into chunks. */
export class ItemReader {
  readonly #format: Format;
  readonly #problem: (number: number, error: BadRow) => void;
  #rest: Buffer = Buffer.alloc(0);
  #number = 0;
  #isOver = false;

  /** `problem` is called for each bad item. */
  constructor(format: Format, problem: (number: number, error: BadRow) => void) {
    this.#format = format;
    this.#problem = problem;
  }

  /** Takes the next bytes; with `isEnd` the last ones. */
  push(chunk: Buffer, isEnd = false): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#attempt(() => {
      const restAt = this.#format.cut(bytes, isEnd, (item) => this.#attempt(() => this.#take(item)));
      this.#rest = Buffer.from(bytes.subarray(restAt));
      if (this.#rest.length > longestItemBytes + lineEndBytes) throw new BadRow(tooLong).at(this.#number + 1).ending();
    });
    if (isEnd) this.#attempt(() => this.#format.end?.());
  }

  #take(item: string | null): void {
    this.#number++;
    if (item === null) throw new BadRow("is not valid UTF-8");
    if (item.length * 3 > longestItemBytes && Buffer.byteLength(item) > longestItemBytes) throw new BadRow(tooLong);
    this.#format.take(item, this.#number);
  }

  #attempt(work: () => void): void {
    if (this.#isOver) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      this.#isOver = error.endsInput;
      this.#problem(error.line ?? this.#number, error);
    }
  }
}
