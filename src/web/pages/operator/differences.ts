import type { PageOrganization, PageSetting } from "../../read/page.ts";

/** A setting that one organization or several have in common, and all others have not. */
export interface Difference {
  readonly slugs: readonly string[];
  readonly name: string;
  readonly value: string;
  /** What holds for the others; null: none has the default. */
  readonly usual: string | null;
  readonly setIn: string;
}

// Fewer of the same are lines of their own: one looks for a name.
const leastTogether = 3;

/** Returns what is set for organizations of their own, the same difference of several as one. */
export function differencesOf(organizations: readonly PageOrganization[]): Difference[] {
  const usual = usualValues(organizations);
  const found = organizations.flatMap(({ slug, settings }) =>
    settings
      .filter(({ isOwn, name, value }) => isOwn && usual.get(name) !== value)
      .map((setting) => ({ slug, setting })),
  );
  const groups = Map.groupBy(found, ({ setting }) => `${setting.name} ${setting.value}`);
  const together: Difference[] = [];
  const alone: Difference[] = [];
  for (const group of groups.values()) {
    const same = differenceOf(group, usual);
    if (group.length >= leastTogether) together.push(same);
    else alone.push(...group.map((one) => differenceOf([one], usual)));
  }
  const order = new Map(organizations.map(({ slug }, index) => [slug, index]));
  return [
    ...together.toSorted((left, right) => right.slugs.length - left.slugs.length),
    ...alone.toSorted((left, right) => (order.get(left.slugs[0] ?? "") ?? 0) - (order.get(right.slugs[0] ?? "") ?? 0)),
  ];
}

function differenceOf(
  group: readonly { readonly slug: string; readonly setting: PageSetting }[],
  usual: ReadonlyMap<string, string>,
): Difference {
  const [first] = group;
  const name = first?.setting.name ?? "";
  return {
    slugs: group.map(({ slug }) => slug),
    name,
    value: first?.setting.value ?? "",
    usual: usual.get(name) ?? null,
    setIn: first?.setting.setIn ?? "",
  };
}

/** Returns the value of each setting where it is not set for an organization. */
export function usualValues(organizations: readonly PageOrganization[]): Map<string, string> {
  const usual = new Map<string, string>();
  for (const { settings } of organizations)
    for (const { name, value, isOwn } of settings) if (!isOwn && !usual.has(name)) usual.set(name, value);
  return usual;
}
