/**
 * Marks a value that was refused: by the schema, or because a reference or an alias could not be replaced. Its problem is
 * already reported; it counts as set, and nothing more is reported about it.
 */
export const refused: unique symbol = Symbol("refused");

/** The type of a schema in which any value may be refused or missing. */
export type Accepted<Value> =
  | typeof refused
  | (Value extends readonly (infer Item)[]
      ? readonly Accepted<Item>[]
      : Value extends object
        ? { readonly [Key in keyof Value]?: Accepted<Value[Key]> }
        : Value);

/** Returns the value, or undefined if it was refused. */
export function known<Value>(value: Value): Exclude<Value, typeof refused> | undefined {
  return value === refused ? undefined : (value as Exclude<Value, typeof refused>);
}
