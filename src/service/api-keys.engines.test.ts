import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { storeEngines, type OpenedStore } from "../../test/support/store/engines.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createApiKey, findKey, hashKey } from "./api-keys.ts";

const clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 20) });
let opened: OpenedStore;

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeAll(async () => {
    opened = await openTemporary(clock);
  });

  afterAll(() => opened.close());

  const wanted = { name: "ci", role: "staff", organizations: ["acme", "globex"], nowMs: clock.nowMs() } as const;

  describe("API keys", () => {
    it("are found by the key, until they are revoked", async () => {
      const { key, stored } = await createApiKey(opened.store, wanted);

      expect(await findKey(opened.store, key)).toEqual({
        role: "staff",
        organizations: ["acme", "globex"],
        keyId: stored.id,
        author: expect.objectContaining({ via: "api_v2" }) as object,
      });
      expect(await opened.store.platform.keys.revoke(stored.id, clock.nowMs())).toBe(true);
      expect(await findKey(opened.store, key)).toBeNull();
      expect(await opened.store.platform.keys.revoke(stored.id, clock.nowMs())).toBe(false);
    });

    it("are stored as SHA-256 only", async () => {
      const { key } = await createApiKey(opened.store, wanted);

      const listed = JSON.stringify(await opened.store.platform.keys.list());
      expect(listed).not.toContain(key);
      expect(listed).not.toContain(hashKey(key));
      expect(hashKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    });

    it.each(["", "unknown", "fl_", "é"])("are not found by %j", async (presented) => {
      expect(await findKey(opened.store, presented)).toBeNull();
    });

    it("are each another", async () => {
      const made = await Promise.all(Array.from({ length: 20 }, () => createApiKey(opened.store, wanted)));

      expect(new Set(made.map(({ key }) => key)).size).toBe(20);
      expect(new Set(made.map(({ stored }) => stored.id)).size).toBe(20);
      for (const { key } of made) expect(key).toMatch(/^fl_[\w-]{43}$/);
    });
  });
});
