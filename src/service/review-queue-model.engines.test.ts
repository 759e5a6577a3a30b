import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { customerApi, importFixture, proposalsFixture } from "../../test/support/far-side/platform-fixture.ts";
import { storeEngines } from "../../test/support/store/engines.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { asFlatlineError } from "../base/errors.ts";
import { recordReview } from "./local-review.ts";
import { isLong } from "../../test/support/tier.ts";

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 10, 20);
const organizations = ["acme", "globex"] as const;
// Fewer proposals than steps, more than the budget: both limits are met.
const proposalIds = Array.from({ length: 26 }, (_, index) => index + 1);

function ownerOf(id: number): (typeof organizations)[number] {
  return id <= 22 ? "acme" : "globex";
}

type Step =
  | { readonly kind: "escalate"; readonly id: number }
  | { readonly kind: "answer"; readonly id: number }
  | { readonly kind: "reviewInApplication"; readonly id: number }
  | { readonly kind: "review"; readonly id: number; readonly key: number }
  | { readonly kind: "wait"; readonly hours: number };

/** The review queue and the budget as the contract tells them, in its order of checks. */
class Model {
  readonly #proposals = new Map(proposalIds.map((id) => [id, { queue: "none", isResolved: false }]));
  readonly #reviewedAtMs: Record<string, number[]> = { acme: [], globex: [] };

  escalate(id: number): void {
    this.#proposals.set(id, { queue: "queued", isResolved: false });
  }

  answer(id: number): void {
    this.#proposals.set(id, { queue: "answered", isResolved: false });
  }

  resolve(id: number): void {
    this.#proposals.set(id, { queue: "answered", isResolved: true });
  }

  review(slug: string, id: number, nowMs: number): string {
    const proposal = this.#proposals.get(id);
    if (proposal === undefined || ownerOf(id) !== slug) return "api_not_found";
    if (proposal.isResolved) return "api_conflict";
    if (proposal.queue !== "queued") return "api_forbidden";
    const recent = (this.#reviewedAtMs[slug] ?? []).filter((atMs) => atMs > nowMs - 24 * hourMs);
    if (recent.length >= 10) return `api_rate_limited ${(recent.at(-10) ?? 0) + 24 * hourMs - nowMs}`;
    this.#reviewedAtMs[slug]?.push(nowMs);
    this.resolve(id);
    return "ok";
  }

  waiting(slug: string): number[] {
    return proposalIds.filter((id) => ownerOf(id) === slug && this.#proposals.get(id)?.queue === "queued");
  }
}

const id = fc.constantFrom(...proposalIds);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("review" as const), id, key: fc.integer({ min: 0, max: 2 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("escalate" as const), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("answer" as const), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reviewInApplication" as const), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 25 }) }) },
);

describe.each(storeEngines)("on $engine,", ({ engine, openTemporary }) => {
  describe("the review queue and the budget", () => {
    it("go as the model says, through any sequence of steps over several keys", { timeout: 300_000 }, async () => {
      const runs = { SQLite: isLong ? 200 : 4, PostgreSQL: isLong ? 20 : 3 }[engine];
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
          const clock = createVirtualClock({ startMs });
          const opened = await openTemporary(clock);
          const { store } = opened;
          const keys = [
            { slug: "acme", api: customerApi(store, clock, "key_1", "acme") },
            { slug: "acme", api: customerApi(store, clock, "key_2", "acme") },
            { slug: "globex", api: customerApi(store, clock, "key_3", "globex") },
          ];
          const model = new Model();
          const state = (ids: readonly number[], queue: "none" | "queued" | "answered"): Promise<unknown> =>
            importFixture(store, clock, proposalsFixture(ids.map((id) => ({ id, organization: ownerOf(id), queue }))));
          try {
            await state(proposalIds, "none");
            // A full queue first: else the budget is seldom met.
            await state(proposalIds.slice(0, 15), "queued");
            for (const id of proposalIds.slice(0, 15)) model.escalate(id);
            for (const taken of steps) {
              if (taken.kind === "wait") {
                await clock.advance(taken.hours * hourMs);
              } else if (taken.kind === "escalate") {
                await state([taken.id], "queued");
                model.escalate(taken.id);
              } else if (taken.kind === "answer") {
                await state([taken.id], "answered");
                model.answer(taken.id);
              } else if (taken.kind === "reviewInApplication") {
                await store.transaction(async (parts) => {
                  const proposal = await parts.platform.reports.proposal(taken.id);
                  const asset = await parts.platform.assets.byId(taken.id);
                  if (proposal === null || asset === null) throw new Error("the fixture has it");
                  const request = { decision: "REJECT", rejectReason: "decayed" } as const;
                  const nowMs = clock.nowMs();
                  await recordReview(parts, { request, proposal, asset, origin: "application", keyId: null, nowMs });
                });
                model.resolve(taken.id);
              } else {
                const key = keys[taken.key % keys.length];
                if (key === undefined) throw new Error("there are three keys");
                const ending = await key.api
                  .reviewProposal({
                    proposalId: taken.id,
                    assetId: taken.id,
                    decision: "REJECT",
                    rejectReason: "decayed",
                  })
                  .then(() => "ok")
                  .catch((error: unknown) => {
                    const { code, retryAfterMs } = asFlatlineError(error);
                    return retryAfterMs === undefined ? code : `${code} ${retryAfterMs}`;
                  });

                expect(ending).toBe(model.review(key.slug, taken.id, clock.nowMs()));
              }
              await clock.advance(1);
            }
            for (const { slug, api } of keys) {
              const { reports } = await api.listReports({ needsCustomerReview: true, limit: 100 });

              expect(reports.map((report) => report["id"]).toReversed()).toEqual(model.waiting(slug));
            }
          } finally {
            await opened.close();
          }
        }),
        { numRuns: runs },
      );
    });
  });
});
