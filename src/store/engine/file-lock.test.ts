import { link, mkdtempDisposable, readdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { openStore } from "../open.ts";
import type { Store } from "../store.ts";
import { holderName } from "../writer.ts";

it.each([
  ["the same path", async (path: string) => path],
  ["a soft link", async (path: string, other: string) => (await symlink(path, other), other)],
  ["a hard link", async (path: string, other: string) => (await link(path, other), other)],
])("belongs to one process at a time, by %s too, and can be taken again after its release", async (_how, nameOf) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "flatline-lock-"));
  const path = join(folder.path, "flatline.db");
  const clock = createVirtualClock({ startMs: 0 });
  const take = async (name: string): Promise<Store> => {
    const store = await openStore({ path: name, clock });
    try {
      await store.takeWriter();
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  };
  const first = await take(path);
  const other = await nameOf(path, join(folder.path, "other.db"));

  let refusal: unknown = null;
  const second = take(other).catch((error: unknown) => (refusal = error));
  // Opening takes real time.
  await clock.settleUntil(() => clock.pendingSleeps() > 0);
  await clock.advanceUntil(() => refusal !== null, 11_000);
  await second;

  expect(refusal).toMatchObject({
    code: "store_busy",
    message: expect.stringContaining(`${holderName()} writes to the store`),
  });
  await first.close();
  await (await take(other)).close();
  expect((await readdir(folder.path)).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
});
