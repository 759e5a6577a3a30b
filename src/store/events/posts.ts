import { createHash } from "node:crypto";
import { sql } from "kysely";

import { excerpt } from "../../base/cut-text.ts";
import { FlatlineError } from "../../base/errors.ts";
import { matchesText } from "../../base/text-pattern.ts";
import { dayMs, secondMs, type Clock } from "../../base/time.ts";
import { dialectOf } from "../engine/dialect.ts";
import type { PlainDb } from "../schema.ts";
import { writeEvents } from "./database.ts";
import type { IngestOutcome } from "./events.ts";
import { mergeStaged, type Conflicts } from "./merge.ts";
import { inputOfBody, readAll } from "./read.ts";
import { createTally, type StatusTally } from "./rules.ts";
import { openStage, Staging } from "./stage.ts";

/** The outcome of a post; `stored` by status is for flatline_events_ingested_total. */
export interface PostOutcome extends IngestOutcome {
  readonly storedByStatus: Readonly<StatusTally>;
  readonly someConflicts: Conflicts["some"];
  /** Received events by their status, where that is neither a death nor a sign of life. */
  readonly otherStatuses: Readonly<Record<string, number>>;
}

export interface EventPosts {
  /**
   * Stores the events of a body, completely or not at all. They may belong to `organizations` only [all]. Waits for another
   * writer for `waitMs` at most [5 s].
   * @throws forbidden, invalid_data, conflict, unavailable, store_*
   */
  store(
    body: Uint8Array,
    idempotencyKey: string | null,
    organizations?: readonly string[] | null,
    waitMs?: number,
  ): Promise<PostOutcome>;
  close(): Promise<void>;
}

/** A post that meets an import waits for so long, together with the posts before it. */
export const longestWaitMs = 5 * secondMs;
/** Retention of an Idempotency-Key (CONTRACT 8). */
const rememberMs = dayMs;
const forgottenAtOnce = 500;

export interface EventPostsOptions {
  /** A database of its own, which `close` closes. */
  readonly db: PlainDb;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Creates the store of posted events; it works synchronously for some ms at a time, so it belongs into a worker. */
export function createEventPosts({ db, clock, signal }: EventPostsOptions): EventPosts {
  return {
    store: async (body, key, organizations = null, waitMs = longestWaitMs) => {
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const staging = new Staging();
      await readAll([inputOfBody(bytes, clock.nowMs())], staging, signal);
      refuseForeignSlugs(staging.names.slugs.names, organizations);
      const write = (connection: PlainDb): Promise<PostOutcome> =>
        storePost(connection, staging, { clock, signal, waitMs, key, sha256 });
      return db.connection().execute(write);
    },
    close: () => db.destroy(),
  };
}

interface StorePostOptions extends Omit<EventPostsOptions, "db"> {
  readonly waitMs: number;
  readonly key: string | null;
  readonly sha256: string;
}

async function storePost(connection: PlainDb, staging: Staging, options: StorePostOptions): Promise<PostOutcome> {
  const { clock, signal, key, sha256 } = options;
  const store = async (transaction: PlainDb): Promise<PostOutcome> => {
    const known = key === null ? null : await claimKey(transaction, key, sha256, clock.nowMs());
    if (known !== null) return { ...known, storedByStatus: createTally(), someConflicts: [], otherStatuses: {} };
    const outcome = await storeStaging(transaction, staging, signal);
    if (key !== null)
      await sql`
        UPDATE event_posts SET received = ${outcome.received}, stored = ${outcome.stored},
          duplicates = ${outcome.duplicates}
        WHERE idempotency_key = ${key}`.execute(transaction);
    return outcome;
  };
  return writeEvents(connection, staging, store, options);
}

/** Stores events that wait in memory as posted ones, in the surrounding transaction. */
export async function storeStaging(db: PlainDb, staging: Staging, signal?: AbortSignal): Promise<PostOutcome> {
  await openStage(db, "transaction");
  await staging.write(db, "transaction");
  const { stored, duplicates, conflicts } = await mergeStaged(db, { staging, arePosted: true, signal });
  return {
    received: staging.rows,
    stored: staging.rows - duplicates - conflicts.rows,
    duplicates,
    conflicts: conflicts.rows,
    storedByStatus: stored,
    someConflicts: conflicts.some,
    otherStatuses: staging.summary(0).otherStatuses,
  };
}

/** Refuses events of organizations that none of the patterns matches. @throws forbidden */
function refuseForeignSlugs(slugs: readonly string[], organizations: readonly string[] | null): void {
  const foreign = slugs.find((slug) => !(organizations?.some((pattern) => matchesText(pattern, slug)) ?? true));
  if (foreign === undefined) return;
  const message = `the token is not for the organization ${excerpt(foreign)}, of which there are events in the body: nothing was stored`;
  throw new FlatlineError("forbidden", message);
}

/**
 * Reserves the key and returns null, or returns the answer to the body that has it; waits for a concurrent user of the key.
 * @throws conflict if it was used for another body
 */
async function claimKey(db: PlainDb, key: string, sha256: string, nowMs: number): Promise<IngestOutcome | null> {
  const forgetMs = nowMs - rememberMs;
  const claimed = await sql`
    INSERT INTO event_posts (idempotency_key, body_sha256, received, stored, duplicates, at_ms)
    VALUES (${key}, ${sha256}, 0, 0, 0, ${nowMs})
    ON CONFLICT (idempotency_key) DO UPDATE SET body_sha256 = excluded.body_sha256, at_ms = excluded.at_ms
      WHERE event_posts.at_ms <= ${forgetMs}
    RETURNING 1`.execute(db);
  if (claimed.rows.length > 0) {
    await sql`
      DELETE FROM event_posts WHERE idempotency_key IN (
        SELECT idempotency_key FROM event_posts WHERE at_ms <= ${forgetMs} LIMIT ${forgottenAtOnce}
        ${dialectOf(db).lock("FOR UPDATE SKIP LOCKED")})`.execute(db);
    return null;
  }
  const { rows } = await sql<Omit<IngestOutcome, "conflicts"> & { body_sha256: string }>`
    SELECT body_sha256, received, stored, duplicates FROM event_posts WHERE idempotency_key = ${key}`.execute(db);
  const [known] = rows;
  if (known === undefined) throw new FlatlineError("internal", "the answer to a post was lost");
  if (known.body_sha256 !== sha256) {
    throw new FlatlineError("conflict", "this Idempotency-Key was used for another body within the last 24 h");
  }
  const { received, stored, duplicates } = known;
  return { received, stored, duplicates, conflicts: received - stored - duplicates };
}
