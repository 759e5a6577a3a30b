import { sql } from "kysely";
import { leaseInstant, leaseNow, type LeaseClock } from "../engine/engine.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import type { Db } from "../schema.ts";
import { tryTransactionLock } from "../engine/transaction-lock.ts";
import { endedLease } from "./run-tables.ts";
import type { Owner } from "./runs.ts";

/** Into how many parts the checks are divided: enough that a dozen processes have about the same number. */
export const shardCount = 64;

/** When a lease is taken, and until when it is to last. */
export interface Lease {
  readonly nowMs: number;
  readonly leaseUntilMs: number;
}

/** What `balance` found and did. */
export interface Balanced {
  /** Shards of this owner now. */
  readonly shards: readonly number[];
  /** How many of them another process should have. */
  readonly surplus: number;
}

/**
 * Which process runs the checks of which shard. An owner is a process with an epoch and a lease; whoever finds its lease ended
 * raises the epoch first, after which it can append to its journal no more, and then takes its shards.
 */
export interface OwnerStore {
  /** A new owner, without shards. */
  register(lease: Lease): Promise<Owner>;
  /** Prolongs the lease; false: the epoch has ended. */
  renew(owner: Owner, lease: Lease): Promise<boolean>;
  /**
   * Ends owners whose lease has run out, or, for a process that is known to be alone, all others; gives free shards to this
   * one, up to its share. null: its own epoch has ended, or another process is doing the same just now.
   */
  balance(owner: Owner, now: { readonly nowMs: number; readonly isAlone: boolean }): Promise<Balanced | null>;
  /** Frees shards of this owner. */
  release(owner: Owner, shards: readonly number[]): Promise<void>;
  /** Frees all of them and ends the epoch. */
  leave(owner: Owner): Promise<void>;
}

/** Owners and shards over their tables. */
export function createOwnerStore(db: Db, leaseClock: LeaseClock): OwnerStore {
  return {
    register: async ({ nowMs, leaseUntilMs }) => {
      const until = leaseInstant(leaseClock, leaseUntilMs, nowMs);
      const { rows } = await sql<{ owner_id: number }>`
        insert into owners (epoch, lease_until_ms, folded_seq) values (1, ${until}, 0) returning owner_id`.execute(db);
      return { ownerId: rows[0]?.owner_id ?? 0, epoch: 1 };
    },
    renew: async ({ ownerId, epoch }, { nowMs, leaseUntilMs }) => {
      const until = leaseInstant(leaseClock, leaseUntilMs, nowMs);
      const { numAffectedRows = 0n } = await sql`
        update owners set lease_until_ms = ${until} where owner_id = ${ownerId} and epoch = ${epoch}`.execute(db);
      return numAffectedRows > 0n;
    },
    balance: (owner, now) =>
      // Each row is changed by what it is then, not by what it was when the transaction began.
      inTransaction(db, (db) => balance(db, owner, { ...now, leaseClock }), "latest"),
    release: async ({ ownerId }, shards) => {
      if (shards.length === 0) return;
      await sql`update shards set owner_id = null
        where owner_id = ${ownerId} and shard in (${sql.join(shards.map((shard) => sql`${shard}`))})`.execute(db);
    },
    leave: async ({ ownerId, epoch }) => {
      await inTransaction(
        db,
        async (db) => {
          await sql`update owners set epoch = epoch + 1, lease_until_ms = ${endedLease}
            where owner_id = ${ownerId} and epoch = ${epoch}`.execute(db);
          await freeEnded(db);
        },
        "latest",
      );
    },
  };
}

async function balance(
  db: Db,
  { ownerId, epoch }: Owner,
  {
    nowMs,
    isAlone,
    leaseClock,
  }: { readonly nowMs: number; readonly isAlone: boolean; readonly leaseClock: LeaseClock },
): Promise<Balanced | null> {
  if (!(await tryTransactionLock(db, "shards of the checks"))) return null;
  const now = leaseNow(leaseClock, nowMs);
  const isGone = isAlone ? sql<boolean>`1 = 1` : sql<boolean>`lease_until_ms <= ${now}`;
  await sql`update owners set epoch = epoch + 1, lease_until_ms = ${endedLease}
    where owner_id <> ${ownerId} and lease_until_ms <> ${endedLease} and ${isGone}`.execute(db);
  await freeEnded(db);
  const { rows: alive } = await sql<{ owner_id: number; epoch: number }>`
    select owner_id, epoch from owners where lease_until_ms <> ${endedLease}`.execute(db);
  if (!alive.some((one) => one.owner_id === ownerId && one.epoch === epoch)) return null;
  const share = Math.ceil(shardCount / alive.length);
  const held = await shardsOf(db, ownerId);
  if (held.length < share) {
    await sql`update shards set owner_id = ${ownerId} where shard in (
      select shard from shards where owner_id is null order by shard limit ${share - held.length})`.execute(db);
  }
  const shards = held.length < share ? await shardsOf(db, ownerId) : held;
  return { shards, surplus: Math.max(0, shards.length - share) };
}

async function freeEnded(db: Db): Promise<void> {
  await sql`update shards set owner_id = null where owner_id is not null
    and owner_id not in (select owner_id from owners where lease_until_ms <> ${endedLease})`.execute(db);
}

async function shardsOf(db: Db, ownerId: number): Promise<number[]> {
  const rows = await db.selectFrom("shards").select("shard").where("owner_id", "=", ownerId).orderBy("shard").execute();
  return rows.map(({ shard }) => shard);
}
