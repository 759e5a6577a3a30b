import { memoized } from "../../../base/memo.ts";
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

/** What all settings of all organizations say. */
export interface Comparison {
  /** What is set for organizations of their own, the same difference of several as one. */
  readonly differences: readonly Difference[];
  /** Each setting where it is not set for an organization. */
  readonly usual: ReadonlyMap<string, PageSetting>;
}

/** Compares all settings of the organizations of one configuration, once for each: ten thousand have hundreds of thousands. */
export const compareSettings = memoized(1, (organizations: readonly PageOrganization[]): Comparison => {
  const usual = new Map<string, PageSetting>();
  const own: { readonly slug: string; readonly setting: PageSetting }[] = [];
  for (const { slug, settings } of organizations)
    for (const setting of settings) {
      if (setting.isOwn) own.push({ slug, setting });
      else if (!usual.has(setting.name)) usual.set(setting.name, setting);
    }
  return { differences: differencesOf(organizations, own, usual), usual };
});

function differencesOf(
  organizations: readonly PageOrganization[],
  own: readonly { readonly slug: string; readonly setting: PageSetting }[],
  usual: Comparison["usual"],
): Difference[] {
  const found = own.filter(({ setting }) => usual.get(setting.name)?.value !== setting.value);
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
  usual: Comparison["usual"],
): Difference {
  const [first] = group;
  const name = first?.setting.name ?? "";
  return {
    slugs: group.map(({ slug }) => slug),
    name,
    value: first?.setting.value ?? "",
    usual: usual.get(name)?.value ?? null,
    setIn: first?.setting.setIn ?? "",
  };
}
