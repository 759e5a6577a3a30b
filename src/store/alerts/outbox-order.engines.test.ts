import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { isLong } from "../../../test/support/tier.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type { EndedDelivery, OutboxStore } from "./outbox.ts";

const nowMs = Date.UTC(2026, 5, 1);

let outbox: OutboxStore;

/** Ends one delivery; false: it was not under way. */
async function settle(end: EndedDelivery): Promise<boolean> {
  return (await outbox.settle([end])).size > 0;
}

const idsOf = (entries: readonly { id: string }[]): string[] => entries.map(({ id }) => id);

interface Waiting {
  readonly id: string;
  readonly receiver: string;
  readonly incident: number;
  state: "queued" | "leased" | "dead";
  dueAtMs: number;
}

const receivers = ["ops", "pager"];
const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("enqueue" as const),
      receiver: fc.constantFrom(...receivers),
      incident: fc.integer({ min: 0, max: 3 }),
      inMs: fc.nat(50),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("claim" as const),
      receiver: fc.constantFrom(...receivers),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "delivered" as const,
        "retryLater" as const,
        "deadLetter" as const,
        "retry" as const,
        "discard" as const,
      ),
      index: fc.nat(30),
      inMs: fc.nat(50),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("requeue" as const), index: fc.nat(30) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 40 }) }) },
);

describe.each(storeEngines)("the order of the outbox on $engine", ({ useStore }) => {
  const opened = useStore(() => createVirtualClock({ startMs: nowMs }));
  beforeEach(() => {
    outbox = opened.store.outbox;
  });

  it("is that of a queue for each receiver and incident, whatever happens", async () => {
    let world = 0;
    const property = fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
      world++;
      const queue: Waiting[] = [];
      const name = (receiver: string): string => `${receiver}-${world}`;
      let atMs = nowMs;
      const isFree = (one: Waiting): boolean => one.state === "queued" && one.dueAtMs <= atMs;
      const isFirst = (one: Waiting): boolean =>
        !queue
          .slice(0, queue.indexOf(one))
          .some(
            (older) =>
              older.receiver === one.receiver &&
              older.state !== "dead" &&
              older.incident === one.incident &&
              one.incident !== 0,
          );

      for (const step of operations) {
        if (step.kind === "wait") atMs += step.ms;
        else if (step.kind === "enqueue") {
          const id = `${world}-${queue.length}-${atMs}-${operations.indexOf(step)}`;
          const entry = { id, receiver: name(step.receiver), incident: step.incident };
          await outbox.enqueue([{ ...entry, createdAtMs: atMs + step.inMs, payload: "{}" }]);
          queue.push({ ...entry, state: "queued", dueAtMs: atMs + step.inMs });
        } else if (step.kind === "claim") {
          const receiver = name(step.receiver);
          const expected = queue
            .filter((one) => one.receiver === receiver && isFree(one) && isFirst(one))
            .slice(0, step.limit);
          const claimed = await outbox.claim([{ receiver, nowMs: atMs, limit: step.limit }]);
          expect(idsOf(claimed)).toEqual(idsOf(expected));
          for (const one of expected) one.state = "leased";
        } else if (step.kind === "requeue") {
          const kept = queue[step.index % Math.max(1, queue.length)];
          await outbox.requeueBut(kept === undefined ? [] : [kept.id]);
          for (const one of queue) if (one.state === "leased" && one !== kept) one.state = "queued";
        } else {
          const one = queue[step.index % Math.max(1, queue.length)];
          if (one === undefined) continue;
          const isHeld = one.state === "leased";
          if (step.kind === "delivered") {
            expect(await settle({ kind: "delivered", id: one.id })).toBe(isHeld);
            if (isHeld) queue.splice(queue.indexOf(one), 1);
          } else if (step.kind === "deadLetter") {
            expect(await settle({ kind: "dead", id: one.id, lastError: "no" })).toBe(isHeld);
            if (isHeld) one.state = "dead";
          } else if (step.kind === "retryLater") {
            const nextAttemptAtMs = atMs + step.inMs;
            expect(await settle({ kind: "retry", id: one.id, nextAttemptAtMs, lastError: "no" })).toBe(isHeld);
            if (isHeld) Object.assign(one, { state: "queued", dueAtMs: nextAttemptAtMs });
          } else if (step.kind === "retry") {
            const { kind } = await outbox.retry(one.id, atMs);
            // One that was followed is left as it is.
            expect(isHeld ? ["under_way"] : ["queued", "followed"]).toContain(kind);
            if (kind === "queued") Object.assign(one, { state: "queued", dueAtMs: atMs });
          } else {
            expect(await outbox.discard(one.id)).toBe("{}");
            queue.splice(queue.indexOf(one), 1);
          }
        }
      }
    });
    await fc.assert(property, { numRuns: isLong ? 100 : 20 });
  });
});
