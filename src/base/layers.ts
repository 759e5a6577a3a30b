type Whole<Layer> = { readonly [Key in keyof Layer]-?: Readonly<Exclude<Layer[Key], undefined>> };

/** Returns `base` with what `layers` say, field by field: the last one that says something holds. */
export function layered<Layer extends object>(
  base: Whole<Layer>,
  ...layers: readonly (Layer | undefined)[]
): Whole<Layer> {
  const said = layers.flatMap((layer) => Object.entries(layer ?? {}).filter(([, value]) => value !== undefined));
  return { ...base, ...(Object.fromEntries(said) as Partial<Whole<Layer>>) };
}
