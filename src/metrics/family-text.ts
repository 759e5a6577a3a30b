const nothing = Buffer.alloc(0);

/**
 * The text of one family: the lines of all targets, one after the other. Between two scrapes few of ten thousand targets
 * change, so what lies between them is copied in one piece.
 */
export class FamilyText {
  #bytes: Buffer = nothing;
  /** Where the lines of each target end, by its index. */
  #ends: number[] = [];
  readonly #changed = new Set<number>();

  /** Notes that the lines of a target have changed. */
  note(index: number): void {
    this.#changed.add(index);
  }

  /** Drops the text: targets have other indexes now. */
  clear(): void {
    this.#bytes = nothing;
    this.#ends = [];
    this.#changed.clear();
  }

  /** Returns the text of `count` targets; the same buffer as before if nothing has changed. */
  join(count: number, linesOf: (index: number) => Buffer): Buffer {
    for (let index = this.#ends.length; index < count; index++) this.#changed.add(index);
    if (this.#changed.size === 0) return this.#bytes;
    const before = this.#bytes;
    const startOf = (index: number): number => (index === 0 ? 0 : (this.#ends[index - 1] ?? before.length));
    const endOf = (index: number): number => this.#ends[index] ?? before.length;
    const changed = [...this.#changed].sort((left, right) => left - right);
    let byteLength = before.length;
    for (const index of changed) byteLength += linesOf(index).length - (endOf(index) - startOf(index));
    const text = Buffer.allocUnsafeSlow(byteLength);
    let copied = 0;
    let end = 0;
    for (const index of changed) {
      end += before.copy(text, end, copied, startOf(index));
      end += linesOf(index).copy(text, end);
      copied = endOf(index);
    }
    before.copy(text, end, copied);
    this.#moveEnds(count, linesOf, before.length);
    this.#bytes = text;
    this.#changed.clear();
    return text;
  }

  #moveEnds(count: number, linesOf: (index: number) => Buffer, byteLength: number): void {
    let end = 0;
    let endBefore = 0;
    for (let index = 0; index < count; index++) {
      const known = this.#ends[index] ?? byteLength;
      end += this.#changed.has(index) ? linesOf(index).length : known - endBefore;
      endBefore = known;
      this.#ends[index] = end;
    }
  }
}
