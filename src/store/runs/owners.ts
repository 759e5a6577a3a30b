import { sql } from "kysely";
import { leaseInstant, leaseNow, type LeaseClock } from "../engine/dialect.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import type { PlainDb } from "../schema.ts";
import { tryTransactionLock } from "../engine/advisory-lock.ts";

/** A process that runs checks. It owns its shards while its epoch lasts. */
export interface Owner {
  readonly ownerId: number;
  readonly epoch: number;
  /** Its last commit of runs: they count from 1 without gaps. */
  seq: number;
}

/** The lease of an owner that has ended. */
const endedLease = 0;

/** The number of shards: enough for a dozen processes with about equal shares. */
export const shardCount = 64;

/** Start and end of a lease. */
export interface Lease {
  readonly nowMs: number;
  readonly leaseUntilMs: number;
}

/** The instant of balancing shards, and the owners among whom they are balanced. */
export interface BalancedAt {
  readonly nowMs: number;
  /** Whether no other process is on the store. */
  readonly isAlone: boolean;
  /**
   * Instant before which the end of another owner's lease means that it no longer counts for the shares: it should have
   * renewed it, and no shard is kept free for a dead one. Its own shards stay its own until the lease has expired.
   */
  readonly renewedUntilMs: number;
}

/** The result of `balance`. */
export interface Balanced {
  /** Shards of this owner. */
  readonly shards: readonly number[];
  /** How many of them another process should own. */
  readonly surplus: number;
}

/**
 * Creates the store of which process runs the checks of which shard. An owner is a process with an epoch and a lease. A process that finds an
 * expired lease first raises the epoch, after which the old owner cannot commit runs, and then takes the shards.
 */
export function createOwnerStore(db: PlainDb, leaseClock: LeaseClock) {
  return {
    /** Creates an owner without shards. */
    register: async ({ nowMs, leaseUntilMs }: Lease): Promise<Owner> => {
      const until = leaseInstant(leaseClock, leaseUntilMs, nowMs);
      const { rows } = await sql<{ owner_id: number }>`
        insert into owners (epoch, lease_until_ms, seq) values (1, ${until}, 0) returning owner_id`.execute(db);
      return { ownerId: rows[0]?.owner_id ?? 0, epoch: 1, seq: 0 };
    },
    /** Extends the lease; returns false if the epoch has ended. */
    renew: async ({ ownerId, epoch }: Owner, { nowMs, leaseUntilMs }: Lease): Promise<boolean> => {
      const until = leaseInstant(leaseClock, leaseUntilMs, nowMs);
      const { numAffectedRows = 0n } = await sql`
        update owners set lease_until_ms = ${until} where owner_id = ${ownerId} and epoch = ${epoch}`.execute(db);
      return numAffectedRows > 0n;
    },
    /**
     * Ends owners whose lease has expired, or all others if this process is known to be alone. Assigns free shards to this
     * owner, up to its share. Returns null if its own epoch has ended, or if another process is balancing.
     */
    balance: (owner: Owner, now: BalancedAt): Promise<Balanced | null> =>
      inTransaction(db, (db) => balance(db, owner, { ...now, leaseClock })),
    /** Releases shards of this owner. */
    release: async ({ ownerId }: Owner, shards: readonly number[]): Promise<void> => {
      if (shards.length === 0) return;
      await sql`update shards set owner_id = null
        where owner_id = ${ownerId} and shard in (${sql.join(shards.map((shard) => sql`${shard}`))})`.execute(db);
    },
    /** Deletes owners that have ended once others have run all of their checks: until then processes read what they ran. */
    deleteEnded: async (): Promise<void> => {
      await sql`delete from owners where lease_until_ms = ${endedLease}
        and owner_id not in (select owner_id from checks where owner_id is not null)`.execute(db);
    },
    /** Releases all shards and ends the epoch. */
    leave: async ({ ownerId, epoch }: Owner): Promise<void> => {
      await inTransaction(db, async (db) => {
        await sql`update owners set epoch = epoch + 1, lease_until_ms = ${endedLease}
            where owner_id = ${ownerId} and epoch = ${epoch}`.execute(db);
        await freeEnded(db);
      });
    },
  };
}

async function balance(
  db: PlainDb,
  { ownerId, epoch }: Owner,
  { nowMs, isAlone, renewedUntilMs, leaseClock }: BalancedAt & { readonly leaseClock: LeaseClock },
): Promise<Balanced | null> {
  if (!(await tryTransactionLock(db, "shards of the checks"))) return null;
  const now = leaseNow(leaseClock, nowMs);
  const isGone = isAlone ? sql<boolean>`1 = 1` : sql<boolean>`lease_until_ms <= ${now}`;
  await sql`update owners set epoch = epoch + 1, lease_until_ms = ${endedLease}
    where owner_id <> ${ownerId} and lease_until_ms <> ${endedLease} and ${isGone}`.execute(db);
  await freeEnded(db);
  const { rows: counted } = await sql<{ owner_id: number; epoch: number }>`
    select owner_id, epoch from owners
    where owner_id = ${ownerId} or lease_until_ms >= ${leaseInstant(leaseClock, renewedUntilMs, nowMs)}`.execute(db);
  if (!counted.some((one) => one.owner_id === ownerId && one.epoch === epoch)) return null;
  const share = Math.ceil(shardCount / counted.length);
  const held = await shardsOf(db, ownerId);
  if (held.length < share) {
    await sql`update shards set owner_id = ${ownerId} where shard in (
      select shard from shards where owner_id is null order by shard limit ${share - held.length})`.execute(db);
  }
  const shards = held.length < share ? await shardsOf(db, ownerId) : held;
  return { shards, surplus: Math.max(0, shards.length - share) };
}

async function freeEnded(db: PlainDb): Promise<void> {
  await sql`update shards set owner_id = null where owner_id is not null
    and owner_id not in (select owner_id from owners where lease_until_ms <> ${endedLease})`.execute(db);
}

async function shardsOf(db: PlainDb, ownerId: number): Promise<number[]> {
  const rows = await db.selectFrom("shards").select("shard").where("owner_id", "=", ownerId).orderBy("shard").execute();
  return rows.map(({ shard }) => shard);
}
