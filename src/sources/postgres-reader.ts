import { Pool, type PoolClient } from "pg";

import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { driverUrl, postgresPasswords } from "../base/postgres-url.ts";
import { Secret, redact } from "../base/secret.ts";
import type { PostgresTableSource } from "../contract/table-source.ts";
import { askAgain, mostConnections, stopped, type CountReader, type RawRow } from "./count-reader.ts";
import { countStatement, firstEventStatement, type PostgresStatement } from "./postgres-sql.ts";

/** Reads the user's table in PostgreSQL in read-only transactions, with a timeout on each statement. */
export function createPostgresReader(source: PostgresTableSource): CountReader {
  // No message may show these.
  const secrets = [source.url, ...postgresPasswords(source.url.reveal()).map((password) => new Secret(password))];
  const pool = new Pool({
    connectionString: driverUrl(source.url.reveal()),
    max: mostConnections,
    application_name: "flatline",
    connectionTimeoutMillis: source.timeoutMs,
    idleTimeoutMillis: idleMs,
    keepAlive: true,
    // Idle connections must not delay the end of the daemon.
    allowExitOnIdle: true,
  });
  // A broken idle connection is replaced by the next query; without a listener the error would end the process.
  pool.on("error", () => undefined);
  let closing: Promise<void> | null = null;

  const ask = (statement: PostgresStatement, signal: AbortSignal): Promise<readonly RawRow[]> =>
    askAgain(
      async () => (await askOnce(statement, signal)).rows,
      signal,
      (error) => postgresError(error, secrets),
    );

  async function askOnce({ text, values }: PostgresStatement, signal: AbortSignal) {
    const client = await pool.connect();
    const abort = new AbortController();
    const ended = rejectOnAbort(signal, abort.signal);
    try {
      const work = (async () => {
        // One message, limited to this transaction: works behind a pooler that shares connections too.
        await client.query(
          `begin read only; set local statement_timeout = ${Math.ceil(source.timeoutMs)}; set local timezone = 'UTC'`,
        );
        const answer = await client.query<Record<string, unknown>>(text, [...values]);
        await client.query("commit");
        return answer;
      })();
      const answer = await Promise.race([work, ended]);
      client.release();
      return answer;
    } catch (error) {
      await release(client, error);
      throw error;
    } finally {
      abort.abort();
    }
  }

  return {
    segmentDeaths: (queries, signal) => ask(countStatement(source, queries), signal),
    firstEvents: (table, slugs, signal) => ask(firstEventStatement(table, source.timeUnit, slugs), signal),
    close: () => (closing ??= pool.end()),
  };
}

// A longer time would exceed most schedules' intervals and keep an unused connection.
const idleMs = 30_000;

/** Returns the connection to the pool after an error of the server; closes one that hangs or broke. */
async function release(client: PoolClient, error: unknown): Promise<void> {
  const isAnswer = error instanceof Error && "severity" in error;
  if (!isAnswer) return client.release(true);
  try {
    await client.query("rollback");
    client.release();
  } catch {
    client.release(true);
  }
}

function rejectOnAbort(signal: AbortSignal, done: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(stopped(signal)), { once: true, signal: done });
  });
}

// SQLSTATE codes (PostgreSQL manual, appendix A): single codes first, then classes.
const byState: Readonly<Record<string, ErrorCode>> = {
  "57014": "api_timeout",
  "25P03": "api_timeout",
  "25P04": "api_timeout",
  "57P01": "api_network",
  "57P02": "api_network",
  "57P03": "api_network",
  "57P05": "api_network",
  "42501": "api_forbidden",
  "25006": "api_forbidden",
  "3D000": "api_bad_request",
  "3F000": "api_bad_request",
};
const byClass: Readonly<Record<string, ErrorCode>> = {
  "08": "api_network",
  "22": "api_bad_request",
  "28": "api_unauthorized",
  "42": "api_bad_request",
  "0A": "api_bad_request",
};
const undefinedFunction = "42883";
const timeComparison = / > (?:timestamp with time zone|bigint);/;
const timeHint = "; check source.timeUnit, the unit of the time column";
const timeoutText = /timeout exceeded|timed? ?out/i;
const authenticationText = /password must be a|SASL|no pg_hba/i;

/** Maps an error of the pg driver to the reasons of a check (CONTRACT 6), without the connection's secrets. */
function postgresError(error: unknown, secrets: readonly Secret[]): FlatlineError {
  if (error instanceof FlatlineError) return error;
  const message = redact(error instanceof Error ? textOf(error) : String(error), secrets);
  const state = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const isState = /^[0-9A-Z]{5}$/.test(state) && error instanceof Error && "severity" in error;
  if (isState) {
    const code = byState[state] ?? byClass[state.slice(0, 2)] ?? "api_server_error";
    const hint = state === undefinedFunction && timeComparison.test(message) ? timeHint : "";
    return new FlatlineError(code, `PostgreSQL: ${message} (SQLSTATE ${state})${hint}`, { cause: error });
  }
  const code = state === "ETIMEDOUT" || timeoutText.test(message) ? "api_timeout" : "api_network";
  const isRefused = authenticationText.test(message);
  return new FlatlineError(isRefused ? "api_unauthorized" : code, `PostgreSQL: ${message}`, { cause: error });
}

/** Describes the error. A connection that fails at several addresses has an error for each, and no message. */
function textOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  if (error.message === "" && first instanceof Error) return first.message;
  return "hint" in error && typeof error.hint === "string" ? `${error.message}; ${error.hint}` : error.message;
}
