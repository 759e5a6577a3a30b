import { createHash } from "node:crypto";
import { FlatlineError, asFlatlineError } from "../base/errors.ts";
import { createLoop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { memoized } from "../base/memo.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckKey, CheckState } from "../store/runs/check-state.ts";
import { shardCount, type Lease, type Owner } from "../store/runs/owners.ts";
import type { Store } from "../store/store.ts";

/** The part of this process in the fleet of those that share a store: its commits, its shards, and what the others ran. */
export interface Membership {
  /** Fills the board, and takes part. `isAlone`: no other process is on the store, so that no lease has to be waited for. */
  start(isAlone: boolean): Promise<void>;
  /** Returns this process as an owner; null while it takes no part. The store decides whether it may still commit runs. */
  owner(): Owner | null;
  /** The same while the lease is certain, so that no other process runs the same checks; null: nothing may be begun. */
  leasedOwner(): Owner | null;
  /** Whether this process runs the check. */
  owns(check: CheckKey): boolean;
  /** Shows on the board what the others ran since the last look. */
  follow(): Promise<void>;
  /** Joins again as another owner, because it is unknown what the store has taken of this process. */
  distrust(owner: Owner): void;
  /** Gives the shards back. */
  stop(): Promise<void>;
}

export interface MembershipOptions {
  readonly store: Pick<Store, "runs" | "owners">;
  readonly board: Board;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when other checks are this process's than before. */
  readonly onShards: () => void;
  /** Called after other processes' runs came onto the board. */
  readonly onFollowed: (states: readonly CheckState[]) => void;
  /** Resolves when none of these checks is running here. */
  readonly whenIdle: (isOf: (check: CheckKey) => boolean) => Promise<void>;
  /** Called at each look, while others may ask for runs of this process's checks. */
  readonly onLook?: () => Promise<void>;
}

/** Long enough for a loop that is blocked by a slow disk, short enough that the checks of a crashed process are not missed. */
export const leaseMs = 10 * secondMs;
const renewEveryMs = 3 * secondMs;
// A lease is renewed at a look, and a look may take a while.
const missedAfterMs = leaseMs / 2;
const lookEveryMs = secondMs;

// Each run looks up its shard.
const keptSlugs = 20_000;

/** The shard of an organization: a stable hash of the slug. */
export const shardOf = memoized(
  keptSlugs,
  (slug: string) => createHash("sha256").update(slug).digest().readUInt32BE(8) % shardCount,
);

/** Creates a process that takes no part yet. */
export function createMembership(options: MembershipOptions): Membership {
  const { store, board, clock } = options;
  const logger = options.logger.child({ room: "monitor" });
  const loop = createLoop({ clock, everyMs: lookEveryMs, firstAfterMs: lookEveryMs, runOnce, onError: note });
  let own: Owner | null = null;
  let shards: ReadonlySet<number> = new Set();
  /** Shards that go to another process: no run of them begins any more. */
  const giving = new Set<number>();
  let isAlone = false;
  /** The shards are those that the store gave the owner; while they may be others it is asked again. */
  let isBalanced = false;
  /** Instant of the monotonic clock. */
  let leasedUntilMs = -Infinity;
  let renewedAtMs = -Infinity;
  /** Why it does not take part, or may have lost a run; null once it takes part again. */
  let failure: FlatlineError | null = null;
  let following: Promise<void> = Promise.resolve();
  let nextFollow: Promise<void> | null = null;

  function setShards(next: readonly number[]): void {
    if (next.length === shards.size && next.every((shard) => shards.has(shard))) return;
    shards = new Set(next);
    options.onShards();
  }

  function lose(): void {
    own = null;
    leasedUntilMs = -Infinity;
    isBalanced = false;
    setShards([]);
  }

  /** Counted from before it is asked for: when the answer is late, so is the end of the lease for everybody else. */
  async function leased<Answer>(ask: (lease: Lease) => Promise<Answer>): Promise<Answer> {
    const askedAtMs = clock.monotonicMs();
    const nowMs = clock.nowMs();
    const answer = await ask({ nowMs, leaseUntilMs: nowMs + leaseMs });
    renewedAtMs = askedAtMs;
    leasedUntilMs = askedAtMs + leaseMs;
    return answer;
  }

  async function renew(): Promise<Owner> {
    const known = own;
    if (known !== null) {
      if (await leased((lease) => store.owners.renew(known, lease))) return known;
      logger.warn({}, "lease was lost, its checks are run by another process; taking part again");
      lose();
    }
    own = await leased((lease) => store.owners.register(lease));
    return own;
  }

  async function balance(owner: Owner): Promise<void> {
    isBalanced = false;
    const nowMs = clock.nowMs();
    const renewedUntilMs = nowMs + leaseMs - missedAfterMs;
    const balanced = await store.owners.balance(owner, { nowMs, isAlone, renewedUntilMs });
    // Another process balances the shards: this one looks again soon.
    if (balanced === null || own !== owner) return;
    const kept = balanced.shards.filter((shard) => !giving.has(shard));
    const given = kept.splice(kept.length - Math.max(0, balanced.surplus - giving.size));
    // The runs of the owner before are on the board before any check of the shard is run here.
    if (kept.some((shard) => !shards.has(shard))) await follow();
    if (own !== owner) return;
    setShards(kept);
    isBalanced = true;
    if (given.length > 0) void giveBack(owner, given);
  }

  /** Frees shards for another process as soon as none of their checks is running here. */
  async function giveBack(owner: Owner, given: readonly number[]): Promise<void> {
    for (const shard of given) giving.add(shard);
    try {
      await options.whenIdle(({ slug }) => giving.has(shardOf(slug)));
      await store.owners.release(owner, given);
    } catch (error) {
      logger.debug({ err: error }, "shards could not be given back, trying again");
    } finally {
      for (const shard of given) giving.delete(shard);
    }
  }

  async function readOthers(): Promise<void> {
    const changed = board.learn(await store.runs.checksAfter(board.known(), own?.ownerId ?? 0));
    if (changed.length > 0) options.onFollowed(changed);
  }

  /** A look that begins now or later: a running one may have missed what the caller knows to be committed. */
  function follow(): Promise<void> {
    nextFollow ??= following
      .catch(() => undefined)
      .then(() => {
        nextFollow = null;
        following = readOthers();
        return following;
      });
    return nextFollow;
  }

  async function look(): Promise<void> {
    if (!isBalanced || clock.monotonicMs() - renewedAtMs >= renewEveryMs) await balance(await renew());
    failure = null;
    // No other process runs checks.
    if (isAlone) return;
    await follow();
    await options.onLook?.();
  }

  async function runOnce(): Promise<number> {
    await look();
    // A process that is alone keeps its part.
    return isAlone && isBalanced ? Infinity : lookEveryMs;
  }

  function note(error: unknown): void {
    failure = asFlatlineError(error);
    logger.debug({ err: error }, "store could not be looked at, trying again");
  }

  return {
    start: async (alone) => {
      isAlone = alone;
      board.learn(await store.runs.load());
      await balance(await renew());
      loop.start();
    },
    owner: () => own,
    leasedOwner: () => (isAlone || clock.monotonicMs() < leasedUntilMs ? own : null),
    owns: ({ slug }) => shards.has(shardOf(slug)),
    follow,
    distrust: (owner) => {
      if (own !== owner) return;
      logger.warn({}, "it is not known what the store has taken, taking part again");
      failure = new FlatlineError("store_unusable", "it is not known what the store has taken");
      lose();
      void store.owners.leave(owner).catch(() => undefined);
      loop.wake();
    },
    stop: async () => {
      await loop.stop();
      if (own !== null) await store.owners.leave(own);
      // The fault that made it lose its part, as a full disk, has kept a run from being stored too.
      else if (failure !== null) throw failure;
      lose();
    },
  };
}
