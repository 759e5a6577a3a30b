import { mkdtemp, chmod, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../free-port.ts";

import { Client } from "pg";

import { Secret } from "../../../src/base/secret.ts";
import { createSystemClock } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { createPostgres, type PostgresProcess } from "./process.ts";

const user = "flatline";
const password = "p@ss/word";
const template = "flatline_template";

/** A PostgreSQL of its own on a free port, with a template database that has flatline's tables. */
export interface PostgresServer {
  /** Of a database; without one of the server's own. */
  url(database?: string): string;
  /** Makes a database, with flatline's tables in it or empty, and answers its URL. */
  createDatabase(isEmpty: boolean): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** As an operator does it: connections are cut, and for a moment nobody answers; the databases are as they were. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one; takes a second or two. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-postgres-"));
  // As root the server runs as another user, who must get there.
  await chmod(folder, 0o755);
  const port = await freePort();
  const url = (database = "postgres"): string =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  const server = await startProcess(folder, port);
  let admin = await connectAdmin(url());
  await admin.query(`create database ${template}`);
  await (await openStore({ url: new Secret(url(template)), clock: createSystemClock() })).close();
  await rememberRows(url(template));

  let made = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const free: string[] = [];
  /** One after the other: a template cannot be copied twice at once. */
  function inTurn(statement: string): Promise<unknown> {
    const next = turn.then(() => admin.query(statement));
    turn = next.catch(() => undefined);
    return next;
  }

  return {
    url,
    createDatabase: async (isEmpty) => {
      const known = isEmpty ? undefined : free.pop();
      if (known !== undefined) return known;
      const name = `${isEmpty ? "empty" : "test"}_${++made}`;
      await inTurn(`create database ${name} template ${isEmpty ? "template0" : template}`);
      return url(name);
    },
    dropDatabase: async (dropped) => {
      const name = new URL(dropped).pathname.slice(1);
      await inTurn(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      // Emptying one is ten times as fast as making one; the others go with the server.
      if (name.startsWith("test")) await emptyDatabase(dropped).then(() => free.push(dropped));
    },
    restart: async () => {
      await admin.end();
      await server.stop();
      await server.start();
      admin = await connectAdmin(url());
    },
    stop: async () => {
      await admin.end();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts one without what keeps data safe: they go with the run. */
async function startProcess(folder: string, port: number): Promise<PostgresProcess> {
  try {
    const server = await createPostgres({
      folder,
      user,
      password,
      port,
      // Words in the order of a language: what relies on the order of bytes shows.
      initdbFlags: ["--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en-US", "--locale=C", "--no-sync"],
      settings: {
        fsync: "off",
        synchronous_commit: "off",
        full_page_writes: "off",
        max_connections: "200",
        shared_buffers: "64MB",
        jit: "off",
      },
    });
    await server.start();
    return server;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function connectAdmin(url: string): Promise<Client> {
  const admin = new Client({ connectionString: url });
  // What ends with the server ends with it.
  admin.on("error", () => undefined);
  await admin.connect();
  return admin;
}

/** Starts a server at the first request and serves its databases to test processes: POST and DELETE of /database. */
export async function servePostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  let server: Promise<PostgresServer> | null = null;
  const http = createHttpServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    server ??= startPostgres();
    server
      .then(async (postgres) => {
        if (request.method === "POST") return postgres.createDatabase(searchParams.has("empty"));
        await postgres.dropDatabase(searchParams.get("url") ?? "");
        return "";
      })
      .then(
        (answer) => response.end(answer),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/database`,
    stop: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await (await server)?.stop();
    },
  };
}

/** Keeps what migrations put into tables. */
async function rememberRows(url: string): Promise<void> {
  await inDatabase(
    url,
    `create schema initial;
     do $$ declare name text; begin
       for name in select tablename from pg_tables where schemaname = 'public' loop
         execute format('create table initial.%I as table public.%I', name, name);
       end loop;
     end $$`,
  );
}

/** As after the migrations: rows, and where the numbers of new ones begin. */
async function emptyDatabase(url: string): Promise<void> {
  await inDatabase(
    url,
    `set session_replication_role = replica;
     do $$ declare name text; begin
       for name in select tablename from pg_tables where schemaname = 'public' loop
         execute format('delete from public.%I', name);
         execute format('insert into public.%I overriding system value select * from initial.%I', name, name);
       end loop;
       perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences;
       perform setval('event_statuses_status_id_seq', 1);
     end $$`,
  );
}

async function inDatabase(url: string, statements: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}
