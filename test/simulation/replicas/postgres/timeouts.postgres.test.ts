import { Pool } from "pg";
import { afterEach, describe, expect, it } from "vitest";

import { createDatabase } from "../../../support/postgres/postgres.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";
import { createModelPool } from "./pool.ts";
import { ModelServer } from "./server.ts";

interface Connections {
  /** The SQLSTATE of what a statement was refused with; null: it was taken. */
  readonly ask: (connection: "a" | "b", text: string) => Promise<string | null>;
}

const renew = (ownerId: number): string => `update owners set lease_until_ms = 7 where owner_id = ${ownerId}`;
const insert = "insert into owners (epoch, lease_until_ms, seq) values (1, 0, 0) returning owner_id";
const begin = "start transaction isolation level read committed";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connect(pool: Pool, finished: <Result>(work: Promise<Result>) => Promise<Result>): Promise<Connections> {
  pool.on("error", () => undefined);
  const clients = { a: await pool.connect(), b: await pool.connect() };
  for (const client of Object.values(clients)) client.on("error", () => undefined);
  closing.push(async () => {
    for (const client of Object.values(clients)) client.release(true);
    await pool.end();
  });
  return {
    ask: (connection, text) =>
      finished(
        clients[connection].query({ text, values: [] }).then(
          () => null,
          (error: unknown) => (error as { readonly code?: string }).code ?? "lost",
        ),
      ),
  };
}

interface Limits {
  readonly lockMs: number;
  readonly idleMs: number;
}

const engines = [
  {
    engine: "the model",
    open: async ({ lockMs, idleMs }: Limits): Promise<Connections> => {
      const clock = createVirtualClock({ startMs: 0, settleTurns: 3 });
      const server = new ModelServer({ clock });
      const createPool = createModelPool(server, {
        name: "test",
        connect: async (open) => open(),
        send: async (_sql, _session, execute) => execute(),
      });
      const limits = { lock_timeout: lockMs, idle_in_transaction_session_timeout: idleMs, statement_timeout: 30_000 };
      return connect(createPool({ max: 2, ...limits }), async (work) => {
        let isDone = false;
        void work.then(() => (isDone = true));
        await clock.advanceUntil(() => isDone, 60_000);
        return work;
      });
    },
  },
  {
    engine: "a real PostgreSQL",
    open: async ({ lockMs, idleMs }: Limits): Promise<Connections> => {
      const database = await createDatabase();
      closing.push(() => database.drop());
      const limits = { lock_timeout: lockMs, idle_in_transaction_session_timeout: idleMs, statement_timeout: 30_000 };
      return connect(new Pool({ connectionString: database.url.reveal(), max: 2, ...limits }), (work) => work);
    },
  },
];

describe.each(engines)("a transaction on $engine", ({ open }) => {
  it("waits for a row as long as lock_timeout says", async () => {
    const { ask } = await open({ lockMs: 200, idleMs: 20_000 });
    for (const text of [insert, begin, renew(1)]) await ask("a", text);

    expect(await ask("b", renew(1))).toBe("55P03");
    expect(await ask("a", "commit")).toBe(null);
    expect(await ask("b", renew(1))).toBe(null);
  });

  it("ends with its connection when it is idle for too long, and its rows are free", async () => {
    const { ask } = await open({ lockMs: 5_000, idleMs: 300 });
    for (const text of [insert, begin, renew(1)]) await ask("a", text);

    expect(await ask("b", renew(1))).toBe(null);
    expect(await ask("a", "commit")).not.toBe(null);
  });

  it("ends when it waits for itself, after a second, and the other one goes on", async () => {
    const { ask } = await open({ lockMs: 20_000, idleMs: 20_000 });
    for (const text of [insert, insert, begin, renew(1)]) await ask("a", text);
    for (const text of [begin, renew(2)]) await ask("b", text);

    const first = ask("a", renew(2));
    const second = ask("b", renew(1));

    const isFirst = (await first) === "40P01";
    expect([await first, await second]).toEqual(isFirst ? ["40P01", null] : [null, "40P01"]);
    expect(await ask(isFirst ? "a" : "b", renew(1))).toBe("25P02");
    expect(await ask(isFirst ? "b" : "a", "commit")).toBe(null);
  });
});
