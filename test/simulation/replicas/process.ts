import { eventLoopTurn, type Clock } from "../../../src/base/time.ts";
import type { Chance } from "../chance.ts";
import { type Answer, PostgresError } from "./postgres/database.ts";
import { connectionLost, connectionRefused, type Link } from "./postgres/pool.ts";
import type { Session } from "./postgres/server.ts";

/** What a statement is about: faults can wait for it. */
export const targets = {
  runs: /\binsert into runs\b/,
  lease: /\bupdate owners set lease_until_ms\b/,
  takeover: /\bupdate owners set epoch\b/,
  shards: /\bupdate shards set\b/,
  follow: /\bfrom checks where\b/,
  history: /\binsert into hours\b/,
  fold: /\bdelete from (runs|owners)\b/,
} as const;
export type Target = keyof typeof targets;

/** A fault that comes with the next statement of its kind. */
export interface Ambush {
  readonly target: Target;
  /** Of the statement itself, or of the commit of what it belongs to. */
  readonly place: "before" | "after" | "before-commit" | "after-commit";
  readonly act: "drop" | "die" | "fail" | "suspend";
  /** For `suspend`. */
  readonly forMs: number;
  /** SQLSTATE, for `fail`. */
  readonly code: string;
}

export interface ProcessOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly chance: Chance;
  /** The server takes connections. */
  readonly isServerUp: () => boolean;
  readonly onTrace: (line: string) => void;
  /** Something was done to it, which lasts until then; wall time. */
  readonly onFault: (untilMs: number) => void;
  /** The model was asked what it does not know. */
  readonly onBroken: (error: unknown) => void;
}

const longestMs = { usual: 3, slow: 1_500 };
// A statement that runs longer than that waits for a row.
const briefMs = 300;
const forgottenMs = 3_000;

/** A process with its clock and its connections: it can be suspended and killed between any two awaits. */
export class Process implements Link {
  readonly name: string;
  readonly clock: Clock;
  ambush: Ambush | null = null;
  isDead = false;
  /** How long nothing takes its place when it dies; null: as usual. */
  downMs: number | null = null;
  /** Until when something was done to it, wall time. */
  faultAtMs = -Infinity;
  readonly #options: ProcessOptions;
  readonly #sessions = new Set<Session>();
  /** What the transaction of a session has written. */
  readonly #written = new Map<Session, Set<Target>>();
  readonly #death = Promise.withResolvers<void>();
  /** When its running statements began to run. */
  readonly #running = new Set<{ readonly sinceMs: number }>();
  #suspendedUntilMs = -Infinity;
  #slowUntilMs = -Infinity;
  #delayedAtMs = -Infinity;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.clock = this.#processClock();
  }

  get isSuspended(): boolean {
    return this.#options.clock.monotonicMs() < this.#suspendedUntilMs;
  }

  /** A statement of it waits for a row, or did a moment ago. */
  get isDelayed(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    return (
      nowMs - this.#delayedAtMs < forgottenMs || [...this.#running].some(({ sinceMs }) => nowMs - sinceMs > briefMs)
    );
  }

  /** Its network takes long. */
  slow(forMs: number): void {
    this.#slowUntilMs = this.#options.clock.monotonicMs() + forMs;
    this.#fault(`slow for ${forMs} ms`, forMs);
  }

  /** Nothing of it goes on for this long; what the server does for it goes on. */
  suspend(forMs: number): void {
    const untilMs = this.#options.clock.monotonicMs() + forMs;
    this.#suspendedUntilMs = Math.max(this.#suspendedUntilMs, untilMs);
    this.#fault(`suspended for ${forMs} ms`, forMs);
  }

  /** Nothing of it ever goes on; the system closes its connections. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const session of this.#sessions) session.end();
    this.#fault("killed");
    this.#death.resolve();
  }

  /** Resolves with its death. */
  get death(): Promise<void> {
    return this.#death.promise;
  }

  async connect(open: () => Session): Promise<Session> {
    await this.#travel();
    if (!this.#options.isServerUp()) {
      await this.#travel();
      throw connectionRefused();
    }
    const session = open();
    this.#sessions.add(session);
    await this.#travel();
    return session;
  }

  async send(sql: string, session: Session, execute: () => Promise<Answer>): Promise<Answer> {
    await this.#awake();
    const text = sql.trim().toLowerCase();
    const isCommit = text === "commit";
    const found = (Object.keys(targets) as Target[]).find((target) => targets[target].test(text)) ?? null;
    if (text.startsWith("start transaction")) this.#written.set(session, new Set());
    const written = this.#written.get(session);
    if (found !== null) written?.add(found);
    const isAmbushed = (place: Ambush["place"]): boolean => {
      const { ambush } = this;
      if (ambush?.place !== place) return false;
      return place.endsWith("commit") ? isCommit && written?.has(ambush.target) === true : ambush.target === found;
    };
    if (isAmbushed("before") || isAmbushed("before-commit")) await this.#fall(session, true);
    if (session.isEnded) throw connectionLost();
    await this.#travel();
    const outcome = await this.#execute(execute);
    const named = outcome instanceof PostgresError ? outcome.code : `${outcome.rowCount} rows`;
    this.#options.onTrace(`${this.name}.${session.id} ${text.replaceAll(/\s+/g, " ").slice(0, 60)} = ${named}`);
    if (isAmbushed("after") || isAmbushed("after-commit")) await this.#fall(session, false);
    await this.#travel();
    if (outcome instanceof Error) throw outcome;
    if (session.isEnded) throw connectionLost();
    return outcome;
  }

  async #execute(execute: () => Promise<Answer>): Promise<Answer | PostgresError> {
    const { clock, onBroken } = this.#options;
    const running = { sinceMs: clock.monotonicMs() };
    this.#running.add(running);
    try {
      return await execute();
    } catch (error) {
      if (error instanceof PostgresError) return error;
      onBroken(error);
      throw error;
    } finally {
      this.#running.delete(running);
      if (clock.monotonicMs() - running.sinceMs > briefMs) this.#delayedAtMs = clock.monotonicMs();
    }
  }

  async #fall(session: Session, isBefore: boolean): Promise<void> {
    const { ambush } = this;
    if (ambush === null) return;
    this.ambush = null;
    this.#options.onTrace(`${this.name} ambush ${JSON.stringify(ambush)}`);
    switch (ambush.act) {
      case "die":
        this.kill();
        return this.#awake();
      case "suspend":
        this.suspend(ambush.forMs);
        return this.#awake();
      case "fail":
        this.#fault("a statement failed");
        // Of a statement that was done no error comes.
        if (isBefore) throw await this.#failed(ambush.code, session);
        return;
      case "drop":
        this.#fault("a connection was lost");
        session.end();
        throw connectionLost();
      default:
        return ambush.act satisfies never;
    }
  }

  /** As after an error of the server: the transaction takes nothing but its rollback. */
  async #failed(code: string, session: Session): Promise<PostgresError> {
    session.fail();
    await this.#travel();
    return new PostgresError(code, "refused by the script");
  }

  /** One way over the network. */
  async #travel(): Promise<void> {
    const { clock, chance } = this.#options;
    const isSlow = clock.monotonicMs() < this.#slowUntilMs;
    await clock.sleep(chance.between(1, isSlow ? longestMs.slow : longestMs.usual));
    await this.#awake();
  }

  async #awake(): Promise<void> {
    const { clock } = this.#options;
    while (this.isSuspended) await clock.sleep(this.#suspendedUntilMs - clock.monotonicMs());
    if (this.isDead) await new Promise(() => undefined);
  }

  #fault(what: string, forMs = 0): void {
    this.faultAtMs = Math.max(this.faultAtMs, this.#options.clock.nowMs() + forMs);
    this.#options.onTrace(`${this.name} ${what}`);
    this.#options.onFault(this.faultAtMs);
  }

  #processClock(): Clock {
    const { clock } = this.#options;
    const gated = (signal: AbortSignal): AbortSignal => {
      const own = new AbortController();
      const pass = (): void => void this.#awake().then(() => own.abort(signal.reason));
      if (signal.aborted) own.abort(signal.reason);
      else signal.addEventListener("abort", pass, { once: true });
      return own.signal;
    };
    return {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: async (delayMs, signal) => {
        if (delayMs <= 0) await eventLoopTurn();
        else await clock.sleep(delayMs, signal);
        await this.#awake();
      },
      timeout: (delayMs, signal) => gated(clock.timeout(delayMs, signal)),
      deadline: (delayMs, signal) => {
        const { signal: inner, release } = clock.deadline(delayMs, signal);
        return { signal: gated(inner), release };
      },
    };
  }
}
