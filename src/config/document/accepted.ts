/**
 * Stands where a value was refused: by the schema, or because a reference or an alias could not be replaced. Its problem is
 * reported already; it counts as given, and nothing more is said about it.
 */
export const refused: unique symbol = Symbol("refused");

/** What a file says, of a schema's type but for what is refused or missing. */
export type Accepted<Value> =
  | typeof refused
  | (Value extends readonly (infer Item)[]
      ? readonly Accepted<Item>[]
      : Value extends object
        ? { readonly [Key in keyof Value]?: Accepted<Value[Key]> }
        : Value);

/** The value, unless it was refused. */
export function known<Value>(value: Value): Exclude<Value, typeof refused> | undefined {
  return value === refused ? undefined : (value as Exclude<Value, typeof refused>);
}
