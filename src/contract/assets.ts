/** Events name an asset by type and content: a `PAGE` and the `URL` of its content are two. */
export interface AssetName {
  /** An index into the types that were read together; `noType`: the event has none. */
  readonly typeId: number;
  readonly asset: string;
}

/** An event of an asset: a death, or a look that found it alive. */
export interface AssetLook extends AssetName {
  readonly atMs: number;
  readonly isDeath: boolean;
  /** How many deaths it stands for; 0: it is not a death. */
  readonly count: number;
}

export const noType = 0;

/** Returns whether an event and an asset may belong together: equal types, or one unknown. */
export function isSameType(left: number, right: number): boolean {
  return left === right || left === noType || right === noType;
}

export class AssetBook<Value> {
  // The outer map is by type: there are few.
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

  /** Returns the assets of an event: one without a type is about every asset with its content. */
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
