import { createHash } from "node:crypto";
import { join } from "node:path";

import { dayMs, eventLoopTurn, hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import { actor } from "../../src/contract/actor.ts";
import type { Config } from "../../src/config/config.ts";
import { makeProgramFolder, type ProgramFolder } from "../support/program/program-folder.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";
import { createChance, type Chance } from "./chance.ts";
import { loadConfigurations, receiverNames, slugs, type SourceKind } from "./fleet.ts";
import type { StoredRun } from "./disk.ts";
import { createLife, type Answer, type Life } from "./life.ts";
import type { FarSide } from "./network.ts";
import { People, type PeopleObserver } from "./people.ts";
import { interrupt, scriptSpikes, scriptTogether, SimulatedPlatform, type Spike } from "./platform.ts";
import { SimulatedReceiver } from "./receiver.ts";
import { writeScript, type Incident } from "./script.ts";
import { EventStream, writeEvents, type Batch } from "./stream.ts";

const startMs = Date.UTC(2026, 9, 24, 0);
/** Faults end so long before the end of the simulation, and spikes half an hour later: what waited has to arrive. */
export const quietMs = 8 * hourMs;

export interface WorldOptions {
  readonly seed: number;
  /** With faults; a quiet time follows. */
  readonly days: number;
  /** In place of what the seed writes. */
  readonly script?: readonly Incident[];
  readonly onTrace?: (line: string) => unknown;
}

export type NamedRun = StoredRun & { readonly slug: string };

const closingTurns = 8;
const notConnected: Answer = { status: -1, body: "" };

/** What an observer from outside sees of the world, in order. */
export interface Observer extends PeopleObserver {
  runs(runs: readonly NamedRun[]): void;
  configured(config: Config): void;
  /** A reload to this configuration was taken back. */
  notConfigured(next: Config): Promise<void>;
  /** Events are on their way, or are known to be stored. */
  streamed(batch: Batch, state: "sent" | "taken"): void;
  sent(text: string): void;
  logged(line: string): void;
  /** A minute has passed, and what was due in it is done. */
  minute(): Promise<void>;
}

/** The daemon's surroundings for one seed. */
export class World {
  readonly clock: VirtualClock = createVirtualClock({
    startMs,
    settleTurns: "asked",
    isHeld: () => this.life?.disk.isTriedAgain() === true,
  });
  readonly platform: SimulatedPlatform;
  readonly receivers: ReadonlyMap<string, SimulatedReceiver>;
  readonly script: readonly Incident[];
  readonly counts: Record<string, number> = {};
  readonly source: SourceKind;
  /** By organization; what the platform answers, or what is sent of the dead, follows from them. */
  readonly spikes: ReadonlyMap<string, readonly Spike[]>;
  life: Life | null = null;
  /** Since when, by the monotonic clock, a process runs without a break; null: none does. */
  upSinceMs: number | null = null;
  /** When the disk refused something, by the monotonic clock: one a second at most. */
  readonly diskFailuresMs: number[] = [];
  /** Until when, by the monotonic clock, the platform did not answer as it should. */
  platformFailedAtMs = -Infinity;
  /** When the process was started, by the monotonic clock. */
  bootedAtMs: number | null = null;
  observer: Observer | null = null;
  readonly #options: WorldOptions;
  readonly #chance: Chance;
  readonly #farSides: ReadonlyMap<string, FarSide>;
  readonly #later: { atMs: number; act: () => unknown }[] = [];
  readonly #hash = createHash("sha256");
  readonly #folder: ProgramFolder;
  readonly #configurations: readonly Config[];
  readonly #people: People;
  readonly #stream: EventStream | null;
  #config: Config;
  #ids = 0;
  /** Reloads of this life that are under way. */
  #reloads = 0;
  /** The process has taken the configuration up as a whole. */
  #isConfigured = false;
  /** When the wall clock was set, by the monotonic clock. */
  readonly #clockSets: { readonly atMs: number; readonly byMs: number }[] = [];
  /** How long it is down when it dies next. */
  #downMs = 1_000;

  private constructor(
    options: WorldOptions,
    source: SourceKind,
    folder: ProgramFolder,
    configurations: readonly [Config, ...Config[]],
  ) {
    const chance = createChance(options.seed);
    const { clock } = this;
    const endMs = startMs + options.days * dayMs + quietMs;
    // Windows of six hours end with time left to be notified of it, also of a verdict that ends with the last of them.
    const endOfSpikesMs = endMs - 7.5 * hourMs;
    const together = scriptTogether(chance.of("spikes together"), slugs, startMs, endOfSpikesMs);
    this.spikes = new Map(
      slugs.map((slug) => {
        const own = scriptSpikes(chance.of(`spikes ${slug}`), startMs, endOfSpikesMs);
        return [slug, interrupt(own, together.get(slug) ?? [])];
      }),
    );
    this.source = source;
    this.#options = options;
    this.#chance = chance;
    this.#folder = folder;
    this.#configurations = configurations;
    this.#config = configurations[0];
    this.#people = new People({
      ask: (request) => this.ask(request),
      nowMs: () => clock.nowMs(),
      observer: () => this.observer,
    });
    this.platform = new SimulatedPlatform({ clock, chance: chance.of("platform"), spikes: this.spikes });
    const events = { chance: chance.of("events"), startMs, endMs, spikes: this.spikes };
    this.#stream =
      source === "remote"
        ? null
        : new EventStream({
            events: writeEvents(events),
            chance: chance.of("stream"),
            clock,
            folder: folder.path,
            onBatch: (batch, state) => {
              this.trace(`${batch.way} of ${batch.events.length} events ${state}`);
              this.observer?.streamed(batch, state);
            },
          });
    this.receivers = new Map(
      receiverNames.map((name) => [
        name,
        new SimulatedReceiver(name, { clock, chance: chance.of(`receiver ${name}`) }),
      ]),
    );
    this.#farSides = new Map<string, FarSide>([
      ["https://platform.test", this.platform],
      ...[...this.receivers].map(([name, receiver]) => [`https://${name}.test`, receiver] as const),
    ]);
    this.script =
      options.script ??
      writeScript({
        chance: chance.of("script"),
        days: options.days,
        slugs,
        receivers: receiverNames,
        configurations: configurations.length,
      });
  }

  static async create(options: WorldOptions): Promise<World> {
    const source = options.seed % 2 === 1 ? "remote" : "embedded";
    const folder = await makeProgramFolder();
    return new World(options, source, folder, await loadConfigurations(folder, source));
  }

  get storePath(): string {
    return join(this.#folder.path, this.#config.storage.path);
  }

  /**
   * The monotonic times at which the wall clock said this: several after it was set back, none where it jumped over it.
   */
  get diskFailedAtMs(): number {
    return this.diskFailuresMs.at(-1) ?? -Infinity;
  }

  /** When the wall clock was set last, by the monotonic clock. */
  get clockSetAtMs(): number {
    return this.#clockSets.at(-1)?.atMs ?? -Infinity;
  }

  /** When, by the monotonic clock, the wall clock said this: more than once after it was set back, never where it was set over. */
  monotonicOf(wallMs: number): number[] {
    const found: number[] = [];
    let fromMs = -Infinity;
    let setMs = 0;
    for (const { atMs, byMs } of [...this.#clockSets, { atMs: Infinity, byMs: 0 }]) {
      const monotonicMs = wallMs - startMs - setMs;
      if (fromMs <= monotonicMs && monotonicMs <= atMs) found.push(monotonicMs);
      fromMs = atMs;
      setMs += byMs;
    }
    return found;
  }

  /** A configuration is being applied. */
  get isReloading(): boolean {
    return this.#reloads > 0;
  }

  /** Lives through the script and the quiet time after it, or until `isOver`. */
  async run(isOver: () => boolean = () => false): Promise<void> {
    for (const incident of this.script) this.#at(incident.atMs, () => this.#happen(incident));
    await this.#stream?.begin(startMs);
    await this.#boot();
    const endMs = this.#options.days * dayMs + quietMs;
    this.#at(this.#options.days * dayMs, () => this.#calm());
    for (let minute = minuteMs; minute <= endMs && !isOver(); minute += minuteMs) {
      await this.#advanceTo(minute);
      // The minutes of a suspension pass together.
      if (this.clock.monotonicMs() >= minute + minuteMs) continue;
      await this.#stream?.send(startMs + minute, (request) => this.ask(request));
      await this.observer?.minute();
    }
    await this.#stop();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Ends what is traced: the hash of all of it. */
  hash(): string {
    return this.#hash.digest("hex");
  }

  trace(line: string): void {
    const at = new Date(this.clock.nowMs()).toISOString();
    // Where the store is differs from life to life.
    const text = `${at} ${line}`.replaceAll(this.#folder.path, "FOLDER");
    this.#hash.update(text);
    this.#options.onTrace?.(text);
  }

  async ask(request: Parameters<Life["ask"]>[0]): Promise<Answer> {
    return (await this.life?.ask(request)) ?? notConnected;
  }

  #at(atMs: number, act: () => unknown): void {
    const index = this.#later.findIndex((one) => one.atMs > atMs);
    this.#later.splice(index < 0 ? this.#later.length : index, 0, { atMs, act });
  }

  async #advanceTo(monotonicMs: number): Promise<void> {
    for (;;) {
      const next = this.#later[0];
      if (next === undefined || next.atMs > monotonicMs) break;
      this.#later.shift();
      await this.clock.advance(Math.max(0, next.atMs - this.clock.monotonicMs()));
      await next.act();
      await this.clock.settle();
    }
    await this.clock.advance(Math.max(0, monotonicMs - this.clock.monotonicMs()));
  }

  async #boot(): Promise<void> {
    if (this.life !== null) return;
    const { clock } = this;
    const random = this.#chance.of(`life ${clock.monotonicMs()}`);
    const life = createLife({
      config: this.#config,
      cwd: this.#folder.path,
      clock,
      random: () => random.next(),
      newId: () => `00000000-0000-4000-8000-${String(++this.#ids).padStart(12, "0")}`,
      farSides: this.#farSides,
      readConfig: async () => this.#config,
      onSent: (text) => this.observer?.sent(text),
      onCommit: (runs) => this.#committed(runs),
      onLog: (line) => {
        this.observer?.logged(line);
        this.trace(`log ${line}`);
      },
      onDeath: () => this.#died(),
      onDiskFailure: () => {
        if (clock.monotonicMs() - this.diskFailedAtMs >= secondMs) this.diskFailuresMs.push(clock.monotonicMs());
      },
    });
    this.life = life;
    this.#reloads = 0;
    this.#isConfigured = false;
    this.trace("boot");
    let outcome: string | null = null;
    void started(life).then((found) => (outcome = found));
    await clock.settleUntil(() => outcome !== null || life.isDead());
    this.trace(outcome ?? "died while it started");
    if (life.isDead()) return;
    if (outcome !== "started") {
      // As a supervisor does.
      this.life = null;
      life.kill();
      return this.#at(clock.monotonicMs() + minuteMs, () => this.#boot());
    }
    this.upSinceMs = clock.monotonicMs();
    this.bootedAtMs = this.upSinceMs;
    this.#isConfigured = true;
    this.observer?.configured(this.#config);
  }

  #died(): void {
    this.trace("died");
    this.life = null;
    this.upSinceMs = null;
    this.#at(this.clock.monotonicMs() + this.#downMs, () => this.#boot());
  }

  async #stop(): Promise<void> {
    const { life } = this;
    if (life === null) return;
    let isStopped = false;
    void life.app.stop().then(() => (isStopped = true));
    const hasStopped = async (): Promise<boolean> => {
      // A server that closes takes some turns of the event loop, and no virtual time.
      for (let turn = 0; turn < closingTurns; turn++) await eventLoopTurn();
      return isStopped || life.isDead();
    };
    await this.clock.advanceUntil(hasStopped, minuteMs);
    // Amid the stop; it is started again.
    if (life.isDead()) return;
    this.trace("stopped");
    life.kill();
    this.life = null;
    this.upSinceMs = null;
  }

  #committed(runs: readonly StoredRun[]): void {
    const named = runs.map((run) => ({ ...run, slug: this.#slugOf(run.checkId) }));
    for (const { slug, dueAtMs, report } of named) this.trace(`run ${slug} ${dueAtMs} ${report.severity}`);
    this.observer?.runs(named);
  }

  #slugOf(checkId: number): string {
    // Numbers are given in the order of the targets, which are those of the first configuration.
    return slugs[checkId - 1] ?? `check ${checkId}`;
  }

  #calm(): void {
    this.trace("faults end");
    this.platform.fault = null;
    for (const receiver of this.receivers.values()) receiver.fault = null;
    if (this.life !== null)
      Object.assign(this.life.disk.faults, { busy: 0, isFull: false, lostCommits: 0, diesIn: null, diesBefore: null });
  }

  async #happen(incident: Incident): Promise<void> {
    this.counts[incident.kind] = (this.counts[incident.kind] ?? 0) + 1;
    this.trace(`incident ${JSON.stringify(incident)}`);
    const nowMs = this.clock.monotonicMs();
    switch (incident.kind) {
      case "platform": {
        this.platform.fault = incident.fault;
        this.platformFailedAtMs = Math.max(this.platformFailedAtMs, nowMs + incident.forMs);
        return this.#at(nowMs + incident.forMs, () => (this.platform.fault = null));
      }
      case "receiver": {
        const receiver = this.receivers.get(incident.name);
        if (receiver === undefined) return;
        receiver.fault = incident.fault;
        return this.#at(nowMs + incident.forMs, () => (receiver.fault = null));
      }
      case "busy":
        if (this.life !== null) this.life.disk.faults.busy += incident.statements;
        return;
      case "full": {
        const { life } = this;
        if (life === null) return;
        life.disk.faults.isFull = true;
        return this.#at(nowMs + incident.forMs, () => (life.disk.faults.isFull = false));
      }
      case "lost-commits":
        if (this.life !== null)
          Object.assign(this.life.disk.faults, { lostCommits: incident.commits, lostOf: incident.of });
        return;
      case "die":
        this.#downMs = incident.downMs;
        if (this.life !== null) this.life.disk.faults.diesIn = incident.inStatements;
        return;
      case "die-before":
        this.#downMs = incident.downMs;
        if (this.life !== null) this.life.disk.faults.diesBefore = incident.target;
        return;
      case "stop":
        if (this.life === null) return;
        await this.#stop();
        return this.#at(this.clock.monotonicMs() + incident.downMs, () => this.#boot());
      case "suspend":
        if (this.upSinceMs !== null) this.upSinceMs = nowMs + incident.forMs;
        return this.clock.jump(incident.forMs);
      case "set-clock":
        this.clock.shiftWall(incident.byMs);
        this.#clockSets.push({ atMs: nowMs, byMs: incident.byMs });
        return;
      case "reload": {
        const next = this.#configurations[incident.configuration];
        return next === undefined ? undefined : this.#configure(next);
      }
      case "silence":
        return void this.#people.silence(incident.slug, incident.forMs);
      case "change-silence":
        return this.#people.changeSilence(incident.forMs);
      case "end-silences":
        return this.#people.endSilences();
      case "act":
        return this.#people.act(incident.acts);
      case "run":
        void this.ask({ method: "POST", url: `/api/v1/checks/dead-asset-spike/${incident.slug}/run` });
    }
  }

  #configure(next: Config): void {
    // The process died during a reload or its start: what that removes may be gone or not until a process has started.
    if (this.life === null && !this.#isConfigured)
      return this.#at(this.clock.monotonicMs() + minuteMs, () => this.#configure(next));
    this.#config = next;
    if (this.life !== null) void this.#reload(this.life, next);
  }

  async #reload(life: Life, next: Config): Promise<void> {
    this.#reloads++;
    this.#isConfigured = false;
    const isReloaded = await life.app.reload(actor("signal", "config")).then(
      () => true,
      () => false,
    );
    if (life.isDead()) return;
    this.#reloads--;
    this.#isConfigured = this.#reloads === 0;
    if (isReloaded) this.observer?.configured(next);
    else await this.observer?.notConfigured(next);
  }
}

async function started({ app }: Life): Promise<string> {
  try {
    await app.start();
    return "started";
  } catch (error) {
    return `failed: ${String(error)}`;
  }
}
