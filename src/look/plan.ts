import type { KeptAlert } from "../store/alerts/alerts.ts";
import type { LookRole } from "../contract/second-opinion.ts";
import type { ControlQuery, NamedAsset } from "./controls.ts";
import { targetOf, type LookTarget } from "./names.ts";
import { drawAssets, type DrawnFrom } from "./sample.ts";
import type { LookSettings } from "./settings.ts";

/** An asset that a look asks. */
export interface Planned extends NamedAsset {
  readonly role: LookRole;
  readonly isSentinel: boolean;
  readonly target: LookTarget;
}

/** An asset that died in an alert. */
export interface DiedIn {
  readonly asset: string;
  readonly assetType: string | null;
  /** Whether it was found alive since. */
  readonly isUndone: boolean;
}

/** Where the assets come from. */
export interface LookSources {
  /** Those that died in an alert; null: it has none. */
  readonly diedIn: (alertId: string) => Promise<readonly DiedIn[] | null>;
  readonly alive: (query: ControlQuery) => AsyncIterable<NamedAsset>;
  readonly longDead: (query: ControlQuery) => AsyncIterable<NamedAsset>;
  /** Notes that a host is looked at; false: it was within the hour. */
  readonly takeHost: (host: string) => Promise<boolean>;
}

// So many dead assets of an organization take part in the draw, evenly drawn themselves: the names of a million are 100 MB.
const mostDrawn = 2_000;
// Hosts that were looked at are left out, but not without end.
const mostTries = 2_000;

/** Returns whom a look at an incident with these members asks, in the order in which it does: the dead among the controls. */
export async function planLook(
  members: readonly KeptAlert[],
  settings: LookSettings,
  sources: LookSources,
  random: () => number,
): Promise<readonly Planned[]> {
  const died = new Set<string>();
  const types = new Set<string | null>();
  const organizations: (DrawnFrom<NamedAsset> & { readonly slug: string })[] = [];
  for (const { alert } of members) {
    const all = await sources.diedIn(alert.id);
    if (all === null) continue;
    for (const { asset } of all) died.add(asset);
    const dead = all.filter(({ asset, isUndone }) => !isUndone && targetOf(asset) !== null);
    for (const { assetType } of dead) types.add(assetType);
    const drawn: DiedIn[] = [];
    for (const one of drawAssets([{ excess: 1, assets: dead }], random)) if (drawn.push(one) === mostDrawn) break;
    const { slug, found } = alert;
    const excess = found?.deaths ? found.deaths.count - found.deaths.expected : 0;
    organizations.push({ slug, excess, assets: drawn.map((one) => ({ ...one, slug })) });
  }

  const hosts = new Set<string>();
  const asksDns = settings.dns !== null || settings.http !== null;
  async function choose(
    role: LookRole,
    candidates: AsyncIterable<NamedAsset & { readonly isSentinel?: boolean }>,
    count: number,
  ): Promise<Planned[]> {
    const chosen: Planned[] = [];
    let tries = 0;
    for await (const { isSentinel = false, slug, asset, assetType } of candidates) {
      if (chosen.length >= count || tries++ >= mostTries) break;
      const target = targetOf(asset);
      if (target === null || hosts.has(target.host) || (target.isPersonal && !asksDns)) continue;
      hosts.add(target.host);
      if (await sources.takeHost(target.host)) chosen.push({ slug, asset, assetType, role, isSentinel, target });
    }
    return chosen;
  }

  const assetTypes = types.has(null) ? [] : [...types].filter((type) => type !== null);
  // Those with the most excess first, as the dead are theirs.
  const slugs = organizations.toSorted((left, right) => right.excess - left.excess).map(({ slug }) => slug);
  async function* ofEach(read: LookSources["alive"]): AsyncGenerator<NamedAsset> {
    for (const slug of slugs) for await (const one of read({ slug, assetTypes })) if (!died.has(one.asset)) yield one;
  }
  async function* living(): AsyncGenerator<NamedAsset & { readonly isSentinel?: boolean }> {
    yield* ofEach(sources.alive);
    for (const slug of slugs)
      for (const asset of settings.sentinelsOf(slug))
        if (!died.has(asset)) yield { slug, asset, assetType: null, isSentinel: true };
  }
  async function* drawn(): AsyncGenerator<NamedAsset> {
    yield* drawAssets(organizations, random);
  }
  const sample = await choose("sample", drawn(), settings.sample);
  // Without any dead asset to ask about, none is asked.
  if (sample.length === 0) return [];
  const alive = await choose("alive", living(), settings.control);
  const dead = await choose("dead", ofEach(sources.longDead), settings.control);
  return [...drawAssets([{ excess: 1, assets: [...sample, ...alive, ...dead] }], random)];
}
