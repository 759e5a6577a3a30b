import { dayMs, hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import type { Config, OrganizationConfig } from "../../src/config/config.ts";
import type { Severity } from "../../src/contract/severity.ts";
import { apiKey, intervalMinutesOf, signingSecret, slugs, type Observer, type World } from "./world.ts";
import { token } from "./life.ts";
import type { SentAlert } from "./receiver.ts";

/** An alert as it should be, in the plainest form of the rules. */
interface Episode {
  readonly slug: string;
  readonly kind: "verdict" | "unknown";
  readonly startsAtMs: number;
  firedAtMs: number | null;
  endsAtMs: number | null;
  /** Severities that it had while it fired, one after the other. */
  readonly severities: Severity[];
  okSinceMs: number | null;
  failures: number;
  /** Its organization left the configuration while it lived, or a little later. */
  isRemoved: boolean;
}

interface Silence {
  readonly slug: string;
  readonly fromMs: number;
  untilMs: number;
}

// groupWait, groupInterval and the time in which a loop looks again.
const formingMs = 5 * minuteMs;
const legalAfter: Readonly<Record<string, readonly string[]>> = {
  "": ["firing", "unknown"],
  firing: ["escalated", "deescalated", "reminder", "firing", "resolved"],
  escalated: ["escalated", "deescalated", "reminder", "firing", "resolved"],
  deescalated: ["escalated", "deescalated", "reminder", "firing", "resolved"],
  reminder: ["escalated", "deescalated", "reminder", "firing", "resolved", "recovered", "unknown"],
  unknown: ["reminder", "unknown", "recovered"],
};

/**
 * The second opinion: what the contract promises, worked out slowly from what was recorded and done, and held against what
 * receivers, the API and the metrics say. It knows nothing of how the daemon does it.
 */
export class Oracle implements Observer {
  readonly violations: string[] = [];
  /** Runs, as they became durable. */
  recorded = 0;
  readonly #world: World;
  readonly #episodes: Episode[] = [];
  readonly #live = new Map<string, Episode>();
  readonly #silences: Silence[] = [];
  readonly #acknowledged = new Set<string>();
  /** Of scheduled runs: `slug due`. */
  readonly #ran = new Set<string>();
  readonly #lastDue = new Map<string, number>();
  /** Routes that an organization had at any time. */
  readonly #routes = new Map<string, Set<string>>();
  /** How many notifications of each receiver were looked at. */
  readonly #seen = new Map<string, number>();
  readonly #lastEvent = new Map<string, SentAlert>();
  #organizations = new Map<string, OrganizationConfig>();
  #counters = new Map<string, number>();
  /** When a fleet verdict held, seen every ten minutes. */
  readonly #fleets: { readonly fromMs: number; untilMs: number }[] = [];
  #bootedAtMs: number | null = null;

  constructor(world: World) {
    this.#world = world;
  }

  configured({ organizations }: Config): void {
    const nowMs = this.#world.clock.nowMs();
    const next = new Map(organizations.map((one) => [one.slug, one]));
    for (const slug of this.#organizations.keys()) if (!next.has(slug)) this.#remove(slug, nowMs);
    for (const { slug, receivers } of organizations) {
      const routes = this.#routes.get(slug) ?? new Set();
      for (const { name } of receivers) routes.add(name);
      this.#routes.set(slug, routes);
    }
    this.#organizations = next;
    // The series of an organization that comes back begin anew.
    this.#counters.clear();
  }

  runs(runs: Parameters<Observer["runs"]>[0]): void {
    for (const { slug, dueAtMs, startedAtMs, isAsked, report } of runs) {
      this.recorded++;
      const { severity } = report.shape;
      if (!isAsked) this.#noteDue(slug, dueAtMs);
      // `for` counts between due times, but for a run that comes late by more than a quarter of the interval.
      const latestMs = dueAtMs + (intervalMinutesOf(slugs.indexOf(slug)) * minuteMs) / 4;
      const isOnTime = !isAsked && dueAtMs <= startedAtMs && startedAtMs <= latestMs;
      this.#apply(slug, severity, isOnTime ? dueAtMs : startedAtMs);
    }
  }

  acknowledged(alertId: string): void {
    this.#acknowledged.add(alertId);
  }

  silenced(slug: string, fromMs: number, untilMs: number): void {
    this.#silences.push({ slug, fromMs, untilMs });
  }

  silencesEnded(): void {
    const nowMs = this.#world.clock.nowMs();
    for (const silence of this.#silences) silence.untilMs = Math.min(silence.untilMs, nowMs);
  }

  sent(text: string): void {
    this.#noSecret("sent", text);
  }

  logged(line: string): void {
    this.#noSecret("logged", line);
  }

  async minute(): Promise<void> {
    this.#checkReceivers();
    const minute = Math.round(this.#world.clock.monotonicMs() / minuteMs);
    if (minute % 10 === 0) await this.#checkAlerts();
    if (minute % 60 === 0) await this.#checkCounters();
  }

  /** To be called when faults have ended long enough ago for everything to have arrived. */
  finish(): void {
    for (const [name, receiver] of this.#world.receivers) {
      const got = Map.groupBy(
        receiver.accepted.flatMap(({ alerts }) => alerts),
        ({ id }) => id,
      );
      const ended = [...got.values()].filter((alerts) => alerts.some(isEnd));
      for (const alerts of got.values()) {
        const [first] = alerts;
        if (first === undefined || alerts.some(isEnd) || receiver.refusedAlerts.has(first.id)) continue;
        const episode = this.#episodeOf(first);
        if (episode === undefined || episode.endsAtMs === null) continue;
        this.#violate(`${name} was never notified of the end of ${first.id} (${first.slug} ${first.kind})`);
      }
      for (const episode of this.#episodes) {
        if (!this.#mustHear(name, episode)) continue;
        const isKnown = ended.some((alerts) => alerts[0] !== undefined && this.#episodeOf(alerts[0]) === episode);
        if (!isKnown && receiver.refusedAlerts.size === 0)
          this.#violate(`${name} was never notified of ${describe(episode)}`);
      }
    }
  }

  // What was recorded.

  #noteDue(slug: string, dueAtMs: number): void {
    const run = `${slug} ${dueAtMs}`;
    // A clock that was set back comes by the same instants again.
    const isClockSet = this.#world.counts["set-clock"] !== undefined;
    if (this.#ran.has(run) && !isClockSet) this.#violate(`the run of ${slug} due at ${iso(dueAtMs)} is recorded twice`);
    this.#ran.add(run);
    const last = this.#lastDue.get(slug);
    this.#lastDue.set(slug, dueAtMs);
    if (last === undefined || dueAtMs <= last || isClockSet) return;
    const { upSinceMs } = this.#world;
    // None is missing while the process was up and the organization configured.
    const isMissing = dueAtMs - last > intervalMinutesOf(slugs.indexOf(slug)) * minuteMs;
    if (isMissing && upSinceMs !== null && upSinceMs < last && this.#configuredSince(slug) < last)
      this.#violate(`runs of ${slug} are missing between ${iso(last)} and ${iso(dueAtMs)}`);
  }

  readonly #since = new Map<string, number>();

  #configuredSince(slug: string): number {
    return this.#since.get(slug) ?? 0;
  }

  // What follows from it.

  #apply(slug: string, severity: Severity, atMs: number): void {
    const organization = this.#organizations.get(slug);
    if (organization === undefined) return;
    const { alert } = organization;
    if (severity === "unknown") {
      const episode = this.#begin(slug, "unknown", atMs);
      episode.failures++;
      if (episode.firedAtMs === null && episode.failures >= alert.unknownAfter) this.#fire(episode, "unknown", atMs);
      return;
    }
    this.#end(slug, "unknown", atMs);
    const live = this.#live.get(`verdict ${slug}`);
    if (severity === "ok") {
      if (live === undefined) return;
      if (live.firedAtMs === null) return void this.#live.delete(`verdict ${slug}`);
      live.okSinceMs = Math.min(live.okSinceMs ?? atMs, atMs);
      if (atMs - live.okSinceMs >= alert.keepFiringForMs) this.#end(slug, "verdict", atMs);
      return;
    }
    const episode = this.#begin(slug, "verdict", atMs);
    episode.okSinceMs = null;
    if (episode.firedAtMs === null && atMs - episode.startsAtMs >= alert.forMs) this.#fire(episode, severity, atMs);
    else if (episode.firedAtMs !== null && episode.severities.at(-1) !== severity) episode.severities.push(severity);
  }

  #begin(slug: string, kind: Episode["kind"], startsAtMs: number): Episode {
    const live = this.#live.get(`${kind} ${slug}`);
    if (live !== undefined) return live;
    const episode: Episode = {
      slug,
      kind,
      startsAtMs,
      firedAtMs: null,
      endsAtMs: null,
      severities: [],
      okSinceMs: null,
      failures: 0,
      isRemoved: false,
    };
    this.#live.set(`${kind} ${slug}`, episode);
    return episode;
  }

  #fire(episode: Episode, severity: Severity, atMs: number): void {
    episode.firedAtMs = atMs;
    episode.severities.push(severity);
    this.#episodes.push(episode);
  }

  #end(slug: string, kind: Episode["kind"], atMs: number): void {
    const live = this.#live.get(`${kind} ${slug}`);
    this.#live.delete(`${kind} ${slug}`);
    if (live !== undefined) live.endsAtMs = Math.max(atMs, live.startsAtMs);
  }

  #remove(slug: string, nowMs: number): void {
    this.#since.set(slug, Infinity);
    for (const kind of ["verdict", "unknown"] as const) {
      const live = this.#live.get(`${kind} ${slug}`);
      if (live !== undefined) live.isRemoved = true;
      this.#end(slug, kind, nowMs);
    }
    for (const episode of this.#episodes)
      if (episode.slug === slug && episode.endsAtMs !== null && nowMs - episode.endsAtMs < hourMs)
        episode.isRemoved = true;
  }

  // What was said.

  #checkReceivers(): void {
    for (const [name, { accepted }] of this.#world.receivers) {
      const from = this.#seen.get(name) ?? 0;
      this.#seen.set(name, accepted.length);
      for (const [index, notification] of accepted.entries()) {
        if (index < from) continue;
        const earlier = accepted.slice(0, index).find(({ id }) => id === notification.id);
        if (earlier !== undefined) {
          if (earlier.text !== notification.text)
            this.#violate(`${name}: ${notification.id} is repeated with other words`);
          continue;
        }
        for (const alert of notification.alerts) this.#checkAlert(name, alert);
      }
    }
  }

  #checkAlert(name: string, alert: SentAlert): void {
    const { id, slug, kind, event, previousSeverity } = alert;
    const key = `${name} ${id}`;
    const before = this.#lastEvent.get(key);
    this.#lastEvent.set(key, alert);
    const legal = legalAfter[before?.event ?? ""] ?? [];
    // What was before may be a dead letter: the receiver refused it.
    const isRefused = this.#world.receivers.get(name)?.refusedAlerts.has(id) === true;
    if (!legal.includes(event) && !isRefused)
      this.#violate(`${name}: ${event} of ${id} (${slug}) after ${before?.event ?? "nothing"}`);
    if (before !== undefined && previousSeverity !== before.severity && !isRefused)
      this.#violate(`${name}: ${id} goes on from ${previousSeverity}, and was ${before.severity}`);
    if (this.#routes.get(slug)?.has(name) !== true) this.#violate(`${name} is not routed to ${slug}`);
    const episode = this.#episodeOf(alert);
    if (episode === undefined)
      return this.#violate(`${name}: ${event} of ${id} (${slug} ${kind}, from ${alert.startsAt}) is no alert`);
    if (isEnd(alert)) {
      if (episode.endsAtMs === null) this.#violate(`${name}: ${id} (${slug}) ended, and it did not`);
      return;
    }
    if (this.#silences.some((one) => this.#isHeldBack(one, slug)))
      this.#violate(`${name}: ${event} of ${slug} in a silence`);
    if (kind === "verdict" && !episode.severities.includes(alert.severity as Severity))
      this.#violate(`${name}: ${id} (${slug}) was never ${alert.severity}`);
  }

  /** What was formed before the silence may still be under way. */
  #isHeldBack({ slug, fromMs, untilMs }: Silence, of: string): boolean {
    const nowMs = this.#world.clock.nowMs();
    return (slug === "*" || slug === of) && fromMs + dayMs < nowMs && nowMs < untilMs;
  }

  #episodeOf({ slug, kind, startsAt }: SentAlert): Episode | undefined {
    const startsAtMs = Date.parse(startsAt);
    return this.#episodes.find(
      (one) => one.slug === slug && one.kind === kind && Math.abs(one.startsAtMs - startsAtMs) <= secondMs,
    );
  }

  #mustHear(name: string, episode: Episode): boolean {
    const { slug, kind, firedAtMs, endsAtMs, severities, isRemoved } = episode;
    if (isRemoved || firedAtMs === null || endsAtMs === null) return false;
    if (!(this.#organizations.get(slug)?.receivers.some((one) => one.name === name) ?? false)) return false;
    if (name === "pager" && (kind === "unknown" || !severities.includes("fail"))) return false;
    // Short ones may end before a group is formed; silenced ones, and what ends within a fleet verdict, are not promised.
    if (endsAtMs - firedAtMs < formingMs) return false;
    if (
      this.#fleets.some(({ fromMs, untilMs }) => fromMs - formingMs < endsAtMs && firedAtMs < untilMs + 2 * formingMs)
    )
      return false;
    return !this.#silences.some(
      (one) => (one.slug === "*" || one.slug === slug) && one.fromMs < endsAtMs + dayMs && one.untilMs > firedAtMs,
    );
  }

  async #checkAlerts(): Promise<void> {
    const { status, body } = await this.#world.ask({ method: "GET", url: "/api/v1/alerts" });
    if (status !== 200) return;
    this.#noSecret("answered", body);
    const { alerts, fleet } = JSON.parse(body) as {
      readonly fleet: { readonly startsAt: string } | null;
      readonly alerts: readonly { slug: string; kind: string; state: string; check: string }[];
    };
    this.#noteFleet(fleet === null ? null : Date.parse(fleet.startsAt));
    const firing = alerts.filter(({ state }) => state === "firing").map(({ kind, slug }) => `${kind} ${slug}`);
    const expected = [...this.#live].filter(([, { firedAtMs }]) => firedAtMs !== null).map(([key]) => key);
    const differing = [
      ...firing.filter((one) => !expected.includes(one)).map((one) => `+${one}`),
      ...expected.filter((one) => !firing.includes(one)).map((one) => `-${one}`),
    ];
    if (differing.length > 0) this.#violate(`firing alerts differ: ${differing.join(", ")}`);
  }

  #noteFleet(startsAtMs: number | null): void {
    if (startsAtMs === null) return;
    const nowMs = this.#world.clock.nowMs();
    const known = this.#fleets.at(-1);
    if (known?.fromMs === startsAtMs) known.untilMs = nowMs;
    else this.#fleets.push({ fromMs: startsAtMs, untilMs: nowMs });
  }

  async #checkCounters(): Promise<void> {
    const { status, body } = await this.#world.ask({ method: "GET", url: "/metrics" });
    if (status !== 200) return;
    this.#noSecret("exposed", body);
    const isSameLife = this.#bootedAtMs === this.#world.upSinceMs;
    this.#bootedAtMs = this.#world.upSinceMs;
    const counters = new Map<string, number>();
    for (const line of body.split("\n")) {
      const [series = "", value = ""] = line.split(/ (?=[^ ]*$)/);
      if (/^\w+_total\b/.test(series)) counters.set(series, Number(value));
    }
    for (const [series, value] of counters)
      if (isSameLife && value < (this.#counters.get(series) ?? 0)) this.#violate(`${series} went back to ${value}`);
    this.#counters = counters;
  }

  #noSecret(how: string, text: string): void {
    for (const secret of [apiKey, token, signingSecret])
      if (text.includes(secret)) this.#violate(`a secret was ${how}`);
  }

  #violate(what: string): void {
    this.violations.push(`${iso(this.#world.clock.nowMs())} ${what}`);
    this.#world.trace(`VIOLATION ${what}`);
  }
}

function isEnd({ event }: SentAlert): boolean {
  return event === "resolved" || event === "recovered";
}

function describe({ slug, kind, startsAtMs, endsAtMs, severities }: Episode): string {
  const end = endsAtMs === null ? "now" : iso(endsAtMs);
  return `${slug} ${kind} ${severities.join()} from ${iso(startsAtMs)} to ${end}`;
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
