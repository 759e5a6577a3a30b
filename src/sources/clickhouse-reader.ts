import { createClient, ClickHouseLogLevel } from "@clickhouse/client";
import { z } from "zod";
import { FlatlineError } from "../base/errors.ts";
import type { ClickhouseTableSource } from "../contract/table-source.ts";
import { stopped } from "./batcher.ts";
import { clickhouseError } from "./clickhouse-errors.ts";
import { firstEventStatement, queryStatement, tableStatement, type ClickhouseStatement } from "./clickhouse-sql.ts";
import { mostConnections, type CountReader, type RawRow } from "./count-reader.ts";

// One JSON document instead of one row per line: the client cannot detect that an answer in lines was cut off.
const answerSchema = z.object({ data: z.array(z.record(z.string(), z.unknown())) });

/** Reads the user's table in ClickHouse over HTTP, read-only, with a limit on each query. */
export function createClickhouseReader(source: ClickhouseTableSource): CountReader {
  const { events, timeUnit, timeoutMs } = source;
  const secrets = [source.url, ...(source.password === null ? [] : [source.password])];
  const client = createClient({
    url: source.url.reveal(),
    username: source.username,
    ...(source.password === null ? {} : { password: source.password.reveal() }),
    database: source.database,
    application: source.applicationName,
    request_timeout: timeoutMs + clientGraceMs,
    max_open_connections: mostConnections,
    // The parameters of a thousand organizations do not fit into a URL; short ones do, and pass every proxy.
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      ...readOnlySettings,
      max_execution_time: Math.max(1, Math.ceil(timeoutMs / 1_000)),
    },
  });

  async function ask(statement: ClickhouseStatement, signal: AbortSignal): Promise<RawRow[]> {
    try {
      return await askOnce(statement, signal);
    } catch (error) {
      // The server may have closed the kept connection; reading twice is harmless.
      if (signal.aborted) throw stopped(signal);
      const known = clickhouseError(error, secrets);
      if (known.code !== "api_network") throw known;
    }
    try {
      return await askOnce(statement, signal);
    } catch (error) {
      if (signal.aborted) throw stopped(signal);
      throw clickhouseError(error, secrets);
    }
  }

  async function askOnce({ query, parameters }: ClickhouseStatement, signal: AbortSignal): Promise<RawRow[]> {
    const answer = await client.query({
      query,
      query_params: parameters,
      format: "JSON",
      abort_signal: signal,
    });
    const rows = answerSchema.safeParse(await answer.json());
    if (rows.success) return rows.data.data;
    throw new FlatlineError("api_invalid_response", "ClickHouse: the answer has no rows", { cause: rows.error });
  }

  return {
    segmentDeaths: async (queries, signal) => {
      const statement =
        events.kind === "table" ? tableStatement(events, timeUnit, queries) : queryStatement(events, timeUnit, queries);
      return (await ask(statement, signal)).map((row) => ({
        slug: row["flatline_slug"],
        segment: row["flatline_segment"],
        assetType: row["flatline_type"],
        deaths: row["flatline_deaths"],
      }));
    },
    firstEvents:
      events.kind === "table"
        ? async (slugs, signal) =>
            (await ask(firstEventStatement(events, timeUnit, slugs), signal)).map((row) => ({
              slug: row["flatline_slug"],
              atMs: row["flatline_first"],
            }))
        : null,
    close: () => client.close(),
  };
}

// The server cancels a query first and reports the reason.
const clientGraceMs = 1_000;

// 2: only reads and these settings. The others prevent a profile from returning partial counts.
const readOnlySettings = {
  readonly: "2",
  wait_end_of_query: 1,
  output_format_json_quote_64bit_integers: 1,
  timeout_overflow_mode: "throw",
  read_overflow_mode: "throw",
  result_overflow_mode: "throw",
  group_by_overflow_mode: "throw",
  skip_unavailable_shards: 0,
} as const;
