import type { ListedOrganization } from "../contract/listed-organization.ts";
import type { Actor } from "../contract/actor.ts";
import type { DiscoveryState } from "../store/discovery/discovered-lists.ts";
import type { StoreParts } from "../store/store-parts.ts";

/** What an applied list changes. */
export interface ListChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** How many the source lists now. */
  readonly organizations: number;
}

export interface ListApplication {
  readonly before: readonly ListedOrganization[];
  readonly after: readonly ListedOrganization[];
  /** Hash of the list after the change. */
  readonly digest: string;
  readonly nowMs: number;
  /** `discovery.accept`: a person overruled that it was held back. */
  readonly action: "discovery.change" | "discovery.accept";
  readonly actor: Actor;
}

// A row of the audit is read as a whole.
const slugsPerRow = 1_000;

/** Compares the slugs of two lists. */
export function compareLists(before: readonly ListedOrganization[], after: readonly ListedOrganization[]): ListChange {
  const known = new Set(before.map(({ slug }) => slug));
  const present = new Set(after.map(({ slug }) => slug));
  return {
    added: [...present].filter((slug) => !known.has(slug)),
    removed: [...known].filter((slug) => !present.has(slug)),
    organizations: present.size,
  };
}

/** Makes a list the one that holds, and writes down what that changes, within the caller's transaction. */
export async function applyList(
  parts: StoreParts,
  state: DiscoveryState,
  { before, after, digest, nowMs, action, actor }: ListApplication,
): Promise<ListChange> {
  const { name } = state;
  await parts.discovery.saveList(name, "applied", after);
  if (state.held !== null) await parts.discovery.saveList(name, "held", null);
  await parts.discovery.save({ ...state, held: null, appliedDigest: digest, appliedAtMs: nowMs });
  const change = compareLists(before, after);
  const { added, removed, organizations } = change;
  // A list that changes labels only changes no organization; an act of a person is written in any case.
  const rows = Math.max(
    action === "discovery.accept" ? 1 : 0,
    Math.ceil(Math.max(added.length, removed.length) / slugsPerRow),
  );
  for (let row = 0; row < rows; row++) {
    const some = (slugs: readonly string[]) => slugs.slice(row * slugsPerRow, (row + 1) * slugsPerRow);
    const detail = { organizations, added: some(added), removed: some(removed) };
    await parts.audit.append({ atMs: nowMs, actor, action, slug: null, subject: name, detail });
  }
  return change;
}
