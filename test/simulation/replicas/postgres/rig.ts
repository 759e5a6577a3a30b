import { Pool, type PoolConfig } from "pg";

import { eventLoopTurn, type Clock } from "../../../../src/base/time.ts";
import { Secret } from "../../../../src/base/secret.ts";
import { openPostgresStore } from "../../../../src/store/open-postgres.ts";
import type { Store } from "../../../../src/store/store.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";
import { createModelPool } from "./pool.ts";
import { ModelServer } from "./server.ts";

/** A statement as a process sends it. */
export interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What came of a statement: rows, or an SQLSTATE. */
export type Outcome = { readonly count: number | null; readonly rows: readonly unknown[] } | { readonly code: string };

/** Several processes on one database: each statement waits until it is let through. */
export interface Rig {
  readonly stores: readonly Store[];
  /** The next statement of a process; null: none waits at the gate. */
  waiting(index: number): Asked | null;
  /** Whether the statement that was let through waits for a row. */
  isBlocked(index: number): boolean;
  /** What came of statements since it was asked last, in order. */
  outcomes(index: number): readonly Outcome[];
  /** Lets the next statement through. */
  pass(index: number): void;
  /** Waits until every process stands at the gate, waits for a row, or has nothing to do. */
  settle(isIdle: (index: number) => boolean): Promise<void>;
  /** All rows of a table. */
  rows(table: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

interface Backend {
  createPool(config: PoolConfig): Pool;
  /** By the process that a connection belongs to. */
  isBlocked(client: object): Promise<boolean>;
  read(sql: string): Promise<readonly unknown[]>;
  endSessions(): Promise<unknown>;
  end(): Promise<void>;
}

type Query = (
  asked: Asked & { readonly name?: string },
) => Promise<{ rows: readonly unknown[]; rowCount: number | null }>;
type AnyClient = { query: Query; release(isDiscarded?: boolean): void; on(): unknown; processID?: number };

const settings = { lock_timeout: 0, idle_in_transaction_session_timeout: 0, statement_timeout: 0 };

/** A rig on the model. */
export async function createModelRig(processes: number): Promise<Rig> {
  const clock = createVirtualClock({ startMs: 0, settleTurns: 3 });
  const server = new ModelServer({ clock });
  const link = { name: "rig", connect: async (open: () => ReturnType<ModelServer["connect"]>) => open() };
  return createRig(processes, {
    createPool: (config) =>
      createModelPool(server, { ...link, send: async (_sql, _session, execute) => execute() })({
        ...config,
        lock_timeout: 3_600_000,
        idle_in_transaction_session_timeout: 3_600_000,
        statement_timeout: 3_600_000,
      }),
    isBlocked: async (client) => (client as { session: { isWaiting: boolean } }).session.isWaiting,
    read: async (sql) =>
      (await server.connect("reader", { lockTimeoutMs: 0, idleTransactionMs: 0, statementTimeoutMs: 0 }).execute(sql))
        .rows,
    endSessions: async () => server.endSessions(),
    end: async () => undefined,
  });
}

/** A rig on a real PostgreSQL, which has flatline's tables. */
export async function createRealRig(processes: number, url: Secret): Promise<Rig> {
  const reader = forgiving(new Pool({ connectionString: url.reveal(), max: 1 }));
  return createRig(
    processes,
    {
      createPool: (config) => new Pool({ ...config, ...settings }),
      isBlocked: async (client) => {
        const { processID } = client as { processID: number };
        const { rows } = await reader.query("select cardinality(pg_blocking_pids($1)) > 0 as is_blocked", [processID]);
        return rows[0]?.is_blocked === true;
      },
      read: async (sql) => (await reader.query(sql)).rows,
      endSessions: () =>
        reader.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
        ),
      end: () => reader.end(),
    },
    url,
  );
}

async function createRig(processes: number, backend: Backend, url = new Secret("postgres://a@model/a")): Promise<Rig> {
  const gates = Array.from({ length: processes }, () => new Gate(backend));
  const stores: Store[] = [];
  for (const gate of gates) {
    stores.push(
      await openPostgresStore({
        url,
        poolSize: 2,
        leaseClock: "caller",
        retryClock: impatientClock,
        createPool: (config) => gate.pool(config),
      }),
    );
    gate.isOpen = false;
  }
  const of = (index: number): Gate => gates[index] as Gate;
  return {
    stores,
    waiting: (index) => of(index).waiting[0]?.asked ?? null,
    isBlocked: (index) => of(index).isBlocked,
    outcomes: (index) => of(index).outcomes.splice(0),
    pass: (index) => of(index).pass(),
    settle: async (isIdle) => {
      const isSettled = async (): Promise<boolean> => {
        const each: boolean[] = [];
        for (const [index, gate] of gates.entries())
          each.push(gate.waiting.length > 0 || (gate.running.size === 0 ? isIdle(index) : await gate.look()));
        return each.every(Boolean);
      };
      // Once more: one that stood still may have been about to go on.
      for (let times = 0; times < 2; times = (await isSettled()) ? times + 1 : 0) await eventLoopTurn();
    },
    rows: (table) => backend.read(`select * from ${table}`),
    close: async () => {
      for (const gate of gates) gate.open();
      // Two that wait for each other would wait for ever.
      await backend.endSessions();
      await Promise.all(stores.map((store) => store.close()));
      await backend.end();
    },
  };
}

/** What is between a process and the database. */
class Gate {
  isOpen = true;
  isBlocked = false;
  readonly waiting: { readonly asked: Asked; readonly pass: () => void }[] = [];
  readonly outcomes: Outcome[] = [];
  readonly running = new Set<AnyClient>();
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  pass(): void {
    this.waiting.shift()?.pass();
  }

  open(): void {
    this.isOpen = true;
    while (this.waiting.length > 0) this.pass();
  }

  /** Whether all that runs waits for rows. */
  async look(): Promise<boolean> {
    const each: boolean[] = [];
    for (const client of this.running) each.push(await this.#backend.isBlocked(client));
    this.isBlocked = each.length > 0 && this.running.size > 0 && each.every(Boolean);
    return this.isBlocked;
  }

  pool(config: PoolConfig): Pool {
    const real = forgiving(this.#backend.createPool(config));
    const known = new WeakMap<object, AnyClient>();
    const pool = {
      on: () => pool,
      end: () => real.end(),
      connect: async () => {
        const client = (await real.connect()) as unknown as AnyClient;
        const gated = known.get(client) ?? this.#client(client);
        known.set(client, gated);
        return gated;
      },
    };
    return pool as unknown as Pool;
  }

  #client(client: AnyClient): AnyClient {
    return {
      on: () => undefined,
      release: (isDiscarded) => client.release(isDiscarded),
      query: async (asked) => {
        const { text, values } = asked;
        if (!this.isOpen) await new Promise<void>((pass) => this.waiting.push({ asked: { text, values }, pass }));
        this.running.add(client);
        try {
          const answer = await client.query(asked);
          this.outcomes.push({ count: answer.rowCount, rows: answer.rows });
          return answer;
        } catch (error) {
          this.outcomes.push({ code: String((error as { readonly code?: unknown }).code ?? error) });
          throw error;
        } finally {
          this.running.delete(client);
          this.isBlocked = false;
        }
      },
    };
  }
}

/** Waits for nothing. */
const impatientClock: Clock = {
  nowMs: () => 0,
  monotonicMs: () => 0,
  sleep: () => eventLoopTurn(),
  timeout: () => new AbortController().signal,
  deadline: () => ({ signal: new AbortController().signal, release: () => undefined }),
};

/** A connection that is ended from outside is no error of its own: its statement rejects. */
function forgiving(pool: Pool): Pool {
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}
