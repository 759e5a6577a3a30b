import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Kysely, sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock } from "../../base/time.ts";
import { SqliteDialect } from "./sqlite-driver.ts";
import { untilFree, whenFree } from "./sqlite-file.ts";

interface Database {
  readonly things: { readonly id: number; readonly name: string | null };
}

let folder: string;
let db: Kysely<Database>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-driver-"));
  const path = join(folder, "flatline.db");
  await writeFile(path, "");
  db = new Kysely({ dialect: new SqliteDialect({ path, clock: createSystemClock() }) });
  await sql`create table things (id integer primary key, name text)`.execute(db);
});
afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true });
});

describe("the SQLite driver", () => {
  it("lets the event loop turn amid a long chain of queries", async () => {
    const clock = createSystemClock();
    let turns = 0;
    const watching = setInterval(() => turns++, 1);

    const endsAtMs = clock.monotonicMs() + 300;
    while (clock.monotonicMs() < endsAtMs) await db.selectFrom("things").selectAll().execute();
    clearInterval(watching);

    // A turn each 5 ms of work in SQLite gives some dozens; otherwise there is none.
    expect(turns).toBeGreaterThan(2);
  });

  it("asks for a lock that another connection holds after pauses, not at each turn of the event loop", async () => {
    let attempts = 0;
    let isFree = false;
    const waiting = whenFree("flatline.db", () => {
      attempts++;
      if (!isFree) throw Object.assign(new Error("database is locked"), { errcode: 5 });
    });

    for (let sleeps = 0; sleeps < 300; sleeps++) await createSystemClock().sleep(0);
    const attemptsMeanwhile = attempts;
    isFree = true;
    await waiting;

    expect(attemptsMeanwhile).toBeLessThan(100);
  });

  it("gives up a lock that another connection keeps", async () => {
    const attempt = (): never => {
      throw Object.assign(new Error("database is locked"), { errcode: 5 });
    };

    await expect(whenFree("flatline.db", attempt, { ...untilFree, withinMs: 10 })).rejects.toMatchObject({
      code: "store_busy",
      message: "the store flatline.db is locked by another process",
    });
  });

  it("goes on after more different statements than it keeps", async () => {
    for (let count = 1; count <= 400; count++) {
      const ids = Array.from({ length: count }, (_, index) => index);
      await db.selectFrom("things").selectAll().where("id", "in", ids).execute();
    }

    expect(await db.selectFrom("things").selectAll().execute()).toEqual([]);
  });

  it("tells of a full disk, in a transaction too, and goes on when there is room again", async () => {
    const fill = (on: Kysely<Database>) =>
      on
        .insertInto("things")
        .values({ id: 1, name: "x".repeat(2_000_000) })
        .execute();
    const full = { code: "store_unusable", message: expect.stringContaining("disk is full") };
    await sql`pragma max_page_count = 50`.execute(db);

    await expect(fill(db)).rejects.toMatchObject(full);
    await expect(db.transaction().execute(fill)).rejects.toMatchObject(full);

    await sql`pragma max_page_count = 100000`.execute(db);
    await fill(db);
    expect(await db.selectFrom("things").select("id").execute()).toEqual([{ id: 1 }]);
  });
});
