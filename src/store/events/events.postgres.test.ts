import { Kysely, PostgresDialect } from "kysely";
import { expect, it } from "vitest";

import { createWorldOn, death } from "../../../test/support/store/event-store.ts";
import { engineNamed } from "../../../test/support/store/engines.ts";
import { hourMs } from "../../base/time.ts";
import { createPostgresPool } from "../engine/postgres-pool.ts";
import type { PlainTables } from "../tables.ts";
import { createEventStore } from "./events.ts";

it("deaths of a thousand organizations are asked for by one statement", async () => {
  const startMs = Date.UTC(2026, 0, 15, 9);
  await using world = await createWorldOn(engineNamed("PostgreSQL"));
  const { location } = world;
  if (!("url" in location)) throw new Error("the events are in a file");
  await world.store.events.add(Array.from({ length: 90 }, (_, index) => death(startMs, `org-${index % 3}`)));
  const asked: string[] = [];
  const db = new Kysely<PlainTables>({
    dialect: new PostgresDialect({ pool: createPostgresPool({ ...location, poolSize: 1 }) }),
    log: ({ query }) => {
      asked.push(query.sql);
    },
  });
  const intervals = [
    { afterMs: startMs - hourMs, untilMs: startMs + hourMs },
    { afterMs: startMs + hourMs, untilMs: startMs },
  ];
  const queries = Array.from({ length: 1_000 }, (_, index) => ({ slug: `org-${index}`, intervals }));

  const deaths = await createEventStore(db).deaths(queries);

  expect(asked).toHaveLength(1);
  expect(deaths.slice(0, 3)).toEqual([0, 1, 2].map(() => [{ assetType: null, deaths: [30, 0] }]));
  expect(deaths.slice(3).flat()).toEqual([]);
  await db.destroy();
});
