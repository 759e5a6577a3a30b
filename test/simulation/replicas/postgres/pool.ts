import type { Pool, PoolConfig } from "pg";

import { PostgresError, type Answer } from "./database.ts";
import type { ModelServer, Session, SessionSettings } from "./server.ts";

/** What is between a process and the server. */
export interface Link {
  /** The name of the process, for the sessions of it. */
  readonly name: string;
  /** Opens a connection; throws where the server refuses one. */
  connect(open: () => Session): Promise<Session>;
  /** Sends a statement and answers with what comes back. */
  send(sql: string, session: Session, execute: () => Promise<Answer>): Promise<Answer>;
}

interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns what takes the place of pg's pool: connections to a model, as many as the configuration allows. */
export function createModelPool(server: ModelServer, link: Link): (config: PoolConfig) => Pool {
  return (config) => new ModelPool(server, link, config) as unknown as Pool;
}

class ModelPool {
  readonly #server: ModelServer;
  readonly #link: Link;
  readonly #config: PoolConfig;
  readonly #idle: ModelClient[] = [];
  readonly #waiting: (() => void)[] = [];
  #clients = 0;

  constructor(server: ModelServer, link: Link, config: PoolConfig) {
    this.#server = server;
    this.#link = link;
    this.#config = config;
  }

  on(): this {
    return this;
  }

  async connect(): Promise<ModelClient> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle?.session.isEnded === false) return idle;
      // As pg does: an idle connection that was lost is not lent.
      if (idle !== undefined) this.#clients--;
      else if (this.#clients < (this.#config.max ?? 1)) return this.#open();
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async end(): Promise<void> {
    for (const { session } of this.#idle.splice(0)) session.end();
  }

  async #open(): Promise<ModelClient> {
    this.#clients++;
    try {
      const session = await this.#link.connect(() => this.#server.connect(this.#link.name, settingsOf(this.#config)));
      return new ModelClient(session, this.#link, (client, isDiscarded) => this.#release(client, isDiscarded));
    } catch (error) {
      this.#clients--;
      this.#waiting.shift()?.();
      throw error;
    }
  }

  #release(client: ModelClient, isDiscarded: boolean): void {
    if (isDiscarded) {
      client.session.end();
      this.#clients--;
    } else this.#idle.push(client);
    this.#waiting.shift()?.();
  }
}

class ModelClient {
  readonly session: Session;
  readonly #link: Link;
  readonly #release: (client: ModelClient, isDiscarded: boolean) => void;

  constructor(session: Session, link: Link, release: (client: ModelClient, isDiscarded: boolean) => void) {
    this.session = session;
    this.#link = link;
    this.#release = release;
  }

  on(): this {
    return this;
  }

  async query({ text, values }: Query): Promise<Answer> {
    const { session } = this;
    if (session.isEnded) throw new Error("Client has encountered a connection error and is not queryable");
    return this.#link.send(text, session, () => session.execute(text, values));
  }

  release(isDiscarded = false): void {
    this.#release(this, isDiscarded);
  }
}

/** What pg throws when the connection is lost while a statement runs. */
export function connectionLost(): Error {
  return new Error("Connection terminated unexpectedly");
}

/** What pg throws when no server listens. */
export function connectionRefused(): Error {
  return new PostgresError("ECONNREFUSED", "connect ECONNREFUSED");
}

function settingsOf(config: PoolConfig): SessionSettings {
  const { lock_timeout: lock, idle_in_transaction_session_timeout: idle, statement_timeout: statement } = config;
  if (typeof lock !== "number" || typeof idle !== "number" || typeof statement !== "number")
    throw new Error("a connection to the model of PostgreSQL has its timeouts");
  return { lockTimeoutMs: lock, idleTransactionMs: idle, statementTimeoutMs: statement };
}
