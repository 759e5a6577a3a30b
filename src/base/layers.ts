type Whole<Layer> = { readonly [Key in keyof Layer]-?: Readonly<Exclude<Layer[Key], undefined>> };

/** Merges layers over `base`, field by field: the last value that is not undefined wins. */
export function layered<Layer extends object>(
  base: Whole<Layer>,
  ...layers: readonly (Layer | undefined)[]
): Whole<Layer> {
  const said = layers.flatMap((layer) => Object.entries(layer ?? {}).filter(([, value]) => value !== undefined));
  return { ...base, ...(Object.fromEntries(said) as Partial<Whole<Layer>>) };
}
