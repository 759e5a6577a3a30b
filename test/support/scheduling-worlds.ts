import { afterEach, beforeEach } from "vitest";

import type { Store } from "../../src/store/store.ts";
import { createSchedulingWorld, type SchedulingWorld } from "./scheduling.ts";
import { createFastStore, type FastStore } from "./store/fast.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";

/** Answers what makes a world on a clock that begins at `startMs`; each test of the file has a store of its own. */
export function useSchedulingWorlds(
  startMs: number,
): () => Promise<{ clock: VirtualClock; store: Store; world: SchedulingWorld }> {
  let backend: FastStore;
  beforeEach(async () => {
    backend = await createFastStore();
  });
  afterEach(() => backend.remove());
  return async () => {
    const clock = createVirtualClock({ startMs });
    const store = await backend.connect();
    return { clock, store, world: createSchedulingWorld(store, clock) };
  };
}

/** Which organizations were run when, as "SLUG HH:MM:SS". */
export function times(world: SchedulingWorld): string[] {
  return world.recorded.map(({ slug, startedAtMs }) => `${slug} ${new Date(startedAtMs).toISOString().slice(11, 19)}`);
}
