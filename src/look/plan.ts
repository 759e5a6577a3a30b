import { createHash } from "node:crypto";

import type { LookRole } from "../contract/second-opinion.ts";
import type { Alert } from "../store/alerts/alerts.ts";

export interface NamedAsset {
  readonly slug: string;
  readonly asset: string;
  readonly assetType: string | null;
}

/** An asset that the verifier is asked about; `isSentinel`: a living one that the operator has named. */
export type Planned = NamedAsset & { readonly role: LookRole; readonly isSentinel: boolean };

/** An asset that died, `isUndone` where it was found alive since. */
export type Died = Omit<NamedAsset, "slug"> & { readonly isUndone: boolean };

export interface LookSources {
  /** Those that died in an alert; null: it has none. */
  readonly diedIn: (alert: Alert) => Promise<readonly Died[] | null>;
  /** Those that are alive by their latest event, the latest first; `assetTypes`: empty, of any type. */
  readonly alive: (query: { slug: string; assetTypes: readonly string[] }) => Promise<readonly NamedAsset[]>;
  /** Those of an organization that its operator knows to be alive. */
  readonly sentinelsOf: (slug: string) => readonly string[];
  /** Those of an organization that died long ago. */
  readonly longDead: (slug: string) => AsyncIterable<Died>;
}

// So many dead assets of an organization take part in the draw, evenly drawn themselves: the names of a million are 100 MB.
const mostDrawn = 2_000;
// Those that may not be sent are left out, but not without end.
const mostTries = 2_000;

/** Returns whom a look at an incident with these members asks about, in random order: the dead among the controls. */
export async function planLook(
  members: readonly Alert[],
  counts: { readonly sample: number; readonly control: number },
  sources: LookSources,
  random: () => number,
): Promise<readonly Planned[]> {
  const [died, types] = [new Set<string>(), new Set<string | null>()];
  const organizations: { slug: string; excess: number; assets: NamedAsset[] }[] = [];
  for (const alert of members) {
    const { slug, found } = alert;
    const all = (await sources.diedIn(alert)) ?? [];
    for (const { asset } of all) died.add(asset);
    const dead = all.filter(({ isUndone }) => !isUndone);
    for (const { assetType } of dead) types.add(assetType);
    const assets: NamedAsset[] = [];
    for (const one of drawAssets([{ excess: 1, assets: dead }], random))
      if (assets.push({ ...one, slug }) === mostDrawn) break;
    organizations.push({ slug, excess: found?.deaths ? found.deaths.count - found.deaths.expected : 0, assets });
  }

  // Answers are by name, so that each is asked about once.
  const taken = new Set<string>();
  type Candidates = AsyncIterable<NamedAsset> | Iterable<NamedAsset>;
  async function choose(role: LookRole, from: Candidates, count: number, isSentinel = false): Promise<Planned[]> {
    const chosen: Planned[] = [];
    let tries = 0;
    for await (const { slug, asset, assetType } of from) {
      if (chosen.length >= count || tries++ >= mostTries) break;
      if (taken.has(asset) || mayNameVictim(asset)) continue;
      taken.add(asset);
      chosen.push({ slug, asset, assetType, role, isSentinel });
    }
    return chosen;
  }

  const sample = await choose("sample", drawAssets(organizations, random), counts.sample);
  // Without any dead asset to ask about, none is asked.
  if (sample.length === 0) return [];
  for (const asset of died) taken.add(asset);
  const assetTypes = types.has(null) ? [] : [...types].filter((type) => type !== null);
  // Those with the most excess first, as the dead are theirs.
  const slugs = organizations.toSorted((left, right) => right.excess - left.excess).map(({ slug }) => slug);
  async function* living(): AsyncGenerator<NamedAsset> {
    for (const slug of slugs) yield* await sources.alive({ slug, assetTypes });
  }
  async function* longDead(): AsyncGenerator<NamedAsset> {
    for (const slug of slugs) for await (const one of sources.longDead(slug)) if (!one.isUndone) yield { ...one, slug };
  }
  const named = slugs.flatMap((slug) => sources.sentinelsOf(slug).map((asset) => ({ slug, asset, assetType: null })));
  const alive = await choose("alive", living(), counts.control);
  const sentinels = await choose("alive", named, counts.control - alive.length, true);
  const dead = await choose("dead", longDead(), counts.control);
  return [...drawAssets([{ excess: 1, assets: [...sample, ...alive, ...sentinels, ...dead] }], random)];
}

/** Returns the numbers in [0, 1) that belong to a seed, so that each process draws the same. */
export function seededRandom(seed: string): () => number {
  let count = 0;
  // 32 bits of a hash are more than a draw among millions needs, and no generator of our own has to be trusted.
  return () => createHash("sha256").update(`${seed}/${count++}`).digest().readUInt32BE() / 2 ** 32;
}

/** Yields all in random order: first the organization, as likely as its excess is large, then any of its assets. */
export function* drawAssets<T>(
  organizations: readonly { readonly excess: number; readonly assets: readonly T[] }[],
  random: () => number,
): Generator<T, void> {
  // One without excess counts as one death: it has a dead asset, too.
  const left = organizations.map(({ excess, assets }) => ({ weight: Math.max(1, excess), assets: [...assets] }));
  for (;;) {
    const open = left.filter(({ assets }) => assets.length > 0);
    let at = random() * open.reduce((sum, { weight }) => sum + weight, 0);
    const chosen = open.find(({ weight }) => (at -= weight) < 0) ?? open.at(-1);
    if (chosen === undefined) return;
    const { assets } = chosen;
    const index = Math.floor(random() * assets.length);
    const [drawn, last] = [assets[index], assets.pop()];
    if (index < assets.length && last !== undefined) assets[index] = last;
    if (drawn !== undefined) yield drawn;
  }
}

// CONTRACT 16: short enough for an id in base 64 or a UUID, longer than what people write.
const leastIdLength = 24;
// As long as URLs are that browsers take: no name costs more to read than this.
const longestName = 2_048;

/** Returns whether a name may say who an address was sent to, so that nobody is asked about it; so may one of over 2,048 characters. */
export function mayNameVictim(name: string): boolean {
  if (name.length > longestName || /@|%40/i.test(name)) return true;
  const afterHost = name.replace(/^(?:[a-z][a-z\d+.-]*:\/\/)?[^/?#\\]*/i, "");
  return afterHost.split(/[/\\?#&;=]/).some((part) => {
    const count = part.replaceAll(/[^\p{L}\p{N}]/gu, "").length;
    return count >= leastIdLength && /\p{L}/u.test(part) && /\p{N}/u.test(part);
  });
}
