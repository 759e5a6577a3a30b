import type { Config } from "../../../src/config/config.ts";
import { apiKey, danaToken, signingSecret, slugs, token } from "../fleet.ts";
import type { Answer } from "../life.ts";
import type { Outcome, Saying, SeenIncident } from "../people.ts";
import type { Batch } from "../stream.ts";
import type { NamedRun, Observer, World } from "../world.ts";
import { ActOracle } from "./acts.ts";
import { BoundOracle } from "./bounds.ts";
import { Episodes, type ChangedAlert, type PeakedAlert } from "./episodes.ts";
import { EvaluationOracle } from "./evaluations.ts";
import { Facts } from "./facts.ts";
import { GateOracle } from "./gate.ts";
import { IncidentOracle } from "./incidents.ts";
import { NotificationOracle } from "./notifications.ts";
import { ScheduleOracle } from "./schedule.ts";

/**
 * The second opinion: what the contract promises, worked out slowly from what was recorded and done, and held against
 * what receivers, the API and the metrics say. It knows nothing of how the daemon does it.
 */
export class Oracle implements Observer {
  /** Runs, as they became durable. */
  recorded = 0;
  readonly gate: GateOracle;
  readonly #acts: ActOracle;
  readonly #facts: Facts;
  readonly #schedule: ScheduleOracle;
  readonly #evaluations: EvaluationOracle;
  readonly #episodes: Episodes;
  readonly #notifications: NotificationOracle;
  readonly #bounds: BoundOracle;
  readonly #incidents: IncidentOracle;
  /** Organizations that a reload removes which was taken back: what it stored of that before may hold. */
  readonly #doubtful = new Set<string>();
  #counters = new Map<string, number>();
  #bootedAtMs: number | null = null;
  #minutes = 0;

  constructor(world: World) {
    this.#facts = new Facts(world);
    this.#schedule = new ScheduleOracle(this.#facts);
    this.#evaluations = new EvaluationOracle(this.#facts);
    this.gate = new GateOracle(this.#facts, () => this.#episodes);
    this.#episodes = new Episodes(this.#facts, {
      onFail: (episode) => {
        this.gate.failed(episode);
        this.#incidents.failed(episode);
      },
    });
    const parts = { episodes: this.#episodes, gate: this.gate };
    this.#incidents = new IncidentOracle(this.#facts, { ...parts, acts: () => this.#acts });
    this.#acts = new ActOracle(this.#facts, { ...parts, incidents: this.#incidents });
    this.#notifications = new NotificationOracle(this.#facts, {
      ...parts,
      acts: this.#acts,
      incidents: this.#incidents,
    });
    this.#bounds = new BoundOracle(this.#facts, this.#episodes, world.storePath);
  }

  get violations(): readonly string[] {
    return this.#facts.violations;
  }

  configured(config: Config): void {
    this.#doubtful.clear();
    const before = [...this.#facts.organizations.keys()];
    this.#facts.configured(config);
    for (const slug of before) if (!this.#facts.organizations.has(slug)) this.#episodes.remove(slug);
    this.#episodes.configured();
    this.#schedule.configured();
    this.#notifications.configured();
    // The series of an organization that comes back begin anew.
    this.#counters.clear();
  }

  get happened(): number {
    return this.#facts.happened;
  }

  async notConfigured(next: Config): Promise<void> {
    this.#facts.happened++;
    this.#episodes.notConfigured();
    const kept = new Set(next.organizations.map(({ slug }) => slug));
    for (const slug of this.#facts.organizations.keys()) if (!kept.has(slug)) this.#doubtful.add(slug);
    await this.#settleDoubts();
  }

  runs(runs: readonly NamedRun[]): void {
    for (const run of runs) {
      this.recorded++;
      this.#facts.happened++;
      this.#schedule.run(run);
      this.#evaluations.run(run);
      this.#episodes.run(run);
    }
  }

  streamed(batch: Batch, state: "sent" | "taken"): void {
    this.#evaluations.streamed(batch, state);
    this.#bounds.streamed(batch, state);
    this.#schedule.streamed(batch, state);
  }

  looked(incident: SeenIncident): void {
    this.#incidents.looked(incident);
  }

  saying(saying: Saying): void {
    this.#facts.happened++;
    this.#acts.saying(saying);
    this.gate.saying(saying);
    this.#incidents.saying(saying);
    this.#bounds.saying(saying);
  }

  said(saying: Saying, outcome: Outcome): void {
    this.#facts.happened++;
    this.#acts.said(saying, outcome);
    this.gate.said(saying, outcome);
    this.#notifications.said(saying, outcome);
  }

  foreseen({ act, incident, by }: Saying, foreseen: Answer, then: Answer): void {
    const isAnswered = [foreseen, then].every(({ status }) => status > 0 && status < 500);
    if (isAnswered && (foreseen.status !== then.status || foreseen.body !== then.body))
      this.#facts.violate(
        `${by}'s ${act} of incident ${incident} was foreseen as ${foreseen.body}, and is ${then.body}`,
      );
  }

  silenced(silence: { readonly id: string | null; readonly slug: string }, fromMs: number, untilMs: number): void {
    this.#notifications.silenced(silence, fromMs, untilMs);
  }

  silenceChanged(id: string, untilMs: number, isDone: boolean | null): void {
    this.#notifications.silenceChanged(id, untilMs, isDone);
  }

  silencesEnded(): void {
    this.#notifications.silencesEnded();
  }

  sent(text: string): void {
    this.#noSecret("sent", text);
  }

  logged(line: string): void {
    this.#noSecret("logged", line);
    const changed = /^info alert changed (\{.*\})$/.exec(line)?.[1];
    if (changed !== undefined) this.#episodes.changed(JSON.parse(changed) as ChangedAlert);
  }

  async minute(): Promise<void> {
    await this.#settleDoubts();
    this.#notifications.minute();
    this.#schedule.minute();
    this.#bounds.minute(this.recorded);
    const minute = this.#minutes++;
    if (minute % 5 === 0) await this.gate.ask(slugs[(minute / 5) % slugs.length] ?? slugs[0]);
    if (minute % 10 === 0) await this.#checkAlerts();
    if (minute % 60 === 0) await this.#checkCounters();
  }

  /** To be called when faults have ended long enough ago for everything to have arrived. */
  finish(): void {
    this.#notifications.finish();
    this.#bounds.finish();
  }

  /** Where the store refused the end of a reload, the alerts that it should end are over or not: the list says. */
  async #settleDoubts(): Promise<void> {
    const { world } = this.#facts;
    if (this.#doubtful.size === 0 || world.upSinceMs === null) return;
    const { status, body } = await world.ask({ method: "GET", url: "/api/v1/alerts" });
    if (status !== 200) return;
    const { alerts } = JSON.parse(body) as { readonly alerts: readonly { readonly slug: string }[] };
    for (const slug of this.#doubtful) {
      if (alerts.some((alert) => alert.slug === slug)) continue;
      this.#episodes.remove(slug);
      this.#schedule.removed(slug);
    }
    this.#doubtful.clear();
  }

  async #noteFleets(): Promise<void> {
    const { status, body } = await this.#facts.world.ask({ method: "GET", url: "/api/v1/incidents?limit=200" });
    if (status !== 200) return;
    const { incidents } = JSON.parse(body) as {
      readonly incidents: readonly { readonly fleet: { readonly startsAt: string } | null }[];
    };
    for (const { fleet } of incidents) if (fleet !== null) this.#notifications.noteFleet(Date.parse(fleet.startsAt));
  }

  async #checkAlerts(): Promise<void> {
    const { world } = this.#facts;
    if (world.upSinceMs === null || world.isReloading) return;
    await this.#incidents.ask();
    await this.#acts.ask();
    const before = this.#facts.happened;
    const { status, body } = await world.ask({ method: "GET", url: "/api/v1/alerts" });
    if (status !== 200) return;
    this.#noSecret("answered", body);
    const { alerts } = JSON.parse(body) as { readonly alerts: readonly PeakedAlert[] };
    await this.#noteFleets();
    // What was recorded while it answered may be in the answer, or not.
    if (before !== this.#facts.happened) return;
    this.#acts.compare(alerts);
    this.#incidents.compare(alerts);
    this.#episodes.compare(alerts);
  }

  async #checkCounters(): Promise<void> {
    const { world } = this.#facts;
    const { status, body } = await world.ask({ method: "GET", url: "/metrics" });
    if (status !== 200) return;
    this.#noSecret("exposed", body);
    const isSameLife = this.#bootedAtMs === world.bootedAtMs;
    this.#bootedAtMs = world.bootedAtMs;
    const counters = new Map<string, number>();
    for (const line of body.split("\n")) {
      const [series = "", value = ""] = line.split(/ (?=[^ ]*$)/);
      if (/^\w+_total\b/.test(series)) counters.set(series, Number(value));
    }
    for (const [series, value] of counters)
      if (isSameLife && value < (this.#counters.get(series) ?? 0))
        this.#facts.violate(`${series} went back to ${value}`);
    this.#counters = counters;
  }

  #noSecret(how: string, text: string): void {
    for (const secret of [apiKey, token, danaToken, signingSecret])
      if (text.includes(secret)) this.#facts.violate(`a secret was ${how}`);
  }
}
