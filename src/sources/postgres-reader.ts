import { Pool, type PoolClient } from "pg";
import { FlatlineError } from "../base/errors.ts";
import { driverUrl, postgresPasswords } from "../base/postgres-url.ts";
import { Secret } from "../base/secret.ts";
import type { PostgresTableSource } from "../contract/table-source.ts";
import { stopped } from "./batcher.ts";
import { mostConnections, type CountReader, type RawRow } from "./count-reader.ts";
import { postgresError } from "./postgres-errors.ts";
import {
  answeredColumns,
  describeStatement,
  firstEventStatement,
  queryStatement,
  tableStatement,
  type AnsweredColumns,
  type PostgresStatement,
} from "./postgres-sql.ts";

/** Reads the user's table in PostgreSQL, in transactions that may only read, each statement bounded on the server. */
export function createPostgresReader(source: PostgresTableSource): CountReader {
  const secrets = connectionSecrets(source.url);
  const pool = new Pool({
    connectionString: driverUrl(source.url.reveal()),
    max: mostConnections,
    application_name: source.applicationName,
    connectionTimeoutMillis: source.timeoutMs,
    idleTimeoutMillis: idleMs,
    keepAlive: true,
    // A daemon that ends must not wait for idle connections.
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
  pool.on("error", () => undefined);
  let columns: Promise<AnsweredColumns> | null = null;
  let closing: Promise<void> | null = null;

  async function ask(statement: PostgresStatement, signal: AbortSignal): Promise<{ rows: RawRow[]; names: string[] }> {
    try {
      return await askOnce(statement, signal);
    } catch (error) {
      const known = postgresError(error, secrets);
      // A pooled connection may have died unseen, with the server or a proxy; reading twice is harmless.
      if (known.code !== "api_network" || signal.aborted || closing !== null) throw known;
    }
    try {
      return await askOnce(statement, signal);
    } catch (error) {
      throw postgresError(error, secrets);
    }
  }

  async function askOnce({ text, values }: PostgresStatement, signal: AbortSignal) {
    if (signal.aborted) throw stopped(signal);
    const client = await pool.connect();
    const abort = new AbortController();
    const ended = rejectOnAbort(signal, abort.signal);
    try {
      const work = (async () => {
        // In one message, and for this transaction only: so it holds behind a pooler that shares connections too.
        await client.query(
          `begin read only; set local statement_timeout = ${Math.ceil(source.timeoutMs)}; set local timezone = 'UTC'`,
        );
        const answer = await client.query<Record<string, unknown>>(text, [...values]);
        await client.query("commit");
        return { rows: answer.rows, names: answer.fields.map(({ name }) => name) };
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

  const describeQuery = async (signal: AbortSignal): Promise<AnsweredColumns> => {
    const { events, timeUnit } = source;
    if (events.kind !== "query") throw new FlatlineError("internal", "only a query has columns of its own");
    return answeredColumns((await ask(describeStatement(events, timeUnit), signal)).names);
  };

  const { events, timeUnit } = source;
  return {
    segmentDeaths: async (queries, signal) => {
      if (events.kind === "table") return (await ask(tableStatement(events, timeUnit, queries), signal)).rows;
      // Asked once; a failure is asked again by the next.
      columns ??= describeQuery(signal).catch((error: unknown) => {
        columns = null;
        throw error;
      });
      return (await ask(queryStatement(events, timeUnit, await columns, queries), signal)).rows;
    },
    firstEvents:
      events.kind === "table"
        ? async (slugs, signal) => (await ask(firstEventStatement(events, timeUnit, slugs), signal)).rows
        : null,
    close: () => (closing ??= pool.end()),
  };
}

// Longer than most schedules' intervals would keep a connection for nothing.
const idleMs = 30_000;

/** After an error of the server the connection goes back as new; one that hangs or broke is closed. */
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

/** What a message of the driver or the server could show of the address. */
function connectionSecrets(url: Secret): Secret[] {
  return [url, ...postgresPasswords(url.reveal()).map((password) => new Secret(password))];
}
