import { FlatlineError } from "../../base/errors.ts";

const firstBytes = 64;
const base = 0x80;
const doubleBytes = 8;

/** Appends numbers and texts to a growing buffer; integers are varints (LEB128), signed ones zigzag-encoded. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(firstBytes);
  #length = 0;

  /** Writes an integer from 0 to 2^53 − 1. */
  varint(value: number): void {
    this.#reserve(doubleBytes);
    let rest = value;
    while (rest >= base) {
      this.#bytes[this.#length++] = (rest % base) + base;
      rest = Math.floor(rest / base);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Writes an integer from −2^52 to 2^52. */
  signed(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  double(value: number): void {
    this.#reserve(doubleBytes);
    this.#bytes.writeDoubleLE(value, this.#length);
    this.#length += doubleBytes;
  }

  /** Writes a number or null, as the difference to the expected number if they are equal or both integers. */
  number(value: number | null, expected: number): void {
    if (value === null) this.varint(0);
    else if (Object.is(value, expected)) this.varint(firstDistance);
    else if (isNear(value, expected)) {
      const distance = value - expected;
      this.varint(firstDistance + (distance < 0 ? -2 * distance - 1 : 2 * distance));
    } else {
      this.varint(1);
      this.double(value);
    }
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#reserve(length);
    this.#bytes.write(value, this.#length);
    this.#length += length;
  }

  /** Returns a copy of the written bytes. */
  bytes(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + count));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Reads the output of a ByteWriter, in the same order. @throws FlatlineError store_unusable at the end of the bytes */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= base) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw cutShort();
      value += (byte % base) * factor;
      if (byte < base) return value;
    }
  }

  signed(): number {
    return unfold(this.varint());
  }

  double(): number {
    if (this.#at + doubleBytes > this.#bytes.length) throw cutShort();
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += doubleBytes;
    return value;
  }

  number(expected: number): number | null {
    const code = this.varint();
    if (code === 0) return null;
    if (code === firstDistance) return expected;
    return code === 1 ? this.double() : expected + unfold(code - firstDistance);
  }

  text(): string {
    const length = this.varint();
    if (this.#at + length > this.#bytes.length) throw cutShort();
    const value = this.#bytes.toString("utf8", this.#at, this.#at + length);
    this.#at += length;
    return value;
  }
}

/** Codes of `number`: 0 is null, 1 a double, larger ones a difference. */
const firstDistance = 2;
// A larger difference takes as many bytes as a double.
const farthest = 2 ** 45;

function isNear(value: number, expected: number): boolean {
  return (
    Number.isSafeInteger(value) &&
    Number.isSafeInteger(expected) &&
    Math.abs(value - expected) < farthest &&
    !Object.is(value, -0) &&
    !Object.is(expected, -0)
  );
}

function unfold(folded: number): number {
  return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
}

function cutShort(): FlatlineError {
  return new FlatlineError("store_unusable", "a row of the run journal is damaged; restore the store from a backup");
}
