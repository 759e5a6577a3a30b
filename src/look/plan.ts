import { createHash } from "node:crypto";

import type { LookRole } from "../contract/second-opinion.ts";
import type { Alert } from "../store/alerts/alerts.ts";

export interface NamedAsset {
  readonly slug: string;
  readonly asset: string;
  readonly assetType: string | null;
}

/** An asset to ask the verifier about; `isSentinel`: the operator named it as alive. */
export type Planned = NamedAsset & { readonly role: LookRole; readonly isSentinel: boolean };

/** An asset that died; `isUndone`: it was found alive later. */
export type Died = Omit<NamedAsset, "slug"> & { readonly isUndone: boolean };

export interface LookSources {
  /** The assets that died in an alert; null: unknown. */
  readonly diedIn: (alert: Alert) => Promise<readonly Died[] | null>;
  /** Assets that are alive by their latest event, the latest first; no `assetTypes`: any type. */
  readonly alive: (query: { slug: string; assetTypes: readonly string[] }) => Promise<readonly NamedAsset[]>;
  /** Assets that the operator knows to be alive. */
  readonly sentinelsOf: (slug: string) => readonly string[];
  /** Assets that died long ago. */
  readonly longDead: (slug: string) => AsyncIterable<Died>;
}

// An even draw limits each organization to so many dead assets: the names of a million take 100 MB.
const mostDrawn = 2_000;
// Limits the search past assets that may not be sent.
const mostTries = 2_000;

/** Returns the assets to ask about for an incident with these members: the sample and controls, shuffled. */
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

  // Answers are by name, so each name is asked about once.
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
  // No dead assets: no controls either.
  if (sample.length === 0) return [];
  for (const asset of died) taken.add(asset);
  const assetTypes = types.has(null) ? [] : [...types].filter((type) => type !== null);
  // The most excess first, because most dead assets are theirs.
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

/** Returns a generator of numbers in [0, 1) from a seed, the same in each process. */
export function seededRandom(seed: string): () => number {
  let count = 0;
  // 32 bits are enough for a draw among millions, and a hash needs no generator of our own.
  return () => createHash("sha256").update(`${seed}/${count++}`).digest().readUInt32BE() / 2 ** 32;
}

/** Yields all assets in random order: draws an organization, weighted by excess, then one of its assets. */
export function* drawAssets<T>(
  organizations: readonly { readonly excess: number; readonly assets: readonly T[] }[],
  random: () => number,
): Generator<T, void> {
  // An organization without excess has the weight of one death, because it has a dead asset.
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

// CONTRACT 16: as short as an id in base 64 or a UUID, longer than people's words.
const leastIdLength = 24;
// The longest URL that browsers take. It limits the work for a name.
const longestName = 2_048;

/** Returns whether a name may identify a person: never ask about it. Names over 2,048 characters count too. */
export function mayNameVictim(name: string): boolean {
  if (name.length > longestName || /@|%40/i.test(name)) return true;
  const afterHost = name.replace(/^(?:[a-z][a-z\d+.-]*:\/\/)?[^/?#\\]*/i, "");
  return afterHost.split(/[/\\?#&;=]/).some((part) => {
    const count = part.replaceAll(/[^\p{L}\p{N}]/gu, "").length;
    return count >= leastIdLength && /\p{L}/u.test(part) && /\p{N}/u.test(part);
  });
}
