import { createClient, ClickHouseLogLevel, ClickHouseError } from "@clickhouse/client";
import { z } from "zod";

import { FlatlineError, messageOf, type ErrorCode } from "../base/errors.ts";
import type { ClickhouseTableSource } from "../contract/table-source.ts";
import { countStatement, firstEventStatement, type ClickhouseStatement } from "./clickhouse-sql.ts";
import { askAgain, mostConnections, type CountReader, type RawRow } from "./count-reader.ts";
import { redact, type Secret } from "../base/secret.ts";

// One JSON document instead of one row per line: the client cannot detect that an answer in lines was cut off.
const answerSchema = z.object({ data: z.array(z.record(z.string(), z.unknown())) });

/** Reads the user's table in ClickHouse over HTTP, read-only, with a limit on each query. */
export function createClickhouseReader(source: ClickhouseTableSource): CountReader {
  const { timeUnit, timeoutMs } = source;
  const secrets = [source.url, ...(source.password === null ? [] : [source.password])];
  const client = createClient({
    url: source.url.reveal(),
    username: source.username,
    ...(source.password === null ? {} : { password: source.password.reveal() }),
    database: source.database,
    application: "flatline",
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

  const askOnce = async ({ query, parameters }: ClickhouseStatement, signal: AbortSignal): Promise<RawRow[]> => {
    const answer = await client.query({ query, query_params: parameters, format: "JSON", abort_signal: signal });
    const read = answerSchema.safeParse(await answer.json());
    if (!read.success)
      throw new FlatlineError("api_invalid_response", "ClickHouse: the answer has no rows", { cause: read.error });
    return read.data.data.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name.replace("flatline_", ""), value])),
    );
  };
  const ask = (statement: ClickhouseStatement, signal: AbortSignal): Promise<RawRow[]> =>
    askAgain(
      () => askOnce(statement, signal),
      signal,
      (error) => clickhouseError(error, secrets),
    );

  return {
    segmentDeaths: (queries, signal) => ask(countStatement(source, queries), signal),
    firstEvents: (table, slugs, signal) => ask(firstEventStatement(table, timeUnit, slugs), signal),
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

// Codes of ClickHouse's src/Common/ErrorCodes.cpp. Other codes are server errors.
const codesOf: Readonly<Partial<Record<ErrorCode, string>>> = {
  api_timeout: "159 160 209 394 473",
  api_unauthorized: "192 193 194 516",
  api_forbidden: "164 195 291 392 452 497",
  api_network: "198 210 279",
  // Syntax errors, unknown names and functions, type mismatches: errors of the configuration.
  api_bad_request:
    "6 10 16 20 26 27 32 36 38 41 42 43 44 46 47 48 50 53 60 62 63 69 70 72 81 115 130 179 184 207 " +
    "215 352 386 403 407 456 457 636",
};
const codes: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(codesOf).flatMap(([code, numbers]) =>
    numbers.split(" ").map((number) => [number, code as ErrorCode] as const),
  ),
);

/** Maps an error of the ClickHouse client to the reasons of a check (CONTRACT 6), without the connection's secrets. */
function clickhouseError(error: unknown, secrets: readonly Secret[]): FlatlineError {
  if (error instanceof FlatlineError) return error;
  const message = redact(messageOf(error), secrets).replace(ownQuery, "").trim().slice(0, longest);
  const fail = (code: ErrorCode, text: string): FlatlineError =>
    new FlatlineError(code, `ClickHouse: ${text}`, { cause: error });
  if (error instanceof ClickHouseError) {
    return fail(
      codes.get(error.code) ?? "api_server_error",
      `${message} (code ${error.code}, ${error.type ?? "unnamed"})${timeGuard.test(message) ? timeHint : ""}`,
    );
  }
  if (error instanceof SyntaxError) return fail("api_invalid_response", `the answer is not JSON: ${message}`);
  if (/^timeout/i.test(message)) return fail("api_timeout", "it did not answer in time");
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return fail(error.code === "ETIMEDOUT" ? "api_timeout" : "api_network", message === "" ? error.code : message);
  }
  if (/socket hang up|ECONN|aborted/i.test(message)) return fail("api_network", message);
  return fail("api_server_error", message);
}

// The error of the last condition of countStatement (clickhouse-sql.ts).
const timeGuard = /illegal type .* function (?:toYear|abs)\b/i;
const timeHint = "; check source.timeUnit, the unit of the time column";
// The server repeats the whole query before its suggestion.
const ownQuery = /[.,]?\s+in scope (?:SELECT|WITH)\b[\s\S]*?(?=\. Maybe you meant|$)/gi;
// A proxy may answer with an HTML page.
const longest = 500;
