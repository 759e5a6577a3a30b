import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { storeEngines, type OpenedStore } from "../../../test/support/store/engines.ts";
import { createSystemClock } from "../../base/time.ts";
import type { PlatformStore } from "./platform.ts";

const key = { id: "key_1", sha256: "a1", name: "bench", role: "customer", organizations: ["acme"] } as const;

describe.each(storeEngines)("on $engine, a key that was used", ({ openTemporary }) => {
  let opened: OpenedStore;

  beforeAll(async () => {
    opened = await openTemporary(createSystemClock());
  });
  afterAll(() => opened.close());

  async function isValid(): Promise<boolean> {
    return (await opened.store.platform.keys.bySha256("a1")) !== null;
  }

  it.each<[string, (platform: PlatformStore) => Promise<unknown>]>([
    ["revoked", ({ keys }) => keys.revoke("key_1", 2)],
    ["forgotten", () => opened.store.transaction(({ forgetting }) => forgetting.forget("acme", 100))],
    [
      "revoked with other acts",
      () => opened.store.transaction(async ({ platform }) => void (await platform.keys.revoke("key_1", 2))),
    ],
    ["revoked while it is looked up", async ({ keys }) => Promise.all([isValid(), keys.revoke("key_1", 2), isValid()])],
  ])("is refused once it was %s, and taken when it is made again", async (_how, end) => {
    const { platform } = opened.store;
    await platform.keys.upsert({ ...key, createdAtMs: 1 });
    const before = [await isValid(), await isValid()];

    await end(platform);

    expect([...before, await isValid()]).toEqual([true, true, false]);
  });

  it("has the organizations that it was given last, and stays valid when its revocation fails", async () => {
    const { platform } = opened.store;
    await platform.keys.upsert({ ...key, createdAtMs: 1 });
    await isValid();

    await platform.keys.upsert({ ...key, organizations: ["globex"], createdAtMs: 1 });
    const failed = opened.store.transaction(async (parts) => {
      await parts.platform.keys.revoke("key_1", 2);
      throw new Error("no");
    });

    await expect(failed).rejects.toThrow("no");
    expect(await platform.keys.bySha256("a1")).toMatchObject({ id: "key_1", organizations: ["globex"] });
  });
});
