import { sql } from "kysely";
import type { HistoryEvent } from "../events.ts";
import type { PlainDb } from "../../schema.ts";

// Some milliseconds per page, so that other users of the store get a turn.
const pageRows = 5_000;

interface Row {
  readonly at_ms: number;
  readonly import_id: number;
  readonly ordinal: number;
  readonly status: string;
  readonly count: number;
  readonly type_id: number;
  readonly asset: string | null;
}

/** Iterates over all events of an organization in the order of the table's key, page by page. */
export async function* readHistory(db: PlainDb, slug: string): AsyncGenerator<readonly HistoryEvent[]> {
  let last: Row | undefined;
  for (;;) {
    const after =
      last === undefined
        ? sql``
        : sql`and (at_ms, import_id, ordinal) > (${last.at_ms}, ${last.import_id}, ${last.ordinal})`;
    const { rows } = await sql<Row>`
      select at_ms, import_id, ordinal, event_statuses.status as status, count, type_id, asset
      from events join event_statuses on event_statuses.status_id = events.status_id
      where slug_id = (select slug_id from event_slugs where slug = ${slug}) ${after}
      order by at_ms, import_id, ordinal limit ${pageRows}`.execute(db);
    if (rows.length > 0)
      yield rows.map(({ at_ms: atMs, type_id: typeId, status, count, asset }) => ({
        atMs,
        status,
        count,
        typeId,
        asset,
      }));
    last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
  }
}
