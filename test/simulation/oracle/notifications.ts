import { dayMs, minuteMs, secondMs } from "../../../src/base/time.ts";
import type { Severity } from "../../../src/contract/severity.ts";
import type { Accepted, SentAlert } from "../receiver.ts";
import { describeEpisode, type Episode, type Episodes } from "./episodes.ts";
import type { Facts } from "./facts.ts";

interface Silence {
  readonly slug: string;
  readonly fromMs: number;
  untilMs: number;
}

// groupWait, groupInterval and the time in which a loop looks again.
const formingMs = 5 * minuteMs;
// A silence is looked up when a group forms; one that is made at that moment may come too late.
const noticedMs = minuteMs;
const legalAfter: Readonly<Record<string, readonly string[]>> = {
  "": ["firing", "unknown"],
  firing: ["escalated", "deescalated", "reminder", "firing", "resolved"],
  escalated: ["escalated", "deescalated", "reminder", "firing", "resolved"],
  deescalated: ["escalated", "deescalated", "reminder", "firing", "resolved"],
  reminder: ["escalated", "deescalated", "reminder", "firing", "resolved", "recovered", "unknown"],
  unknown: ["reminder", "unknown", "recovered"],
};

/** The last that a receiver was notified of an alert. */
interface LastEvent {
  readonly alert: SentAlert;
  readonly formedAtMs: number;
  /** By the monotonic clock. */
  readonly seenAtMs: number;
}

/** What each receiver has to be notified of, and in which order. */
export class NotificationOracle {
  readonly #facts: Facts;
  readonly #episodes: Episodes;
  readonly #silences: Silence[] = [];
  /** Receivers that an organization had at any time. */
  readonly #everRouted = new Map<string, Set<string>>();
  /** Since when it has the receiver, by the monotonic clock; `slug receiver`. */
  #routedSince = new Map<string, number>();
  /** How many notifications of each receiver were looked at. */
  readonly #seen = new Map<string, number>();
  readonly #lastEvent = new Map<string, LastEvent>();
  /** When a fleet verdict held, seen every ten minutes. */
  readonly #fleets: { readonly fromMs: number; untilMs: number }[] = [];

  constructor(facts: Facts, episodes: Episodes) {
    this.#facts = facts;
    this.#episodes = episodes;
  }

  /** To be called when the facts have the configuration. */
  configured(): void {
    const next = new Map<string, number>();
    for (const { slug, receivers } of this.#facts.organizations.values()) {
      const routes = this.#everRouted.get(slug) ?? new Set();
      this.#everRouted.set(slug, routes);
      for (const { name } of receivers) {
        routes.add(name);
        next.set(`${slug} ${name}`, this.#routedSince.get(`${slug} ${name}`) ?? this.#facts.monotonicMs);
      }
    }
    this.#routedSince = next;
  }

  silenced(slug: string, fromMs: number, untilMs: number): void {
    this.#silences.push({ slug, fromMs, untilMs });
  }

  silencesEnded(): void {
    for (const silence of this.#silences) silence.untilMs = Math.min(silence.untilMs, this.#facts.nowMs);
  }

  noteFleet(startsAtMs: number | null): void {
    if (startsAtMs === null) return;
    const { nowMs } = this.#facts;
    const known = this.#fleets.at(-1);
    if (known?.fromMs === startsAtMs) known.untilMs = nowMs;
    else this.#fleets.push({ fromMs: startsAtMs, untilMs: nowMs });
  }

  minute(): void {
    for (const [name, { accepted }] of this.#facts.world.receivers) {
      const from = this.#seen.get(name) ?? 0;
      this.#seen.set(name, accepted.length);
      for (let index = from; index < accepted.length; index++) {
        const notification = accepted[index];
        if (notification === undefined) continue;
        const earlier = accepted.slice(0, index).find(({ id }) => id === notification.id);
        if (earlier === undefined) for (const alert of notification.alerts) this.#checkAlert(name, alert, notification);
        else if (earlier.text !== notification.text)
          this.#facts.violate(`${name}: ${notification.id} is repeated with other words`);
      }
    }
  }

  /** To be called when faults have ended long enough ago for everything to have arrived. */
  finish(): void {
    for (const [name, receiver] of this.#facts.world.receivers) {
      const got = Map.groupBy(
        receiver.accepted.flatMap(({ alerts }) => alerts),
        ({ id }) => id,
      );
      const ended = [...got.values()].filter((alerts) => alerts.some(isEnd));
      for (const alerts of got.values()) {
        const [first] = alerts;
        if (first === undefined || alerts.some(isEnd) || receiver.refusedAlerts.has(first.id)) continue;
        const episode = this.#episodes.of(first);
        if (episode === undefined || episode.endsAtMs === null) continue;
        this.#facts.violate(`${name} was never notified of the end of ${first.id} (${first.slug} ${first.kind})`);
      }
      for (const episode of this.#episodes.all) {
        if (!this.#mustHear(name, episode)) continue;
        const isKnown = ended.some((alerts) => alerts[0] !== undefined && this.#episodes.of(alerts[0]) === episode);
        if (!isKnown && receiver.refusedAlerts.size === 0)
          this.#facts.violate(`${name} was never notified of ${describeEpisode(episode)}`);
      }
    }
  }

  #checkAlert(name: string, alert: SentAlert, notification: Accepted): void {
    const { formedAtMs } = notification;
    const { id, slug, kind, event, previousSeverity } = alert;
    const { world } = this.#facts;
    const key = `${name} ${id}`;
    const before = this.#lastEvent.get(key);
    this.#lastEvent.set(key, { alert, formedAtMs, seenAtMs: this.#facts.monotonicMs });
    // What was before may be a dead letter: the receiver refused it.
    const isRefused = world.receivers.get(name)?.refusedAlerts.has(id) === true;
    if (!isRefused) this.#checkOrder(name, alert, notification, before);
    if (before !== undefined && previousSeverity !== before.alert.severity && !isRefused)
      this.#facts.violate(`${name}: ${id} goes on from ${previousSeverity}, and was ${before.alert.severity}`);
    if (this.#everRouted.get(slug)?.has(name) !== true) this.#facts.violate(`${name} is not routed to ${slug}`);
    const episode = this.#episodes.of(alert);
    if (episode === undefined)
      return this.#facts.violate(`${name}: ${event} of ${id} (${slug} ${kind}, from ${alert.startsAt}) is no alert`);
    if (isEnd(alert)) {
      if (episode.endsAtMs === null) this.#facts.violate(`${name}: ${id} (${slug}) ended, and it did not`);
      return;
    }
    if (this.#silencesOf(slug).some(({ fromMs, untilMs }) => fromMs + noticedMs < formedAtMs && formedAtMs < untilMs))
      this.#facts.violate(`${name}: ${event} of ${slug} in a silence`);
    if (kind === "verdict" && !episode.severities.includes(alert.severity as Severity))
      this.#facts.violate(`${name}: ${id} (${slug}) was never ${alert.severity}`);
  }

  #checkOrder(
    name: string,
    { id, slug, event }: SentAlert,
    { formedAtMs, isOfFleet }: Accepted,
    before: LastEvent | undefined,
  ): void {
    const previous = before?.alert.event ?? "";
    if (!(legalAfter[previous] ?? []).includes(event))
      this.#facts.violate(`${name}: ${event} of ${id} (${slug}) after ${previous || "nothing"}`);
    if (before === undefined) return;
    const alertSettings = this.#facts.organizations.get(slug)?.alert;
    const sinceMs = formedAtMs - before.formedAtMs;
    // How long it was cannot be said when a clock was set meanwhile; the fleet verdict reminds of all its alerts at once.
    const isMeasured = this.#facts.world.clockSetAtMs < before.seenAtMs - dayMs / 4 && !isOfFleet;
    if (event === "reminder" && isMeasured && sinceMs < (alertSettings?.repeatIntervalMs ?? 0) - minuteMs)
      this.#facts.violate(`${name}: reminder of ${id} (${slug}) after ${Math.round(sinceMs / secondMs)} s`);
    // The same once more: only when a silence that held it back is over.
    const wasSilenced = this.#silencesOf(slug).some(
      ({ fromMs, untilMs }) => fromMs <= formedAtMs && before.formedAtMs <= untilMs,
    );
    if (event === previous && event !== "reminder" && !event.includes("escalated") && !wasSilenced)
      this.#facts.violate(`${name}: ${event} of ${id} (${slug}) twice`);
  }

  #silencesOf(slug: string): Silence[] {
    return this.#silences.filter((one) => one.slug === "*" || one.slug === slug);
  }

  #mustHear(name: string, episode: Episode): boolean {
    const { slug, kind, firedAtMs, firedMonotonicMs, endsAtMs, severities, isRemoved } = episode;
    if (isRemoved || firedAtMs === null || firedMonotonicMs === null || endsAtMs === null) return false;
    if ((this.#routedSince.get(`${slug} ${name}`) ?? Infinity) > firedMonotonicMs) return false;
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
}

function isEnd({ event }: SentAlert): boolean {
  return event === "resolved" || event === "recovered";
}
