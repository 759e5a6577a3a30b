import { expect, it } from "vitest";

import { createEventWorld, death } from "../../../test/support/store/event-store.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../../base/logger.ts";
import { createUnwatched } from "./unwatched.ts";

it("names a thousand unwatched slugs and counts the rest, in the log too", async () => {
  await using world = await createEventWorld();
  const slugs = Array.from({ length: 1_200 }, (_, index) => `org-${String(index).padStart(4, "0")}`);
  await world.store.transaction(({ events }) => events.add(slugs.map((slug) => death(0, slug))));
  const logged: object[] = [];
  const parts = {
    store: world.store,
    clock: createVirtualClock({ startMs: 0 }),
    logger: { ...createSilentLogger(), warn: (fields: object) => void logged.push(fields) },
  };
  const unwatched = createUnwatched(parts, () => ({ holdsEvents: true, slugs: new Set(["org-0000"]) }));

  const all = await unwatched.list();

  expect(await unwatched.slugs()).toHaveLength(1_199);
  expect(all).toHaveLength(1_000);
  expect(logged).toHaveLength(1_000);
});
