/**
 * Values by the numbers of checks. These begin at 1 and leave few gaps, so that an array takes a tenth of a map's time, which
 * counts where thousands of checks are due in the same second.
 */
export class Column<Value> {
  readonly #values: (Value | undefined)[] = [];

  get(checkId: number): Value | undefined {
    return this.#values[checkId];
  }

  set(checkId: number, value: Value | undefined): void {
    // Without holes, which would be looked up in the prototype.
    while (this.#values.length <= checkId) this.#values.push(undefined);
    this.#values[checkId] = value;
  }

  clear(): void {
    this.#values.length = 0;
  }
}
