/**
 * What may be so of something that people change: more than one value while an answer is awaited, when it was lost, and
 * when two were at it at once. Values are compared by their JSON.
 */
export class Possible<Value> {
  #settled: Map<string, Value>;
  /** What acts under way would make of it. */
  readonly #awaited = new Map<object, Value>();
  /** Acts under way amid which something else happened: the order is not known. */
  readonly #disturbed = new Set<object>();

  constructor(value: Value) {
    this.#settled = new Map([[JSON.stringify(value), value]]);
  }

  /** As it is without the act `except`. */
  values(except: object | null = null): Value[] {
    return [
      ...this.#settled.values(),
      ...[...this.#awaited].flatMap(([act, value]) => (act === except ? [] : [value])),
    ];
  }

  /** The only value; undefined: there are more. */
  get sure(): Value | undefined {
    return this.#awaited.size === 0 && this.#settled.size === 1 ? this.values()[0] : undefined;
  }

  /** An act is under way. */
  await(act: object, value: Value): void {
    for (const other of this.#awaited.keys()) this.#disturbed.add(other).add(act);
    this.#awaited.set(act, value);
  }

  /** It was done, and made this of it; or it was not; or nobody knows. */
  settle(act: object, outcome: "done" | "not" | "lost", value: Value): void {
    const before = this.#awaited.get(act);
    this.#awaited.delete(act);
    const isDisturbed = this.#disturbed.delete(act);
    if (outcome === "not") return;
    if (outcome === "done" && !isDisturbed) this.#settled.clear();
    for (const one of isDisturbed && before !== undefined ? [before, value] : [value]) this.#add(one);
  }

  /** Something happened, by no act, that changes it; or may have happened. */
  happen(change: (value: Value) => Value, isSure = true): void {
    for (const act of this.#awaited.keys()) this.#disturbed.add(act);
    const before = [...this.#settled.values()];
    if (isSure) this.#settled.clear();
    for (const value of before) this.#add(change(value));
  }

  /** It was seen. Returns whether that may be; if it may, the rest may no longer. */
  see(isSeen: (value: Value) => boolean): boolean {
    const seen = [...this.#settled].filter(([, value]) => isSeen(value));
    if (seen.length > 0 && this.#awaited.size === 0) this.#settled = new Map(seen);
    return this.values().some(isSeen);
  }

  #add(value: Value): void {
    this.#settled.set(JSON.stringify(value), value);
  }
}
