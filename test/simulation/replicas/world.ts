import { createHash } from "node:crypto";

import { hourMs, minuteMs, secondMs, type Clock } from "../../../src/base/time.ts";
import type { CheckReport } from "../../../src/contract/report.ts";
import type { CheckTarget } from "../../../src/checks/checks.ts";
import { spikeResult } from "../../support/far-side/scripted-source.ts";
import { spikeTarget } from "../../support/scheduling.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";
import { createChance, type Chance } from "../chance.ts";
import { loggerTo } from "../life.ts";
import { ReplicaOracle } from "./oracle.ts";
import { ModelServer } from "./postgres/server.ts";
import { Process } from "./process.ts";
import { createReplica, type Replica } from "./replica.ts";
import { writeReplicaScript, type ReplicaIncident } from "./script.ts";

// Ten minutes before a full hour, after which runs are folded.
const startMs = Date.UTC(2026, 9, 24, 7, 50);
const slugs = Array.from({ length: 16 }, (_, index) => `org-${index}`) as [string, ...string[]];
const quietMs = 3 * minuteMs;
// As a supervisor does.
const bootAgainMs = 5 * secondMs;
const drainMs = 5 * secondMs;
const killedAfterMs = 30 * secondMs;
const usualMs = { least: 20, most: 400 };
const slowMs = 12 * secondMs;
const severities = ["ok", "ok", "warn", "fail"] as const;

/** A place for one replica, which has one process after the other. */
export interface Seat {
  readonly name: string;
  process: Process | null;
  /** null: it does not run, or stops. */
  replica: Replica | null;
  startedAtMs: number | null;
  lives: number;
}

export interface ReplicaWorldOptions {
  readonly seed: number;
  readonly replicas: number;
  /** With faults; three minutes without follow. */
  readonly forMs: number;
  /** In place of what the seed writes. */
  readonly script?: readonly ReplicaIncident[];
  readonly onTrace?: (line: string) => unknown;
}

/** Several replicas on one model of PostgreSQL, for one seed. */
export class ReplicaWorld {
  readonly clock: VirtualClock = createVirtualClock({ startMs, settleTurns: "asked" });
  readonly slugs = slugs;
  readonly seats: readonly Seat[];
  readonly server: ModelServer;
  readonly oracle: ReplicaOracle;
  readonly script: readonly ReplicaIncident[];
  readonly counts: Record<string, number> = {};
  /** When the database was restarted last. */
  databaseFaultAtMs = -Infinity;
  readonly #options: ReplicaWorldOptions;
  readonly #chance: Chance;
  readonly #hash = createHash("sha256");
  readonly #targets: readonly CheckTarget[] = slugs.map((slug) => spikeTarget(slug, { pattern: "* * * * *" }));
  #calmSinceMs = startMs;
  #databaseUpAtMs = -Infinity;
  #slowUntilMs = -Infinity;

  constructor(options: ReplicaWorldOptions) {
    const { seed, replicas, forMs } = options;
    const chance = createChance(seed).of("replicas");
    this.#options = options;
    this.#chance = chance;
    this.script = options.script ?? writeReplicaScript({ chance: chance.of("script"), forMs, replicas, slugs });
    this.seats = Array.from({ length: replicas }, (_, index) => ({
      name: "abcdefgh"[index] ?? String(index),
      process: null,
      replica: null,
      startedAtMs: null,
      lives: 0,
    }));
    this.oracle = new ReplicaOracle(this);
    this.server = new ModelServer({
      clock: this.clock,
      onCommit: (changes, { name }) => this.oracle.committed(changes, name),
    });
  }

  /** Since when nothing was done to anything. */
  calmSinceMs(): number {
    return this.#calmSinceMs;
  }

  async run(isOver: () => boolean): Promise<void> {
    const endMs = this.#options.forMs + quietMs;
    const left = [...this.script];
    for (const seat of this.seats) this.#boot(seat);
    for (let second = secondMs; second <= endMs && !isOver(); second += secondMs) {
      for (let next = left[0]; next !== undefined && next.atMs <= second; next = left[0]) {
        left.shift();
        await this.clock.advance(Math.max(0, next.atMs - this.clock.monotonicMs()));
        this.#happen(next);
      }
      await this.clock.advance(second - this.clock.monotonicMs());
      if (second === this.#options.forMs) this.#calm();
      this.oracle.second();
    }
    if (!isOver()) this.oracle.finish();
    for (const { process } of this.seats) process?.kill();
  }

  hash(): string {
    return this.#hash.digest("hex");
  }

  trace(line: string): void {
    const text = `${new Date(this.clock.nowMs()).toISOString()} ${line}`;
    this.#hash.update(text);
    this.#options.onTrace?.(text);
  }

  slugOf(checkId: number): string {
    const row = this.server.database.committed("checks").find((one) => one["check_id"] === checkId);
    return String(row?.["slug"] ?? `check ${checkId}`);
  }

  #boot(seat: Seat): void {
    if (seat.process !== null) return;
    const { clock } = this;
    const name = `${seat.name}${++seat.lives}`;
    const process = new Process({
      name,
      clock,
      chance: this.#chance.of(`network ${name}`),
      isServerUp: () => clock.monotonicMs() >= this.#databaseUpAtMs,
      onTrace: (line) => this.trace(line),
      onFault: (untilMs) => this.#disturb(untilMs),
      onBroken: (error) => this.oracle.violations.push(String(error)),
    });
    const runs = this.#chance.of(`runs ${name}`);
    const replica = createReplica({
      process,
      server: this.server,
      targets: this.#targets,
      run: (target, own, signal) => this.#run(target, own, { signal, chance: runs }),
      logger: loggerTo((line) => {
        if (!process.isDead) this.trace(`${name} ${line}`);
      }),
    });
    seat.process = process;
    this.trace(`${name} boots`);
    this.#disturb();
    void this.#start(seat, process, replica);
    void this.#bootAgain(seat, process);
  }

  async #start(seat: Seat, process: Process, replica: Replica): Promise<void> {
    try {
      await replica.start();
    } catch (error) {
      this.trace(`${process.name} could not start: ${String(error)}`);
      return process.kill();
    }
    seat.replica = replica;
    seat.startedAtMs = this.clock.nowMs();
    this.trace(`${process.name} started`);
    this.#disturb();
  }

  async #bootAgain(seat: Seat, process: Process): Promise<void> {
    await process.death;
    Object.assign(seat, { process: null, replica: null, startedAtMs: null });
    await this.clock.sleep(process.downMs ?? bootAgainMs);
    this.#boot(seat);
  }

  #stop(seat: Seat, downMs: number): void {
    const { process, replica } = seat;
    if (process === null || replica === null) return;
    process.downMs = downMs;
    seat.replica = null;
    const ended = (how: string) => (): void => {
      if (!process.isDead) this.trace(`${process.name} ${how}`);
      process.kill();
    };
    replica.stop(drainMs).then(ended("stopped"), ended("stopped with an error"));
    const kill = async (): Promise<void> => {
      await this.clock.sleep(killedAfterMs);
      process.kill();
    };
    void kill();
  }

  async #run(
    { check, slug }: CheckTarget,
    clock: Clock,
    { signal, chance }: { readonly signal: AbortSignal; readonly chance: Chance },
  ): Promise<CheckReport> {
    const startedAtMs = clock.nowMs();
    const isSlow = this.clock.monotonicMs() < this.#slowUntilMs;
    await clock.sleep(isSlow ? slowMs : chance.between(usualMs.least, usualMs.most), signal);
    const base = { check, slug, startedAtMs, finishedAtMs: clock.nowMs() };
    if (signal.aborted)
      return { ...base, kind: "error", severity: "unknown", error: { reason: "timeout", message: "late" } };
    const severity = chance.pick(severities);
    const counts = { currentCount: 3, baselineCount: 70, expectedCount: 10, ratio: 0.3 };
    const result = spikeResult(slug, { severity });
    return { ...base, kind: "result", severity, result, counts, baselineCoverage: null };
  }

  #happen(incident: ReplicaIncident): void {
    this.counts[incident.kind] = (this.counts[incident.kind] ?? 0) + 1;
    this.trace(`incident ${JSON.stringify(incident)}`);
    const nowMs = this.clock.monotonicMs();
    const seat = "replica" in incident ? this.seats[incident.replica] : undefined;
    switch (incident.kind) {
      case "kill":
        if (seat?.process !== undefined && seat.process !== null) {
          seat.process.downMs = incident.downMs;
          seat.process.kill();
        }
        return;
      case "stop":
        if (seat !== undefined) this.#stop(seat, incident.downMs);
        return;
      case "suspend":
        return seat?.process?.suspend(incident.forMs);
      case "ambush":
        if (seat?.process !== undefined && seat.process !== null) seat.process.ambush = incident.ambush;
        return;
      case "slow":
        return seat?.process?.slow(incident.forMs);
      case "restart-database":
        this.#databaseUpAtMs = nowMs + incident.forMs;
        this.databaseFaultAtMs = this.clock.nowMs() + incident.forMs;
        this.#disturb(this.databaseFaultAtMs);
        return this.server.endSessions();
      case "slow-checks":
        this.#slowUntilMs = nowMs + incident.forMs;
        return this.#disturb(this.clock.nowMs() + incident.forMs + slowMs);
      case "ask": {
        const { replica = null, name = "" } = seat ?? {};
        const asked = replica?.runNow(incident.slug);
        void asked?.then(
          ({ severity }) => this.trace(`${name} answers ${incident.slug} ${severity}`),
          (error: unknown) => this.trace(`${name} does not answer ${incident.slug}: ${String(error)}`),
        );
      }
    }
  }

  #disturb(untilMs = this.clock.nowMs()): void {
    this.#calmSinceMs = Math.max(this.#calmSinceMs, untilMs);
  }

  #calm(): void {
    this.trace("faults end");
    for (const { process } of this.seats) if (process !== null) process.ambush = null;
  }
}

export interface SimulatedReplicas {
  readonly hash: string;
  readonly violations: readonly string[];
  readonly script: readonly ReplicaIncident[];
  readonly incidents: Readonly<Record<string, number>>;
  readonly virtualHours: number;
  readonly runs: number;
  /** States on boards that were compared with what was committed. */
  readonly compared: number;
  /** Statements that had to wait for a row. */
  readonly waits: number;
}

/** Lives through one seed with several replicas, under the oracle's eyes. */
export async function simulateReplicas(
  options: ReplicaWorldOptions & { readonly stopsAtFirst?: boolean },
): Promise<SimulatedReplicas> {
  const world = new ReplicaWorld(options);
  const { oracle } = world;
  await world.run(() => options.stopsAtFirst === true && oracle.violations.length > 0);
  return {
    hash: world.hash(),
    violations: oracle.violations,
    script: world.script,
    incidents: world.counts,
    virtualHours: (options.forMs + quietMs) / hourMs,
    runs: oracle.recorded,
    compared: oracle.compared,
    waits: world.server.waits,
  };
}
