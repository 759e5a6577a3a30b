import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { takeOwnerLock } from "./owner-lock.ts";

it("belongs to one process at a time, can be taken again after its release, and leaves an empty file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "flatline-lock-"));
  const path = join(folder, "flatline.db");
  const clock = createVirtualClock({ startMs: 0 });
  const options = { clock, holder: async () => "process 7 on alpha" };
  const first = await takeOwnerLock(path, options);

  let refusal: unknown = null;
  void takeOwnerLock(path, options).catch((error: unknown) => (refusal = error));
  await clock.advanceUntil(() => refusal !== null, 11_000);

  expect(refusal).toMatchObject({
    code: "store_busy",
    message: `process 7 on alpha writes to the store ${path}: stop it, or give this one a store of its own`,
  });
  first.release();
  first.release();
  (await takeOwnerLock(path, options)).release();
  expect(await readdir(folder)).toEqual(["flatline.db-owner"]);
  await rm(folder, { recursive: true });
});
