import { createHash } from "node:crypto";
import { join } from "node:path";

import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";
import { loadCheckedConfig } from "../../src/commands/config-check.ts";
import type { Config } from "../../src/config/config.ts";
import type { JournalRun } from "../../src/store/runs/journal-row.ts";
import { makeProgramFolder, type ProgramFolder } from "../support/program/program-folder.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";
import { createChance, type Chance } from "./chance.ts";
import { createLife, token, type Answer, type Life } from "./life.ts";
import type { FarSide } from "./network.ts";
import { scriptSpikes, SimulatedPlatform } from "./platform.ts";
import { SimulatedReceiver } from "./receiver.ts";
import { writeScript, type Incident } from "./script.ts";

export const apiKey = "platform-key-that-nobody-may-see";
export const signingSecret = `whsec_${Buffer.from("signing-secret-that-nobody-may-see").toString("base64")}`;
export const slugs = Array.from({ length: 20 }, (_, index) => `org-${String(index + 1).padStart(2, "0")}`) as [
  string,
  ...string[],
];
const receiverNames = ["ops", "pager", "lead"] as const;
const startMs = Date.UTC(2026, 9, 24, 0);
/** Faults end so long before the end of the simulation, and spikes six hours: what waited has to arrive. */
export const quietMs = 8 * hourMs;

export interface WorldOptions {
  readonly seed: number;
  /** With faults; a quiet time follows. */
  readonly days: number;
  /** In place of what the seed writes. */
  readonly script?: readonly Incident[];
  readonly onTrace?: (line: string) => unknown;
}

/** What an observer from outside sees of the world, in order. */
export interface Observer {
  runs(runs: readonly (JournalRun & { readonly slug: string })[]): void;
  configured(config: Config): void;
  acknowledged(alertId: string): void;
  silenced(slug: string, fromMs: number, untilMs: number): void;
  silencesEnded(): void;
  sent(text: string): void;
  logged(line: string): void;
  /** A minute has passed, and what was due in it is done. */
  minute(): Promise<void>;
}

/** The daemon's surroundings for one seed. */
export class World {
  readonly clock: VirtualClock = createVirtualClock({ startMs, settleTurns: 3 });
  readonly platform: SimulatedPlatform;
  readonly receivers: ReadonlyMap<string, SimulatedReceiver>;
  readonly script: readonly Incident[];
  readonly counts: Record<string, number> = {};
  life: Life | null = null;
  /** Since when a process runs without a break; null: none does. */
  upSinceMs: number | null = null;
  observer: Observer | null = null;
  readonly #options: WorldOptions;
  readonly #chance: Chance;
  readonly #farSides: ReadonlyMap<string, FarSide>;
  readonly #later: { atMs: number; act: () => unknown }[] = [];
  readonly #hash = createHash("sha256");
  readonly #folder: ProgramFolder;
  readonly #configurations: readonly Config[];
  readonly #checks = new Map<number, string>();
  #config: Config;
  #ids = 0;
  /** How long it is down when it dies next. */
  #downMs = 1_000;

  private constructor(options: WorldOptions, folder: ProgramFolder, configurations: readonly [Config, ...Config[]]) {
    const chance = createChance(options.seed);
    const { clock } = this;
    const endMs = startMs + options.days * dayMs + quietMs;
    const spikes = new Map(
      slugs.map((slug) => [slug, scriptSpikes(chance.of(`spikes ${slug}`), startMs, endMs - 6 * hourMs)]),
    );
    this.#options = options;
    this.#chance = chance;
    this.#folder = folder;
    this.#configurations = configurations;
    this.#config = configurations[0];
    this.platform = new SimulatedPlatform({ clock, chance: chance.of("platform"), spikes });
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
    const folder = await makeProgramFolder();
    const [first, ...others] = configurationTexts();
    const configurations: [Config, ...Config[]] = [await load(folder, first)];
    for (const text of others) configurations.push(await load(folder, text));
    return new World(options, folder, configurations);
  }

  get config(): Config {
    return this.#config;
  }

  /** Lives through the script and the quiet time after it. */
  async run(): Promise<void> {
    for (const incident of this.script) this.#at(incident.atMs, () => this.#happen(incident));
    await this.#boot();
    const endMs = this.#options.days * dayMs + quietMs;
    this.#at(this.#options.days * dayMs, () => this.#calm());
    for (let minute = minuteMs; minute <= endMs; minute += minuteMs) {
      await this.#advanceTo(minute);
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
    return (await this.life?.ask(request)) ?? { status: 0, body: "" };
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
    });
    this.life = life;
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
    this.upSinceMs = clock.nowMs();
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
    await this.clock.advanceUntil(() => isStopped, minuteMs);
    this.trace("stopped");
    life.kill();
    this.life = null;
    this.upSinceMs = null;
  }

  #committed(runs: readonly JournalRun[]): void {
    const named = runs.map((run) => ({ ...run, slug: this.#slugOf(run.checkId) }));
    for (const { slug, dueAtMs, report } of named) this.trace(`run ${slug} ${dueAtMs} ${report.shape.severity}`);
    this.observer?.runs(named);
  }

  #slugOf(checkId: number): string {
    // Numbers are given in the order of the targets, which are those of the first configuration.
    return this.#checks.get(checkId) ?? slugs[checkId - 1] ?? `check ${checkId}`;
  }

  #calm(): void {
    this.trace("faults end");
    this.platform.fault = null;
    for (const receiver of this.receivers.values()) receiver.fault = null;
    if (this.life !== null)
      Object.assign(this.life.disk.faults, { busy: 0, isFull: false, lostCommits: 0, diesIn: null });
  }

  async #happen(incident: Incident): Promise<void> {
    this.counts[incident.kind] = (this.counts[incident.kind] ?? 0) + 1;
    this.trace(`incident ${JSON.stringify(incident)}`);
    const nowMs = this.clock.monotonicMs();
    switch (incident.kind) {
      case "platform": {
        this.platform.fault = incident.fault;
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
        if (this.life !== null) this.life.disk.faults.lostCommits += incident.commits;
        return;
      case "die":
        this.#downMs = incident.downMs;
        if (this.life !== null) this.life.disk.faults.diesIn = incident.inStatements;
        return;
      case "stop":
        if (this.life === null) return;
        await this.#stop();
        return this.#at(this.clock.monotonicMs() + incident.downMs, () => this.#boot());
      case "suspend":
        if (this.upSinceMs !== null) this.upSinceMs = this.clock.nowMs() + incident.forMs;
        return this.clock.jump(incident.forMs);
      case "set-clock":
        this.clock.shiftWall(incident.byMs);
        if (this.upSinceMs !== null) this.upSinceMs = this.clock.nowMs();
        return;
      case "reload": {
        const next = this.#configurations[incident.configuration];
        if (next === undefined) return;
        this.#config = next;
        if (this.life === null) return;
        void this.#reload(this.life, next);
        return;
      }
      case "silence":
        void this.#silence(incident.slug, incident.forMs);
        return;
      case "end-silences":
        return this.#endSilences();
      case "acknowledge":
        return this.#acknowledge(incident.slug);
      case "run":
        void this.ask({ method: "POST", url: `/api/v1/checks/dead-asset-spike/${incident.slug}/run` });
    }
  }

  async #reload(life: Life, next: Config): Promise<void> {
    const isReloaded = await life.app.reload().then(
      () => true,
      () => false,
    );
    if (isReloaded && !life.isDead()) this.observer?.configured(next);
  }

  async #silence(slug: string, forMs: number): Promise<void> {
    const fromMs = this.clock.nowMs();
    const endsAt = new Date(fromMs + forMs).toISOString();
    const { status } = await this.ask({
      method: "POST",
      url: "/api/v1/silences",
      body: { slug, endsAt, comment: "simulated" },
    });
    if (status === 201) this.observer?.silenced(slug, fromMs, fromMs + forMs);
  }

  async #endSilences(): Promise<void> {
    const { status, body } = await this.ask({ method: "GET", url: "/api/v1/silences" });
    if (status !== 200) return;
    const silences = JSON.parse(body) as readonly { readonly id: string; readonly state: string }[];
    for (const { id } of silences) await this.ask({ method: "DELETE", url: `/api/v1/silences/${id}` });
    this.observer?.silencesEnded();
  }

  async #acknowledge(slug: string): Promise<void> {
    const { status, body } = await this.ask({ method: "GET", url: "/api/v1/alerts" });
    if (status !== 200) return;
    const { alerts } = JSON.parse(body) as {
      readonly alerts: readonly { readonly id: string; readonly slug: string; readonly state: string }[];
    };
    const alert = alerts.find((one) => one.slug === slug && one.state === "firing");
    if (alert === undefined) return;
    const answer = await this.ask({ method: "POST", url: `/api/v1/alerts/${alert.id}/ack`, body: { by: "kim" } });
    // Also when the answer was lost with the process: it may have been stored.
    if (answer.status === 200 || answer.status === 0 || answer.status >= 500) this.observer?.acknowledged(alert.id);
  }
}

/** Minutes between two runs: half of the organizations are checked every five minutes, the others less often. */
export function intervalMinutesOf(index: number): 5 | 15 | 60 {
  return index % 2 === 0 ? 5 : index % 4 === 1 ? 15 : 60;
}

function scheduleOf(index: number): string {
  const minutes = intervalMinutesOf(index);
  return minutes === 60 ? `${index} * * * *` : `*/${minutes} * * * *`;
}

async function started({ app }: Life): Promise<string> {
  try {
    await app.start();
    return "started";
  } catch (error) {
    return `failed: ${String(error)}`;
  }
}

async function load(folder: ProgramFolder, text: string): Promise<Config> {
  await folder.write("flatline.yaml", text);
  return loadCheckedConfig({ path: join(folder.path, "flatline.yaml"), cwd: folder.path, env: {} });
}

/** The first has all organizations; a reload takes one of the others, or it again. */
function configurationTexts(): [string, ...string[]] {
  const all = slugs.map((slug, index) => ({ slug, routes: index % 5 === 4 ? "[lead]" : "[ops, pager]", index }));
  const of = (organizations: typeof all): string => `
source: { type: remote, baseUrl: "https://platform.test/api/v2", apiKey: "${apiKey}", timeout: 20s, concurrency: 8 }
defaults: { alert: { unknownAfter: 3, repeatInterval: 4h } }
organizations:
${organizations
  .map(
    ({ slug, routes, index }) =>
      `  - { slug: ${slug}, schedule: "${scheduleOf(index)}", receivers: ${routes}, alert: { for: ${index % 3 === 0 ? "10m" : "0s"}, keepFiringFor: ${index % 4 === 0 ? "15m" : "0s"} } }`,
  )
  .join("\n")}
receivers:
  - { name: ops, type: webhook, url: "https://ops.test/hook", secret: "${signingSecret}" }
  - { name: pager, type: webhook, url: "https://pager.test/hook", minSeverity: fail }
  - { name: lead, type: webhook, url: "https://lead.test/hook" }
server: { listen: "127.0.0.1:9640", token: "${token}" }
storage: { path: flatline.db }
`;
  return [
    of(all),
    of(all.filter(({ index }) => index !== 3)),
    of(all.filter(({ index }) => index % 7 !== 5)),
    of(all.map((one) => (one.index === 1 ? { ...one, routes: "[ops, pager, lead]" } : one))),
  ];
}
