/** An asset as events name it: a type and a content. A `PAGE` and the `URL` of its content are two. */
export interface AssetName {
  /** Number of its type among what is read together; `noType` where the event says none. */
  readonly typeId: number;
  readonly asset: string;
}

/** One event of an asset: a death, or a look that found it alive. */
export interface AssetLook extends AssetName {
  readonly atMs: number;
  readonly isDeath: boolean;
  /** How many deaths it stands for; 0: none. */
  readonly count: number;
}

export const noType = 0;

/** Returns whether an event of a type may be of an asset of another: of its own, and where one of the two is not said. */
export function isSameType(left: number, right: number): boolean {
  return left === right || left === noType || right === noType;
}

/** What is known of assets, each by its name. */
export class AssetBook<Value> {
  // The outer map is by type, of which there are few.
  readonly #byType = new Map<number, Map<string, Value>>();

  get size(): number {
    let size = 0;
    for (const values of this.#byType.values()) size += values.size;
    return size;
  }

  get({ typeId, asset }: AssetName): Value | undefined {
    return this.#byType.get(typeId)?.get(asset);
  }

  set({ typeId, asset }: AssetName, value: Value): void {
    const known = this.#byType.get(typeId);
    if (known === undefined) this.#byType.set(typeId, new Map([[asset, value]]));
    else known.set(asset, value);
  }

  delete({ typeId, asset }: AssetName): void {
    this.#byType.get(typeId)?.delete(asset);
  }

  /** Returns those that an event of this name is about: one without a type is about every asset of its content. */
  meant({ typeId, asset }: AssetName): (readonly [AssetName, Value])[] {
    return [...this.#byType].flatMap(([known, values]) => {
      const value = isSameType(known, typeId) ? values.get(asset) : undefined;
      return value === undefined ? [] : [[{ typeId: known, asset }, value] as const];
    });
  }

  values(): Value[] {
    return [...this.#byType.values()].flatMap((values) => [...values.values()]);
  }
}
