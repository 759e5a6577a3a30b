import { beforeEach, describe, expect, it } from "vitest";

import { customerApi, importFixture, proposalsFixture } from "../../test/support/far-side/platform-fixture.ts";
import { storeEngines } from "../../test/support/store/engines.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import type { PlatformApi } from "../contract/platform-api.ts";
import type { Store } from "../store/store.ts";

const reject = { decision: "REJECT", rejectReason: "irrelevant" } as const;

let clock: VirtualClock;
let store: Store;

describe.each(storeEngines)("on $engine,", ({ useStore }) => {
  const opened = useStore(() => (clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 20, 12) })));
  beforeEach(() => {
    store = opened.store;
  });

  /** Counts the results: "ok", or the code of the refusal. */
  async function endings(calls: readonly Promise<unknown>[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const settled of await Promise.allSettled(calls)) {
      const reason: unknown = settled.status === "rejected" ? settled.reason : null;
      const ending = settled.status === "fulfilled" ? "ok" : reason instanceof FlatlineError ? reason.code : "other";
      counts[ending] = (counts[ending] ?? 0) + 1;
    }
    return counts;
  }

  function review(api: PlatformApi, proposalId: number): Promise<unknown> {
    return api.reviewProposal({ proposalId, assetId: proposalId, ...reject });
  }

  const twenty = Array.from({ length: 20 }, (_, index) => 301 + index);

  describe("reviews at once", () => {
    it("of one proposal: one is accepted, the others meet a resolved one", async () => {
      await importFixture(store, clock, proposalsFixture([{ id: 301 }]));
      const keys = [customerApi(store, clock, "key_1", "acme"), customerApi(store, clock, "key_2", "acme")];

      const ended = await endings(
        twenty.flatMap((_, index) => keys.slice(index % 2, (index % 2) + 1)).map((api) => review(api, 301)),
      );

      expect(ended).toEqual({ ok: 1, api_conflict: 19 });
    });

    it("of twenty proposals over two keys: ten are accepted, the others wait", async () => {
      await importFixture(store, clock, proposalsFixture(twenty.map((id) => ({ id }))));
      const one = customerApi(store, clock, "key_1", "acme");
      const two = customerApi(store, clock, "key_2", "acme");

      const ended = await endings(twenty.map((id) => review(id % 2 === 0 ? one : two, id)));

      expect(ended).toEqual({ ok: 10, api_rate_limited: 10 });
    });
  });
});
