import { asFlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import type { ClickhouseTableSource, PostgresTableSource } from "../contract/table-source.ts";
import { createTableCounts, type TableCounts } from "./table-counts.ts";
import type { CountReader, RawRow } from "./count-reader.ts";

/** Called for each query with its name and `ok` or the code of the error. */
export type OnRequest = (event: { readonly operation: string; readonly code: string }) => void;

/** A source that reads a table, by engine. */
export type AnyTableSource =
  ({ readonly type: "postgres" } & PostgresTableSource) | ({ readonly type: "clickhouse" } & ClickhouseTableSource);

export interface OpenCountsOptions {
  readonly clock: Pick<Clock, "timeout" | "monotonicMs">;
  /** Called for each query. */
  readonly onRequest: OnRequest;
}

/** Creates counts over the user's table; connects on first use. */
export function openCounts(source: AnyTableSource, { clock, onRequest }: OpenCountsOptions): TableCounts {
  const reader = countRequests(createReader(source), onRequest);
  return createTableCounts({ reader, clock, timeoutMs: source.timeoutMs });
}

/** Loads the driver on first use: most configurations need none, and it slows the start. */
function createReader(source: AnyTableSource): CountReader {
  let loading: Promise<CountReader> | null = null;
  const reader = (): Promise<CountReader> => (loading ??= loadReader(source));
  const askFirst = async (slugs: readonly string[], signal: AbortSignal): Promise<readonly RawRow[]> =>
    (await (await reader()).firstEvents?.(slugs, signal)) ?? [];
  return {
    segmentDeaths: async (queries, signal) => (await reader()).segmentDeaths(queries, signal),
    firstEvents: source.events.kind === "table" ? askFirst : null,
    close: async () => {
      if (loading !== null) await (await loading).close();
    },
  };
}

async function loadReader(source: AnyTableSource): Promise<CountReader> {
  if (source.type === "postgres") return (await import("./postgres-reader.ts")).createPostgresReader(source);
  return (await import("./clickhouse-reader.ts")).createClickhouseReader(source);
}

/** Wraps the reader so that each query is counted in `flatline_source_requests_total`. */
function countRequests(reader: CountReader, onRequest: OnRequest): CountReader {
  async function counted<Answer>(operation: string, work: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await work;
      onRequest({ operation, code: "ok" });
      return answer;
    } catch (error) {
      onRequest({ operation, code: asFlatlineError(error).code.replace(/^api_/, "") });
      throw error;
    }
  }
  const { firstEvents } = reader;
  return {
    segmentDeaths: (queries, signal) => counted("count_deaths", reader.segmentDeaths(queries, signal)),
    firstEvents: firstEvents === null ? null : (slugs, signal) => counted("first_events", firstEvents(slugs, signal)),
    close: () => reader.close(),
  };
}
