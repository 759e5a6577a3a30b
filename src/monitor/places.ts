/** Bounds how many tasks run at once; waiting tasks get a place in the order of asking, or before all others. */
export class Places {
  #count: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];
  #idlers: (() => void)[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  get free(): number {
    return Math.max(0, this.#count - this.#taken - this.#waiting.length);
  }

  /** Resolves when no place is taken. */
  async whenIdle(): Promise<void> {
    if (this.#taken > 0) await new Promise<void>((resolve) => this.#idlers.push(resolve));
  }

  resize(count: number): void {
    this.#count = count;
    this.#giveOut();
  }

  /** Resolves with a place, which `leave` gives back; rejects, without one, when the signal has aborted or aborts. */
  async take(isFirst: boolean, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#taken < this.#count && (isFirst || this.#waiting.length === 0)) {
      this.#taken++;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (isFirst) this.#waiting.unshift(resolve);
    else this.#waiting.push(resolve);
    const giveUp = (): void => {
      const at = this.#waiting.indexOf(resolve);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  leave(): void {
    this.#taken--;
    this.#giveOut();
    if (this.#taken > 0) return;
    for (const resolve of this.#idlers) resolve();
    this.#idlers = [];
  }

  #giveOut(): void {
    while (this.#taken < this.#count) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#taken++;
      next();
    }
  }
}
