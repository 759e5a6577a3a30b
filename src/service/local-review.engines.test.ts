import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { customerApi, importFixture, proposalsFixture } from "../../test/support/far-side/platform-fixture.ts";
import { storeEngines, type OpenedStore } from "../../test/support/store/engines.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import type { PlatformApi } from "../contract/platform-api.ts";
import type { Store } from "../store/store.ts";

const hourMs = 3_600_000;
const reject = { decision: "REJECT", rejectReason: "irrelevant" } as const;

let clock: VirtualClock;
let opened: OpenedStore;
let store: Store;

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 20, 12) });
    opened = await openTemporary(clock);
    store = opened.store;
  });

  afterEach(() => opened.close());

  /** How each of these ended: "ok", or the code of the refusal. */
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

  describe("the budget", () => {
    beforeEach(() =>
      importFixture(
        store,
        clock,
        proposalsFixture([...twenty.map((id) => ({ id })), { id: 401, organization: "globex" }]),
      ),
    );

    it("is refilled review by review, each 24 hours after it was made", async () => {
      const api = customerApi(store, clock, "key_1", "acme");
      for (const id of twenty.slice(0, 10)) {
        await review(api, id);
        await clock.advance(hourMs);
      }

      await expect(review(api, 311)).rejects.toMatchObject({ code: "api_rate_limited", retryAfterMs: 14 * hourMs });
      await clock.advance(14 * hourMs - 1);
      await expect(review(api, 311)).rejects.toMatchObject({ code: "api_rate_limited", retryAfterMs: 1 });
      await clock.advance(1);
      await review(api, 311);
      await expect(review(api, 312)).rejects.toMatchObject({ code: "api_rate_limited", retryAfterMs: hourMs });
    });
  });

  describe("what an approval needs", () => {
    const contents = {
      501: ["URL", "https://pay.Acme.example:8443/login"],
      502: ["URL", "https://acme.example/"],
      503: ["URL", "https://search.example.org./"],
      504: ["EMAIL", "kim@example.org"],
      505: ["URL", "https://notexample.org/"],
      506: ["URL", "https://off.example/"],
      507: ["ADDRESS", "https://example.org/"],
    } as const;
    const ids = Object.keys(contents).map(Number);

    beforeEach(() =>
      importFixture(store, clock, {
        ...proposalsFixture(ids.map((id) => ({ id }))),
        organizations: [{ slug: "acme" }, { slug: "globex" }],
        assets: Object.entries(contents).map(([id, [type, content]]) => ({ id: Number(id), type, content })),
        legitimacyRules: [
          { name: "popular", enabled: true, domains: ["Example.ORG"] },
          { name: "owned", enabled: true, organization: "globex", pattern: "*.acme.example" },
          { name: "off", enabled: false, domains: ["off.example"] },
        ],
      }),
    );

    it.each([
      { rule: "a pattern covers the subdomains, in any spelling, for every organization", id: 501, ending: "owned" },
      { rule: "a domain covers its subdomains", id: 503, ending: "popular" },
      { rule: "a disabled rule covers nothing", id: 506, ending: null },
    ])("$rule", async ({ id, ending }) => {
      const api = customerApi(store, clock, "key_1", "acme");
      const asked = api.reviewProposal({ proposalId: id, assetId: id, decision: "APPROVE", label: "C2 Server" });

      if (ending === null) expect(await asked).toMatchObject({ proposal: { asset: { status: "BLOCKED" } } });
      else
        await expect(asked).rejects.toMatchObject({
          code: "api_forbidden",
          message: expect.stringContaining(`"${ending}"`) as string,
        });
    });
  });

  describe("what follows from a review", () => {
    it("approved: the asset is blocked for every organization, also as a false positive", async () => {
      await importFixture(
        store,
        clock,
        proposalsFixture([{ id: 301 }, { id: 401, organization: "globex", assetId: 301 }]),
      );

      await customerApi(store, clock, "key_1", "acme").reviewProposal({
        proposalId: 301,
        assetId: 301,
        decision: "APPROVE",
        label: "False Positive",
      });

      const { reports } = await customerApi(store, clock, "key_2", "globex").listReports({});
      expect(reports).toMatchObject([
        { proposals: [{ needsCustomerReview: true, asset: { id: 301, status: "BLOCKED" } }] },
      ]);
    });

    it("watchlisted: a flag of the asset beside its status", async () => {
      await importFixture(store, clock, proposalsFixture([{ id: 301 }]));

      await customerApi(store, clock, "key_1", "acme").reviewProposal({
        proposalId: 301,
        assetId: 301,
        decision: "WATCHLIST",
        watchlistReason: "OTHER",
        note: " down since Monday ",
      });

      expect(await store.platform.assets.byId(301)).toMatchObject({ status: "UNKNOWN", isWatchlisted: true });
    });

    it("rejected: the listing shows who decided what", async () => {
      await importFixture(store, clock, proposalsFixture([{ id: 301 }]));
      await review(customerApi(store, clock, "key_1", "acme"), 301);

      const { reports } = await customerApi(store, clock, "key_1", "acme").listReports({ onlyRejected: true });

      expect(reports).toMatchObject([{ id: 301, proposals: [{ decision: "REJECT", decidedBy: "human" }] }]);
    });
  });
});
