import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openTemporaryStore } from "../../test/support/store/temporary.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createApiKey, hashKey } from "./api-keys.ts";
import { createKeyRing } from "./api-keys.ts";

const clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 20) });
const wanted = { name: "ci", role: "customer", organizations: ["acme"], nowMs: clock.nowMs() } as const;
let opened: Awaited<ReturnType<typeof openTemporaryStore>>;

beforeAll(async () => {
  opened = await openTemporaryStore(clock);
});

afterAll(() => opened.close());

describe("the key ring", () => {
  it("asks the store once in a tenth of a second, and forgets a revoked key by then", async () => {
    let lookups = 0;
    const { platform } = opened.store;
    const keys = {
      ...platform.keys,
      bySha256: (sha256: string) => {
        lookups++;
        return platform.keys.bySha256(sha256);
      },
    };
    const find = createKeyRing({ store: { platform: { ...platform, keys } }, clock });
    const { key, stored } = await createApiKey(opened.store, wanted);
    const first = await find(key);
    await platform.keys.revoke(stored.id, clock.nowMs());

    await clock.advance(99);
    const remembered = await find(key);
    const lookupsBefore = lookups;
    await clock.advance(1);
    const forgotten = await find(key);

    expect(first).toMatchObject({ role: "customer", organizations: ["acme"], keyId: stored.id });
    expect([remembered, lookupsBefore]).toEqual([first, 1]);
    expect(forgotten).toBeNull();
  });

  it("knows a key at once after it was made, though it was asked for before", async () => {
    const find = createKeyRing({ store: opened.store, clock });
    const other = await createApiKey(opened.store, wanted);
    await opened.store.platform.keys.revoke(other.stored.id, clock.nowMs());
    const before = await find(other.key);

    await opened.store.platform.keys.upsert({ ...other.stored, sha256: hashKey(other.key) });

    expect(before).toBeNull();
    expect(await find(other.key)).toMatchObject({ keyId: other.stored.id });
  });

  it("takes no key for another", async () => {
    const find = createKeyRing({ store: opened.store, clock });
    const made = [await createApiKey(opened.store, wanted), await createApiKey(opened.store, wanted)];

    const found = await Promise.all([...made, ...made].map(({ key }) => find(key)));

    expect(found.map((identity) => identity?.keyId)).toEqual([...made, ...made].map(({ stored }) => stored.id));
    expect(await find(`${made[0]?.key}x`)).toBeNull();
  });
});
