import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

import { countsOf, createEventWorld, death, toCsv } from "../../../test/support/store/event-store.ts";
import { isLong } from "../../../test/support/tier.ts";
import type { Store } from "../store.ts";

const rows = isLong ? 400_000 : 150_000;
const importer = fileURLToPath(new URL("../../../test/support/program/import-process.ts", import.meta.url));
const startMs = Date.UTC(2026, 0, 15, 9);
const query = { slug: "org-1", baselineStartMs: startMs - 1, windowStartMs: startMs + 40_000, endMs: startMs + 9e9 };

/** A third with an id, a third with a name, and a third that is alike. */
function events(): string {
  const more = [
    (index: number) => ({ id: `id-${index}`, assetType: "URL" }),
    (index: number) => ({ asset: `asset-${index}` }),
    () => ({ count: 2 }),
  ];
  return toCsv(
    Array.from({ length: rows }, (_, index) =>
      death(startMs + ((index * 7_919) % 1_000) * 1_000, `org-${index % 10}`, more[index % 3]?.(index)),
    ),
  );
}

async function isStoring({ imports }: Store): Promise<boolean> {
  return (await imports.list()).some(({ received }) => received > 0);
}

it(
  "an import that is killed at any moment is named, and completed by the same again",
  { timeout: 600_000 },
  async () => {
    await using whole = await createEventWorld();
    await whole.import([await whole.write("whole.csv.gz", gzipSync(events()))]);
    const expected = await countsOf(whole.store, query);
    await using world = await createEventWorld();
    const file = await world.write("large.csv.gz", gzipSync(events()));
    let killed = 0;

    for (let round = 0; round < (isLong ? 60 : 4); round++) {
      const child = spawn(process.execPath, [importer, world.location.path, file], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "close");
      const lines = createInterface({ input: child.stdout });
      const isBegun = async (): Promise<void> => {
        await once(lines, "line");
        // However slow the machine is, every other one is killed while it stores.
        if (round % 2 === 1) while (!(await isStoring(world.store))) await delay(5);
        await delay((round % 20) * 20);
      };
      await Promise.race([ended, isBegun()]);
      child.kill("SIGKILL");
      const [, signal] = (await ended) as [number | null, string | null];
      // A machine that is fast enough to end it before ends the test's loop.
      if (signal !== "SIGKILL") break;
      const begun = await world.store.imports.list();
      if (begun.length > 0) killed++;
      expect(begun.map(({ name, rows: planned }) => [name, planned])).toEqual(begun.length > 0 ? [[file, rows]] : []);
    }
    expect(killed).toBeGreaterThan(0);

    const outcome = await world.import([file]);

    expect(outcome).toMatchObject({ received: rows, conflicts: 0 });
    expect(outcome.duplicates).toBeGreaterThan(0);
    expect(await world.store.imports.list()).toEqual([]);
    expect(await countsOf(world.store, query)).toEqual(expected);
    expect(await world.store.liveness.extent("org-1")).toMatchObject({ events: rows / 10 });
  },
);
