import { compareLists, type ListChange, type ListedOrganization } from "../contract/listed-organization.ts";
import { actor } from "../contract/actor.ts";
import type { DiscoveryState } from "../store/discovery/discovered-lists.ts";
import type { StoreParts } from "../store/store-parts.ts";

export interface ListApplication {
  readonly before: readonly ListedOrganization[];
  readonly after: readonly ListedOrganization[];
  /** Hash of the list after the change. */
  readonly digest: string;
  readonly nowMs: number;
}

// A row of the audit is read as a whole.
const slugsPerRow = 1_000;

/** Makes a list the one that holds, and writes down what that changes, within the caller's transaction. */
export async function applyList(
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
