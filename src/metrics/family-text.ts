const nothing = Buffer.alloc(0);

/**
 * The text of one family: the lines of all targets, one after the other. Between two scrapes few of ten thousand targets
 * change, so what lies between them is copied in one piece.
 */
export class FamilyText {
  #bytes: Buffer = nothing;
  /** How many bytes the lines of each target have, by its index. */
  #lengths: number[] = [];
  readonly #changed = new Set<number>();

  /** Notes that the lines of a target have changed. */
  note(index: number): void {
    this.#changed.add(index);
  }

  /** Drops the text: targets have other indexes now. */
  clear(): void {
    this.#bytes = nothing;
    this.#lengths = [];
    this.#changed.clear();
  }

  /** Returns the text of `count` targets; the same buffer as before if nothing has changed. */
  join(count: number, linesOf: (index: number) => Buffer): Buffer {
    const lengths = this.#lengths;
    for (let index = lengths.length; index < count; index++) {
      lengths.push(0);
      this.#changed.add(index);
    }
    if (this.#changed.size === 0) return this.#bytes;
    const before = this.#bytes;
    const changed = [...this.#changed].sort((left, right) => left - right);
    let byteLength = before.length;
    for (const index of changed) byteLength += linesOf(index).length - (lengths[index] ?? 0);
    const text = Buffer.allocUnsafeSlow(byteLength);
    let read = 0;
    let written = 0;
    let next = 0;
    for (const index of changed) {
      const from = read;
      for (; next < index; next++) read += lengths[next] ?? 0;
      written += before.copy(text, written, from, read);
      const lines = linesOf(index);
      written += lines.copy(text, written);
      read += lengths[index] ?? 0;
      lengths[index] = lines.length;
      next = index + 1;
    }
    before.copy(text, written, read);
    this.#bytes = text;
    this.#changed.clear();
    return text;
  }
}
