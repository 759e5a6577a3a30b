import { createHash } from "node:crypto";

import type { Logger } from "../base/logger.ts";
import { actor } from "../contract/actor.ts";
import { compareLists, type ListChange, type ListedOrganization } from "../contract/listed-organization.ts";
import type { DiscoverConfig } from "../config/config.ts";
import type { DiscoveryState } from "../store/discovery/discovered-lists.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { Store } from "../store/store.ts";
import { readOffer, type Offer, type OfferDeps } from "./offer.ts";

export interface RefreshDeps extends OfferDeps {
  readonly store: Store;
  readonly logger: Logger;
}

/** What a refresh came to. */
type Refreshed =
  | { readonly kind: "failed"; readonly reason: string; readonly isNew: boolean }
  | { readonly kind: "same" }
  | { readonly kind: "held"; readonly held: NonNullable<DiscoveryState["held"]>; readonly organizations: number }
  | { readonly kind: "applied"; readonly change: ListChange };

/** Asks a source for its list, and stores what comes of it: applied, held back, or a problem with the last good list kept. */
export async function refreshSource(source: DiscoverConfig, deps: RefreshDeps): Promise<void> {
  const { store, logger } = deps;
  const fingerprint = fingerprintOf(source);
  const known = await store.discovery.state(source.name);
  const etag = known?.fingerprint === fingerprint ? known.etag : null;
  const offer = await readOffer(source, etag, deps);
  // A question that the end of the process cut off proves nothing against the source.
  if (offer.kind === "failed" && deps.signal.aborted) return;
  const refreshed = await store.transaction((parts) =>
    settle(parts, { source, fingerprint, offer }, deps.clock.nowMs()),
  );
  logRefresh(logger, source.name, refreshed);
}

interface SettledOffer {
  readonly source: DiscoverConfig;
  readonly fingerprint: string;
  readonly offer: Offer;
}

async function settle(
  parts: StoreParts,
  { source, fingerprint, offer }: SettledOffer,
  nowMs: number,
): Promise<Refreshed> {
  const { name, refreshIntervalMs } = source;
  const before = (await parts.discovery.state(name)) ?? unknownState(name);
  if (offer.kind === "failed") {
    const { reason } = offer;
    // The list still waits, but not for refreshes in a row.
    const held = before.held === null ? null : { ...before.held, repeats: 0 };
    await parts.discovery.save({ ...before, held, problem: reason, refreshedAtMs: nowMs });
    return { kind: "failed", reason, isNew: reason !== before.problem };
  }
  const etag = offer.kind === "list" ? offer.etag : before.etag;
  const state: DiscoveryState = { ...before, fingerprint, etag, problem: null, refreshedAtMs: nowMs };
  // If a list is held, the last answer was that list.
  const organizations = offer.kind === "list" ? offer.organizations : await parts.discovery.list(name, "held");
  const digest = organizations === null ? state.appliedDigest : digestOf(organizations);
  if (organizations === null || digest === null || digest === state.appliedDigest) {
    if (state.held !== null) await parts.discovery.saveList(name, "held", null);
    await parts.discovery.save({ ...state, held: null });
    return { kind: "same" };
  }
  const applied = await parts.discovery.list(name, "applied");
  const slugs = organizations.map(({ slug }) => slug);
  const judgement = judgeList({
    applied: applied?.map(({ slug }) => slug) ?? null,
    offered: slugs,
    offeredDigest: digestOf(slugs),
    held: state.held,
    nowMs,
    refreshIntervalMs,
  });
  if (judgement.kind === "hold") {
    const held = { ...judgement.held, digest };
    if (state.held?.digest !== digest) await parts.discovery.saveList(name, "held", organizations);
    await parts.discovery.save({ ...state, held });
    return { kind: "held", held, organizations: slugs.length };
  }
  const change = await applyList(parts, state, { before: applied ?? [], after: organizations, digest, nowMs });
  return { kind: "applied", change };
}

function unknownState(name: string): DiscoveryState {
  return {
    name,
    fingerprint: "",
    etag: null,
    problem: null,
    refreshedAtMs: 0,
    appliedDigest: null,
    appliedAtMs: null,
    held: null,
  };
}

/** Returns a hash of where a list is read from and what bounds it: an earlier answer says nothing when that has changed. */
export function fingerprintOf({ location, maxOrganizations }: DiscoverConfig): string {
  const place =
    location.kind === "file"
      ? location.path
      : [location.url.reveal(), ...Object.entries(location.headers).map(([name, value]) => [name, value.reveal()])];
  return digestOf([place, maxOrganizations]);
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

// Enough names to see the change; the audit has all of them.
const namedInLog = 20;

function logRefresh(logger: Logger, source: string, refreshed: Refreshed): void {
  switch (refreshed.kind) {
    case "failed":
      if (refreshed.isNew)
        logger.warn(
          { source, reason: refreshed.reason },
          "organizations were not discovered, the last good list holds",
        );
      else logger.debug({ source, reason: refreshed.reason }, "organizations were not discovered again");
      return;
    case "held": {
      const { held, organizations } = refreshed;
      const message = "list is held back: it would remove too many organizations";
      const fields = { source, reason: held.reason, organizations, repeats: held.repeats };
      if (held.repeats <= 1) logger.warn(fields, message);
      else logger.debug(fields, message);
      return;
    }
    case "applied": {
      const { added, removed, organizations } = refreshed.change;
      const named = { addedSlugs: added.slice(0, namedInLog), removedSlugs: removed.slice(0, namedInLog) };
      logger.info(
        { source, organizations, added: added.length, removed: removed.length, ...named },
        "discovered organizations changed",
      );
      return;
    }
    case "same":
      logger.debug({ source }, "discovered organizations are the same");
  }
}

/** A list that is not applied by itself. */
interface HeldList {
  /** `empty`: it is never applied; `shrunk`: three refreshes in a row that gave the same organizations apply it. */
  readonly reason: "empty" | "shrunk";
  /** Hash of the slugs of the list. */
  readonly slugsDigest: string;
  /** How many refreshes in a row gave these organizations. */
  readonly repeats: number;
  readonly countedAtMs: number;
}

interface JudgedLists {
  /** Slugs of the list that holds; null: none was ever applied. */
  readonly applied: readonly string[] | null;
  readonly offered: readonly string[];
  readonly offeredDigest: string;
  /** The list that was held at the last refresh. */
  readonly held: HeldList | null;
  readonly nowMs: number;
  readonly refreshIntervalMs: number;
}

type Judgement = { readonly kind: "apply" } | { readonly kind: "hold"; readonly held: HeldList };

// In a smaller source, half of the organizations is no sign of a fault.
const fewestRemoved = 5;
const neededRepeats = 3;

/**
 * Decides whether a list that a source gave is applied (CONTRACT 14). A source that forgets its customers must not end their
 * checks: an empty list after one that was not is never applied, and one that would remove more than half of the last one not
 * until three refreshes in a row gave the same organizations.
 */
function judgeList({ applied, offered, offeredDigest, held, nowMs, refreshIntervalMs }: JudgedLists): Judgement {
  if (applied === null || applied.length === 0) return { kind: "apply" };
  const isSame = held?.slugsDigest === offeredDigest;
  if (offered.length === 0) {
    const since = isSame ? held : { reason: "empty" as const, slugsDigest: offeredDigest, repeats: 0, countedAtMs: 0 };
    return { kind: "hold", held: { ...since, repeats: since.repeats + 1, countedAtMs: nowMs } };
  }
  const present = new Set(offered);
  const removed = applied.filter((slug) => !present.has(slug)).length;
  if (removed < fewestRemoved || 2 * removed <= applied.length) return { kind: "apply" };
  if (!isSame || held.repeats === 0)
    return {
      kind: "hold",
      held: { reason: "shrunk", slugsDigest: offeredDigest, repeats: 1, countedAtMs: nowMs },
    };
  // A process that restarts again and again also refreshes each time, which confirms nothing.
  const isSpaced = Math.abs(nowMs - held.countedAtMs) >= refreshIntervalMs / 2;
  if (!isSpaced) return { kind: "hold", held };
  if (held.repeats + 1 >= neededRepeats) return { kind: "apply" };
  return { kind: "hold", held: { ...held, repeats: held.repeats + 1, countedAtMs: nowMs } };
}

interface ListApplication {
  readonly before: readonly ListedOrganization[];
  readonly after: readonly ListedOrganization[];
  /** Hash of the list after the change. */
  readonly digest: string;
  readonly nowMs: number;
}

// A row of the audit is read as a whole.
const slugsPerRow = 1_000;

/** Makes a list the one that holds, and writes down what that changes, within the caller's transaction. */
async function applyList(
  parts: StoreParts,
  state: DiscoveryState,
  { before, after, digest, nowMs }: ListApplication,
): Promise<ListChange> {
  const { name } = state;
  await parts.discovery.saveList(name, "applied", after);
  if (state.held !== null) await parts.discovery.saveList(name, "held", null);
  await parts.discovery.save({ ...state, held: null, appliedDigest: digest, appliedAtMs: nowMs });
  const change = compareLists(before, after);
  const { added, removed, organizations } = change;
  // A list that changes labels only changes no organization.
  const rows = Math.ceil(Math.max(added.length, removed.length) / slugsPerRow);
  for (let row = 0; row < rows; row++) {
    const some = (slugs: readonly string[]) => slugs.slice(row * slugsPerRow, (row + 1) * slugsPerRow);
    const detail = { organizations, added: some(added), removed: some(removed) };
    await parts.audit.append({
      atMs: nowMs,
      actor: actor(name, "discovery"),
      action: "discovery.change",
      slug: null,
      subject: name,
      detail,
    });
  }
  return change;
}
