import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

import { FlatlineError } from "../../../base/errors.ts";
import { dayMs, type Clock } from "../../../base/time.ts";
import { refuseForeignSlugs } from "../input/foreign-slugs.ts";
import { checkInputs } from "../input/check.ts";
import type { PostOutcome } from "../ingest.ts";
import { longestWaitMs } from "../ingest-answers.ts";
import { inputOfBody } from "../input/input.ts";
import { createTally } from "../tally.ts";
import { EventWriter } from "./writer.ts";
import { writeEvents } from "./store-events.ts";

export interface EventPostsOptions {
  readonly db: DatabaseSync;
  readonly databasePath: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The answer to a post. */
export type PostCounts = Pick<PostOutcome, "received" | "stored" | "duplicates">;

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

/** Retention of an Idempotency-Key (CONTRACT 8). */
const rememberMs = dayMs;

/** Creates the store of posted events; it works synchronously for some ms at a time, so it belongs into a worker. */
export function createEventPosts(options: EventPostsOptions): EventPosts {
  const { db, databasePath, clock, signal } = options;
  const writer = new EventWriter(db);

  return {
    store: async (body, idempotencyKey, organizations = null, waitMs = longestWaitMs) => {
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const inputs = [inputOfBody(bytes)];
      const checked = await checkInputs(inputs, signal, () => undefined);
      refuseForeignSlugs(checked.names.slugs.names, organizations);
      const answered = idempotencyKey === null ? null : recall(db, idempotencyKey, sha256, clock.nowMs());
      if (answered !== null) return { ...answered, storedByStatus: createTally().stored };
      const received = checked.rows;
      const tally = await writeEvents({
        db,
        databasePath,
        writer,
        clock,
        signal,
        inputs,
        checked,
        shiftMs: 0,
        arePosted: true,
        waitMs,
        onRows: () => undefined,
        onEnd: (_, { duplicates }) => {
          const outcome = { received, stored: received - duplicates, duplicates };
          if (idempotencyKey !== null) remember(db, idempotencyKey, sha256, outcome, clock.nowMs());
        },
      });
      const { duplicates, stored } = tally;
      return { received, stored: received - duplicates, duplicates, storedByStatus: stored };
    },
    close: () => Promise.resolve(db.close()),
  };
}

/** Returns the earlier answer for this key; null if the key is new. @throws conflict if it was used for another body */
function recall(db: DatabaseSync, key: string, sha256: string, nowMs: number): PostCounts | null {
  const known = db
    .prepare(
      `SELECT body_sha256, received, stored, duplicates FROM event_posts WHERE idempotency_key = ? AND at_ms > ?`,
    )
    .get(key, nowMs - rememberMs);
  if (known === undefined) return null;
  if (known["body_sha256"] !== sha256) {
    throw new FlatlineError("conflict", "this Idempotency-Key was used for another body within the last 24 h");
  }
  return {
    received: Number(known["received"]),
    stored: Number(known["stored"]),
    duplicates: Number(known["duplicates"]),
  };
}

/** Stores the answer in the transaction of the events. */
function remember(db: DatabaseSync, key: string, sha256: string, counts: PostCounts, nowMs: number): void {
  db.prepare(
    `DELETE FROM event_posts WHERE idempotency_key IN (SELECT idempotency_key FROM event_posts WHERE at_ms <= ? LIMIT 500)`,
  ).run(nowMs - rememberMs);
  db.prepare(
    `INSERT OR REPLACE INTO event_posts (idempotency_key, body_sha256, received, stored, duplicates, at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  ).run(key, sha256, counts.received, counts.stored, counts.duplicates, nowMs);
}
