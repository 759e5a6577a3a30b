import { sql } from "kysely";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName } from "../../contract/report.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { PlainDb } from "../schema.ts";
import type { CheckKey } from "./check-state.ts";
import { addChecks } from "./check-numbers.ts";

/** A request for a run of a check whose shard another process owns. */
export interface RunRequest extends CheckKey {
  readonly requestId: number;
}

/** Creates the access to the requests for runs. */
export function createRequestTable(db: PlainDb) {
  return {
    /** Requests a run from the owner of the check's shard and returns the number of the request. */
    request: async (key: CheckKey, nowMs: number): Promise<number> => {
      const checkId = (await addChecks(db, [key])).get(checkKey(key));
      const { rows } = await sql<{ request_id: number }>`
        insert into run_requests (check_id, asked_at_ms) values (${checkId}, ${nowMs}) returning request_id`.execute(
        db,
      );
      return rows[0]?.request_id ?? 0;
    },
    /** Returns unanswered requests. */
    requests: async (): Promise<readonly RunRequest[]> => {
      const { rows } = await sql<{ request_id: number; check_name: CheckName; slug: string }>`
        select request_id, check_name, slug from run_requests join checks on checks.check_id = run_requests.check_id
        order by request_id`.execute(db);
      return rows.map(({ request_id, check_name, slug }) => ({ requestId: request_id, check: check_name, slug }));
    },
    /** Deletes requests that were answered or abandoned. */
    endRequests: async (requestIds: readonly number[]): Promise<void> => {
      for (const slice of chunksOf(requestIds))
        await db.deleteFrom("run_requests").where("request_id", "in", slice).execute();
    },
    /** Deletes requests from before the instant. */
    pruneRequests: async (beforeMs: number): Promise<void> => {
      await db.deleteFrom("run_requests").where("asked_at_ms", "<", beforeMs).execute();
    },
  };
}
