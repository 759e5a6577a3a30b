import { minuteMs, secondMs } from "../../../src/base/time.ts";
import { shardOf } from "../../../src/monitor/membership.ts";
import type { CheckReport } from "../../../src/contract/report.ts";
import { unpackHour } from "../../../src/store/runs/packed-hour.ts";
import type { StoredRun } from "../disk.ts";
import type { Change } from "./postgres/database.ts";
import type { Row } from "./postgres/syntax.ts";
import type { ReplicaWorld, Seat } from "./world.ts";

// From the kill of an owner to the run by another one: 10 to 14 s (docs/decisions.md), and 10 s until a run is tried again
// that could not be recorded.
const takenOverMs = 25 * secondMs;
// One look every second, and the statements of it.
const lagMs = 2 * secondMs;
const settledMs = 5 * secondMs;
// Newcomers get their shares when the others have looked, twice.
const balancedMs = 40 * secondMs;
const lateMs = 5 * secondMs;
const shards = 64;

/** A run that the database has taken. */
interface Truth {
  readonly ownerId: number;
  readonly committedAtMs: number;
  readonly run: StoredRun;
}

/**
 * What the contract promises of replicas on one database, seen from the database: every due run is recorded once, nobody writes
 * whose epoch has ended, shards do not stay without an owner, and every board shows what was committed.
 */
export class ReplicaOracle {
  readonly violations: string[] = [];
  recorded = 0;
  /** Boards that were compared. */
  compared = 0;
  readonly #world: ReplicaWorld;
  readonly #truth = new Map<string, Truth[]>();

  constructor(world: ReplicaWorld) {
    this.#world = world;
  }

  committed(changes: readonly Change[], by: string): void {
    for (const { table, before, after } of changes) {
      if (after === null) continue;
      const isCommit = after["seq"] !== before?.["seq"] || after["owner_id"] !== before?.["owner_id"];
      if (table === "owners" && before !== null && isCommit) this.#commit(before, after);
      if (table === "checks" && after["owner_id"] !== null && isCommit) this.#checked(after, by);
    }
  }

  /** A second has passed. */
  second(): void {
    this.#requireRuns();
    this.#requireOwners();
    for (const seat of this.#world.seats) this.#compare(seat);
  }

  finish(): void {
    const { database } = this.#world.server;
    const times = new Map<string, number>();
    const note = (checkId: unknown, atMs: unknown): void => {
      const key = `${String(checkId)} ${String(atMs)}`;
      times.set(key, (times.get(key) ?? 0) + 1);
    };
    for (const row of database.committed("runs")) note(row["check_id"], row["at_ms"]);
    for (const row of database.committed("hours"))
      for (const { atMs } of unpackHour(bytesOf(row, "runs"))) note(row["check_id"], atMs);
    for (const [slug, all] of this.#truth)
      for (const { run } of all) {
        const { finishedAtMs } = run.report;
        const key = `${run.checkId} ${finishedAtMs}`;
        const found = times.get(key) ?? 0;
        if (found !== 1) this.#violate(`the history has a run of ${slug} ${found} times, ended ${finishedAtMs}`);
        times.delete(key);
      }
    if (times.size > 0) this.#violate(`the history has ${times.size} runs that were never committed`);
  }

  #commit(before: Row, after: Row): void {
    if (Number(after["seq"]) !== Number(before["seq"]) + 1)
      this.#violate(
        `owner ${String(after["owner_id"])} wrote commit ${String(after["seq"])} after ${String(before["seq"])}`,
      );
  }

  #checked(row: Row, by: string): void {
    const ownerId = Number(row["owner_id"]);
    const owner = this.#world.server.database.committed("owners").find((one) => one["owner_id"] === ownerId);
    if (owner === undefined || owner["lease_until_ms"] === 0)
      this.#violate(`${by} wrote as owner ${ownerId} after its epoch had ended`);
    const report = JSON.parse(String(row["report"])) as CheckReport;
    const [checkId, dueAtMs] = [Number(row["check_id"]), Number(row["due_at_ms"])];
    this.#run({ checkId, dueAtMs, isAsked: row["is_asked"] === 1, report }, ownerId);
  }

  #run(run: StoredRun, ownerId: number): void {
    const slug = this.#world.slugOf(run.checkId);
    const all = this.#truth.get(slug) ?? [];
    this.#truth.set(slug, all);
    const last = all.at(-1);
    const dueAtMs = last === undefined ? run.dueAtMs : dueAfter(last);
    if (run.dueAtMs !== dueAtMs)
      this.#violate(`owner ${ownerId} ran ${slug} as due ${text(run.dueAtMs)}, and it was due ${text(dueAtMs)}`);
    all.push({ run, ownerId, committedAtMs: this.#world.clock.nowMs() });
    this.recorded++;
    this.#world.trace(`run ${slug} ${run.dueAtMs} by ${ownerId}`);
  }

  /** No run is late once everything has been in order for long enough. */
  #requireRuns(): void {
    const nowMs = this.#world.clock.nowMs();
    const sinceMs = this.#world.calmSinceMs() + takenOverMs;
    for (const slug of this.#world.slugs) {
      const last = this.#truth.get(slug)?.at(-1);
      const dueAtMs = last === undefined ? 0 : dueAfter(last);
      if (Math.max(dueAtMs, sinceMs) + lateMs < nowMs)
        this.#violate(`${slug} (shard ${shardOf(slug)}) was due ${text(dueAtMs)} and is not run`);
    }
  }

  #requireOwners(): void {
    const nowMs = this.#world.clock.nowMs();
    const calmMs = nowMs - this.#world.calmSinceMs();
    if (calmMs < takenOverMs) return;
    const { database } = this.#world.server;
    const living = database.committed("owners").filter((row) => Number(row["lease_until_ms"]) > nowMs);
    const counts = new Map(living.map((row) => [row["owner_id"], 0]));
    for (const { shard, owner_id } of database.committed("shards")) {
      const count = counts.get(owner_id ?? null);
      // On its way from one owner to another.
      if (owner_id === null && calmMs < balancedMs) continue;
      if (count === undefined) this.#violate(`shard ${String(shard)} is owned by nobody who lives`);
      else counts.set(owner_id ?? null, count + 1);
    }
    if (calmMs < balancedMs) return;
    const most = Math.ceil(shards / Math.max(1, living.length));
    const { seats } = this.#world;
    const [running, alive] = [
      seats.filter(({ replica }) => replica !== null),
      seats.filter(({ process }) => process !== null),
    ];
    // One that stops may have left already, or not.
    if (living.length < running.length || living.length > alive.length)
      this.#violate(
        `${living.length} owners live, ${running.length} replicas run, ${alive.length - running.length} stop`,
      );
    for (const [ownerId, count] of counts)
      if (count > most) this.#violate(`owner ${String(ownerId)} has ${count} shards of at most ${most}`);
  }

  /** What a replica shows is what was committed, and in time. */
  #compare({ name, process, replica, startedAtMs }: Seat): void {
    const nowMs = this.#world.clock.nowMs();
    if (process === null || replica === null || startedAtMs === null || process.isSuspended) return;
    const isSettled =
      nowMs - Math.max(startedAtMs, process.faultAtMs, this.#world.databaseFaultAtMs) > settledMs && !process.isDelayed;
    for (const slug of this.#world.slugs) {
      const all = this.#truth.get(slug) ?? [];
      const state = replica.board.state("dead-asset-spike", slug);
      const shown = all.findLastIndex(
        ({ ownerId, run }) => ownerId === state?.ownerId && run.report.finishedAtMs === state.lastRunAtMs,
      );
      this.compared++;
      if (state !== null && shown < 0)
        this.#violate(`${name} shows a run of ${slug} that was never committed, ended ${text(state.lastRunAtMs)}`);
      const run = all[shown]?.run;
      if (state !== null && run !== undefined) {
        if (run.dueAtMs !== state.dueAtMs || run.report.severity !== state.severity)
          this.#violate(`${name} shows ${slug} with another due time or severity than its run had`);
      }
      if (!isSettled) continue;
      const known = all.findLastIndex(({ committedAtMs }) => committedAtMs <= nowMs - lagMs);
      const behind = all[shown + 1];
      if (shown < known && behind !== undefined)
        this.#violate(`${name} does not show the run of ${slug} that was committed ${text(behind.committedAtMs)}`);
    }
  }

  #violate(what: string): void {
    const violation = `${text(this.#world.clock.nowMs())} ${what}`;
    this.violations.push(violation);
    this.#world.trace(`VIOLATION ${what}`);
  }
}

/** When a check is due whose last run is this: at each full minute. */
function dueAfter({ run }: Truth): number {
  return (Math.floor(run.report.finishedAtMs / minuteMs) + 1) * minuteMs;
}

function bytesOf(row: Row, column: string): Uint8Array {
  const bytes = row[column];
  if (!(bytes instanceof Uint8Array)) throw new Error(`${column} has no bytes`);
  return bytes;
}

function text(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 23);
}
