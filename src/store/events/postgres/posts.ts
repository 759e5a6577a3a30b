import { createHash } from "node:crypto";
import { sql } from "kysely";

import { FlatlineError } from "../../../base/errors.ts";
import { dayMs, type Clock } from "../../../base/time.ts";
import { refuseForeignSlugs } from "../input/foreign-slugs.ts";
import { checkInputs } from "../input/check.ts";
import { inputOfBody } from "../input/input.ts";
import type { EventPosts, PostCounts } from "../sqlite/posts.ts";
import { writeToPostgres } from "./writing.ts";
import { createTally } from "../tally.ts";
import type { PostgresLocation } from "../../engine/location.ts";
import { openPostgresDatabase } from "../../engine/postgres-database.ts";
import type { PlainDb } from "../../schema.ts";

export interface PostgresEventPostsOptions {
  readonly location: PostgresLocation;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

// One connection writes, the other one cancels a blocked statement.
const poolSize = 2;
// Rows of one statement: concurrent posts then update the counts of a minute one after the other, without deadlocks.
const directRows = 2_000;
/** Retention of an Idempotency-Key (CONTRACT 8). */
const rememberMs = dayMs;
const forgottenAtOnce = 500;

/** Creates the store of posted events in a PostgreSQL that other replicas use at the same time. */
export function createPostgresEventPosts({ location, clock, signal }: PostgresEventPostsOptions): EventPosts {
  const db = openPostgresDatabase({ ...location, poolSize });
  return {
    store: async (body, idempotencyKey, organizations = null) => {
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const post = { key: idempotencyKey, sha256: createHash("sha256").update(bytes).digest("hex") };
      const inputs = [inputOfBody(bytes)];
      const checked = await checkInputs(inputs, signal, () => undefined);
      refuseForeignSlugs(checked.names.slugs.names, organizations);
      const answered = await recall(db, post, clock.nowMs());
      if (answered !== null) return { ...answered, storedByStatus: createTally().stored };
      const received = checked.rows;
      const outcomeOf = ({ duplicates }: { readonly duplicates: number }): PostCounts => ({
        received,
        stored: received - duplicates,
        duplicates,
      });
      const tally = await writeToPostgres({
        db,
        inputs,
        checked,
        shiftMs: 0,
        signal,
        clock,
        directRows,
        onRows: () => undefined,
        onBegin: (transaction) => claimKey(transaction, post, clock.nowMs()),
        onEnd: async (transaction, _, written) => {
          if (post.key === null) return;
          const { stored, duplicates } = outcomeOf(written);
          await sql`
            UPDATE event_posts SET received = ${received}, stored = ${stored}, duplicates = ${duplicates}
            WHERE idempotency_key = ${post.key}`.execute(transaction);
        },
      });
      if (tally !== null) return { ...outcomeOf(tally), storedByStatus: tally.stored };
      const meanwhile = await recall(db, post, clock.nowMs());
      if (meanwhile === null) throw new FlatlineError("internal", "the answer to a post was lost");
      return { ...meanwhile, storedByStatus: createTally().stored };
    },
    close: () => db.destroy(),
  };
}

interface Post {
  readonly key: string | null;
  readonly sha256: string;
}

/** Returns the earlier answer for this key; null if the key is new. @throws conflict if it was used for another body */
async function recall(db: PlainDb, { key, sha256 }: Post, nowMs: number): Promise<PostCounts | null> {
  if (key === null) return null;
  const { rows } = await sql<PostCounts & { body_sha256: string }>`
    SELECT body_sha256, received, stored, duplicates FROM event_posts
    WHERE idempotency_key = ${key} AND at_ms > ${nowMs - rememberMs}`.execute(db);
  const [known] = rows;
  if (known === undefined) return null;
  if (known.body_sha256 !== sha256) {
    throw new FlatlineError("conflict", "this Idempotency-Key was used for another body within the last 24 h");
  }
  return { received: known.received, stored: known.stored, duplicates: known.duplicates };
}

/**
 * Reserves the key, or returns false if it is used; waits for a concurrent user of the key. The answer is stored in the
 * transaction of the events.
 */
async function claimKey(db: PlainDb, { key, sha256 }: Post, nowMs: number): Promise<boolean> {
  if (key === null) return true;
  const forgetMs = nowMs - rememberMs;
  const { rows } = await sql`
    INSERT INTO event_posts (idempotency_key, body_sha256, received, stored, duplicates, at_ms)
    VALUES (${key}, ${sha256}, 0, 0, 0, ${nowMs})
    ON CONFLICT (idempotency_key) DO UPDATE SET body_sha256 = excluded.body_sha256, at_ms = excluded.at_ms
      WHERE event_posts.at_ms <= ${forgetMs}
    RETURNING 1`.execute(db);
  if (rows.length === 0) return false;
  await sql`
    DELETE FROM event_posts WHERE idempotency_key IN (
      SELECT idempotency_key FROM event_posts WHERE at_ms <= ${forgetMs} LIMIT ${forgottenAtOnce}
      FOR UPDATE SKIP LOCKED)`.execute(db);
  return true;
}
