/** What is due when, the earliest first: a binary heap. */
export class DueQueue<Item> {
  readonly #heap: { readonly dueAtMs: number; readonly item: Item }[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** The earliest due time; null when nothing is in it. */
  nextAtMs(): number | null {
    return this.#heap[0]?.dueAtMs ?? null;
  }

  add(dueAtMs: number, item: Item): void {
    const heap = this.#heap;
    let at = heap.push({ dueAtMs, item }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Takes out the earliest. */
  take(): Item | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first?.item;
    heap[0] = last;
    for (let at = 0; ;) {
      // Without arrays for pairs: with 10,000 checks a run goes through twenty levels, and each array is garbage.
      const left = 2 * at + 1;
      const right = left + 1;
      const child = right < heap.length && this.#isBefore(right, left) ? right : left;
      if (child >= heap.length || !this.#isBefore(child, at)) return first.item;
      this.#swap(at, child);
      at = child;
    }
  }

  #isBefore(left: number, right: number): boolean {
    return (this.#heap[left]?.dueAtMs ?? Infinity) < (this.#heap[right]?.dueAtMs ?? Infinity);
  }

  #swap(left: number, right: number): void {
    const one = this.#heap[left];
    const other = this.#heap[right];
    if (one === undefined || other === undefined) return;
    this.#heap[left] = other;
    this.#heap[right] = one;
  }
}
