import { beforeEach, describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type {
  EndedDelivery,
  LeasedEntry,
  NewOutboxEntry,
  OutboxClaim,
  OutboxEntry,
  OutboxRetry,
  OutboxStore,
} from "./outbox.ts";

const nowMs = Date.UTC(2026, 5, 1);

let outbox: OutboxStore;

function enqueue(id: string, over: Partial<NewOutboxEntry> = {}): Promise<void> {
  return outbox.enqueue([{ id, receiver: "ops", createdAtMs: nowMs, payload: "{}", ...over }]);
}

function claim(over: Partial<OutboxClaim> = {}): Promise<readonly LeasedEntry[]> {
  return outbox.claim([{ receiver: "ops", nowMs, limit: 10, ...over }]);
}

/** Ends one delivery; false: it was not under way. */
async function settle(end: EndedDelivery): Promise<boolean> {
  return (await outbox.settle([end])).size > 0;
}

const retry = async (id: string, atMs = nowMs): Promise<OutboxRetry["kind"]> => (await outbox.retry(id, atMs)).kind;
const delivered = (id: string): Promise<boolean> => settle({ kind: "delivered", id });
const dead = (id: string, lastError: string): Promise<boolean> => settle({ kind: "dead", id, lastError });

const idsOf = (entries: readonly { id: string }[]): string[] => entries.map(({ id }) => id);
const stateOf = async (id: string): Promise<OutboxEntry | undefined> =>
  (await outbox.list()).find((one) => one.id === id);

describe.each(storeEngines)("on $engine,", ({ useStore }) => {
  const opened = useStore(() => createVirtualClock({ startMs: nowMs }));
  beforeEach(() => {
    outbox = opened.store.outbox;
  });

  describe("the outbox", () => {
    it("leases what is due, the oldest first, with all that a delivery needs", async () => {
      await enqueue("one", { incident: 41, payload: '{"a":1}' });
      await enqueue("two");
      await enqueue("later", { createdAtMs: nowMs + 1 });
      await enqueue("other", { receiver: "pager" });

      const entries = await claim();

      expect(idsOf(entries)).toEqual(["one", "two"]);
      expect(entries[0]).toEqual({
        seq: 1,
        id: "one",
        receiver: "ops",
        recipient: null,
        incident: 41,
        state: "leased",
        attempts: 1,
        createdAtMs: nowMs,
        nextAttemptAtMs: nowMs,
        lastError: null,
        payload: '{"a":1}',
      });
      expect(await claim()).toEqual([]);
    });

    it("knows when something will be due that is not now: an attempt, or the end of a pause", async () => {
      await enqueue("due");
      await enqueue("later", { createdAtMs: nowMs + 70_000 });
      await outbox.pause({ receiver: "paused", untilMs: nowMs + 90_000 });

      expect(await outbox.nextDueAtMs(nowMs)).toBe(nowMs + 70_000);
      expect(await outbox.nextDueAtMs(nowMs + 70_000)).toBe(nowMs + 90_000);
      expect(await outbox.nextDueAtMs(nowMs + 90_000)).toBeNull();
    });

    it("keeps the order of an incident for each recipient of a receiver, and holds no other back", async () => {
      for (const recipient of ["kim@example.com", "lee@example.com"]) {
        await enqueue(`firing ${recipient}`, { recipient, incident: 41 });
        await enqueue(`resolved ${recipient}`, { recipient, incident: 41 });
      }
      await claim();
      await delivered("firing kim@example.com");

      const entries = await claim();

      expect(entries).toMatchObject([{ id: "resolved kim@example.com", recipient: "kim@example.com" }]);
    });

    it("queues a list in its order, and a reminder in the place of a waiting one of its incident", async () => {
      const entry = { receiver: "ops", createdAtMs: nowMs, payload: "{}" };
      const some = Array.from({ length: 90 }, (_, index) => ({ ...entry, id: `n-${index}`, incident: index % 2 }));
      await outbox.enqueue(some);
      expect(idsOf(await outbox.list())).toEqual(idsOf(some));

      const reminder = { ...entry, incident: 7, isReminder: true };
      await outbox.enqueue([{ ...reminder, id: "under way" }]);
      await claim({ limit: 99 });
      await outbox.enqueue([{ ...entry, id: "change", incident: 7 }]);
      for (const id of ["waits", "replaces"]) await outbox.enqueue([{ ...reminder, id }]);
      await outbox.enqueue([{ ...reminder, id: "of another", incident: 8 }]);

      expect(idsOf(await outbox.list()).slice(90)).toEqual(["under way", "change", "replaces", "of another"]);
    });

    it("makes a dead letter due again with new attempts and a new age", async () => {
      await enqueue("one", { createdAtMs: nowMs - 90_000_000 });
      await claim();
      await dead("one", "gone");
      expect(await stateOf("one")).toMatchObject({ state: "dead", lastError: "gone" });

      expect(await retry("one", nowMs + 7)).toBe("queued");

      expect(await stateOf("one")).toMatchObject({
        state: "queued",
        attempts: 0,
        createdAtMs: nowMs + 7,
        nextAttemptAtMs: nowMs + 7,
      });
    });

    it("does not retry what its receiver has accepted a later one of the same incident after", async () => {
      const others = {
        "of another": { incident: 42 },
        "of nobody": {},
        "to another": { incident: 41, receiver: "pager" },
        "to a recipient": { incident: 41, recipient: "a@example.com" },
      };
      for (const [id, over] of Object.entries({ older: { incident: 41 }, ...others })) await enqueue(id, over);
      await claim();
      await claim({ receiver: "pager" });
      for (const id of ["older", ...Object.keys(others)]) await dead(id, "HTTP 400");
      await enqueue("accepted", { incident: 41 });
      await claim();
      await delivered("accepted");

      expect(await retry("older")).toBe("followed");
      expect(await stateOf("older")).toMatchObject({ state: "dead", lastError: "HTTP 400" });
      for (const id of Object.keys(others)) expect(await retry(id)).toBe("queued");
    });

    it("gives up what waits for receivers that are gone, under way or not", async () => {
      await enqueue("stays");
      await enqueue("queued", { receiver: "pager" });
      await enqueue("leased", { receiver: "slack" });
      await claim({ receiver: "slack" });

      expect(await outbox.deadLetterUnknownReceivers(["ops", "new"], "receiver removed")).toHaveLength(2);

      expect(await stateOf("queued")).toMatchObject({ state: "dead", lastError: "receiver removed" });
      expect(await delivered("leased")).toBe(false);
      expect(await outbox.deadLetterUnknownReceivers(["ops"], "again")).toEqual([]);
      expect(await outbox.deadLetterUnknownReceivers([], "all")).toHaveLength(1);
    });

    it("gives nothing of a paused receiver away before the pause is over, and all of another", async () => {
      await enqueue("one");
      await enqueue("other", { receiver: "pager" });

      await outbox.pause({ receiver: "ops", untilMs: nowMs + 60_000 });
      await outbox.pause({ receiver: "ops", untilMs: nowMs + 1_000 });

      expect(idsOf(await claim())).toEqual([]);
      expect(idsOf(await claim({ receiver: "pager" }))).toEqual(["other"]);
      expect(await stateOf("one")).toMatchObject({ state: "queued", attempts: 0, nextAttemptAtMs: nowMs + 60_000 });
      expect(await outbox.pauses(nowMs)).toEqual(new Map([["ops", nowMs + 60_000]]));
      expect(await outbox.pauses(nowMs + 60_000)).toEqual(new Map());
      expect(idsOf(await claim({ nowMs: nowMs + 60_000 }))).toEqual(["one"]);
    });

    it("ends a pause when asked to, and when an entry of the receiver is retried or the receiver is gone", async () => {
      await enqueue("one");
      const pause = { untilMs: nowMs + 60_000 };
      for (const receiver of ["ops", "pager", "slack"]) await outbox.pause({ receiver, ...pause });

      expect(await outbox.endPause("pager", nowMs)).toBe(true);
      expect(await outbox.endPause("pager", nowMs)).toBe(false);
      expect(await outbox.endPause("slack", nowMs + 60_000)).toBe(false);
      expect(await retry("one")).toBe("queued");
      expect(await outbox.pauses(nowMs)).toEqual(new Map());

      await outbox.pause({ receiver: "ops", ...pause });
      await outbox.pause({ receiver: "gone", ...pause });
      await outbox.deadLetterUnknownReceivers(["ops"], "receiver removed");
      expect([...(await outbox.pauses(nowMs)).keys()]).toEqual(["ops"]);
    });

    it("counts what waits and what was given up, per receiver", async () => {
      await enqueue("one", { createdAtMs: nowMs - 5 });
      await enqueue("two", { createdAtMs: nowMs - 9 });
      await enqueue("three", { createdAtMs: nowMs - 99 });
      await enqueue("four", { receiver: "pager" });
      await claim();
      await dead("three", "404");
      await claim({ receiver: "pager" });
      await dead("four", "404");

      expect(await outbox.totals()).toEqual([
        { receiver: "ops", pending: 2, deadLetters: 1, oldestCreatedAtMs: nowMs - 9 },
        { receiver: "pager", pending: 0, deadLetters: 1, oldestCreatedAtMs: null },
      ]);
    });

    it("forgets old dead letters in slices, and nothing that waits", async () => {
      for (const id of ["one", "two", "three"]) await enqueue(id);
      await enqueue("young", { createdAtMs: nowMs + 1 });
      await claim();
      for (const id of ["one", "two", "young"]) await dead(id, "gone");

      const limits = { beforeMs: nowMs, mostBytes: 1_000 };
      const first = await outbox.pruneDeadLetters({ ...limits, maxRows: 1 });
      const second = await outbox.pruneDeadLetters({ ...limits, maxRows: 2 });

      expect([first, second]).toEqual([
        { hasMore: true, crowdedOut: 0 },
        { hasMore: false, crowdedOut: 0 },
      ]);
      expect(idsOf(await outbox.list())).toEqual(["three", "young"]);
    });

    it("forgets the oldest dead letters where all of them take too many bytes, and nothing that waits", async () => {
      for (const id of ["one", "two", "waits", "three", "four"]) await enqueue(id, { payload: "ä".repeat(50) });
      await claim();
      for (const id of ["four", "one", "three", "two"]) await dead(id, "gone");
      const limits = { beforeMs: nowMs - 1, maxRows: 1 };

      const whole = await outbox.pruneDeadLetters({ ...limits, mostBytes: 400 });
      const first = await outbox.pruneDeadLetters({ ...limits, mostBytes: 250 });
      const second = await outbox.pruneDeadLetters({ ...limits, mostBytes: 250 });
      const third = await outbox.pruneDeadLetters({ ...limits, mostBytes: 250 });

      expect([whole, first, second, third].map(({ crowdedOut }) => crowdedOut)).toEqual([0, 1, 1, 0]);
      expect([first, second, third].map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
      expect(idsOf(await outbox.list())).toEqual(["waits", "three", "four"]);
    });

    it("knows the event of the first alert in each notification that is asked for", async () => {
      const payload = (...events: readonly string[]): string =>
        JSON.stringify({ id: "x", labels: { event: "no" }, alerts: events.map((event) => ({ slug: "acme", event })) });
      await enqueue("one", { payload: payload("firing", "resolved") });
      await enqueue("two", { payload: payload() });
      await enqueue("three", { payload: payload("resolved") });

      expect(await outbox.eventsOf(["one", "two", "unknown"])).toEqual(new Map([["one", "firing"]]));
      expect(await outbox.eventsOf([])).toEqual(new Map());
    });

    it("tells what waits of an incident: the newest, in their order, with the pause of the receiver", async () => {
      for (const receiver of ["zero", "one", "two", "three"]) await enqueue(receiver, { incident: 41, receiver });
      await enqueue("other", { incident: 42 });
      await outbox.pause({ receiver: "two", untilMs: nowMs + 60_000 });

      const last = await outbox.ofIncident(41, 3);

      expect(last.map(({ receiver, nextAttemptAtMs }) => [receiver, nextAttemptAtMs - nowMs])).toEqual([
        ["one", 0],
        ["two", 60_000],
        ["three", 0],
      ]);
      expect(last[0]).not.toHaveProperty("payload");
    });
  });
});
