import type { ListedOrganization } from "../../contract/listed-organization.ts";

/** A list that a source gave and that is not applied by itself (CONTRACT 14). */
export interface HeldListState {
  readonly reason: "empty" | "shrunk";
  /** Of the whole list. */
  readonly digest: string;
  /** Of its slugs. */
  readonly slugsDigest: string;
  /** How many refreshes in a row gave these organizations. */
  readonly repeats: number;
  readonly countedAtMs: number;
}

/** How a discovery source stands. */
export interface DiscoveryState {
  readonly name: string;
  /** Of where the source is read from: an ETag is only good there. */
  readonly fingerprint: string;
  /** Of the last list that it gave, applied or held. */
  readonly etag: string | null;
  /** What was wrong at the last refresh; null: nothing. */
  readonly problem: string | null;
  readonly refreshedAtMs: number;
  /** Of the list that holds; null: none was ever applied. */
  readonly appliedDigest: string | null;
  readonly appliedAtMs: number | null;
  readonly held: HeldListState | null;
}

/** The lists of the discovery sources; the last good ones outlive a restart. */
export interface DiscoveryStore {
  /** By name. */
  states(): Promise<readonly DiscoveryState[]>;
  state(name: string): Promise<DiscoveryState | null>;
  /** The list that holds, or the one that is held back; null: there is none. */
  list(name: string, kind: "applied" | "held"): Promise<readonly ListedOrganization[] | null>;
  /**
   * Takes the refresh of a source that is due at `nowMs`, until `nextAtMs`: of processes that share the store one asks. True:
   * it is the caller's.
   */
  claim(name: string, due: { readonly nowMs: number; readonly nextAtMs: number }): Promise<boolean>;
  save(state: DiscoveryState): Promise<void>;
  /** Replaces a list; null removes it. */
  saveList(name: string, kind: "applied" | "held", list: readonly ListedOrganization[] | null): Promise<void>;
  /** Deletes what is stored of sources with other names. */
  keepOnly(names: readonly string[]): Promise<void>;
}
