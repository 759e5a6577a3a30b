import { FlatlineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggestions.ts";
import { actor } from "../../contract/actor.ts";
import type { Config } from "../../config/config.ts";
import type { PartsDeps } from "../../daemon/parts.ts";
import { applyList, compareLists, type ListChange } from "../../discovery/applied.ts";
import type { DiscoveryState } from "../../store/discovery/discovered-lists.ts";
import { withStore } from "../with-store.ts";

type Deps = Pick<PartsDeps, "cwd" | "clock">;

/** A discovery source as the store knows it. */
export interface SourceView {
  readonly name: string;
  /** null: the daemon has not asked it yet. */
  readonly state: DiscoveryState | null;
  /** In the list that holds. */
  readonly organizations: number;
  /** What the list that is held back would change; null: none is. */
  readonly held: ListChange | null;
}

/** Returns the sources of the configuration, in its order. */
export function listSources(config: Config, deps: Deps): Promise<SourceView[]> {
  return withStore(config, deps, ({ store }) =>
    Promise.all(
      config.discover.map(async ({ name }) => {
        const state = await store.discovery.state(name);
        const applied = (await store.discovery.list(name, "applied")) ?? [];
        const held = await store.discovery.list(name, "held");
        return {
          name,
          state,
          organizations: applied.length,
          held: held === null ? null : compareLists(applied, held),
        };
      }),
    ),
  );
}

/** A list that is held back, as it was read. */
export interface HeldView {
  readonly name: string;
  readonly reason: "empty" | "shrunk";
  /** Names the list: another one has another. */
  readonly digest: string;
  readonly change: ListChange;
}

/** Reads the list of a source that is held back. @throws usage for an unknown source, conflict when it holds none back */
export function readHeld(config: Config, deps: Deps, name: string): Promise<HeldView> {
  const names = config.discover.map((source) => source.name);
  if (!names.includes(name))
    throw new FlatlineError("usage", `no discovery source is named ${JSON.stringify(name)}${suggest(name, names)}`);
  return withStore(config, deps, async ({ store }) => {
    const state = await store.discovery.state(name);
    const list = await store.discovery.list(name, "held");
    const held = state?.held ?? null;
    if (list === null || held === null)
      throw new FlatlineError("conflict", `the source ${name} holds no list back: there is nothing to accept`);
    const applied = (await store.discovery.list(name, "applied")) ?? [];
    const { reason, digest } = held;
    return { name, reason, digest, change: compareLists(applied, list) };
  });
}

/** Applies the held list that was read, and no other; the daemon follows. @throws conflict when it is another one by now */
export function acceptHeld(
  config: Config,
  deps: Deps & { readonly userName: () => string },
  { name, digest }: HeldView,
): Promise<ListChange> {
  const by = actor(deps.userName(), "cli");
  return withStore(config, deps, ({ store, clock }) =>
    store.transaction(async (parts) => {
      const state = await parts.discovery.state(name);
      const after = await parts.discovery.list(name, "held");
      if (state?.held?.digest !== digest || after === null)
        throw new FlatlineError(
          "conflict",
          `the source ${name} gave another list meanwhile, and nothing was applied: run the command again to see it`,
        );
      const before = (await parts.discovery.list(name, "applied")) ?? [];
      const nowMs = clock.nowMs();
      return applyList(parts, state, { before, after, digest, nowMs, action: "discovery.accept", actor: by });
    }),
  );
}
