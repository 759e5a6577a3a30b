import { dayMs, minuteMs, secondMs } from "../../../src/base/time.ts";
import type { Severity } from "../../../src/contract/severity.ts";
import type { Outcome, Saying } from "../people.ts";
import type { Accepted, SentAlert } from "../receiver.ts";
import type { ActOracle } from "./acts.ts";
import { brokenCases, isAct, isEnd, repeatIntervalMs } from "./cases.ts";
import { describeEpisode, type Episode, type Episodes } from "./episodes.ts";
import type { Facts } from "./facts.ts";
import type { IncidentOracle } from "./incidents.ts";

interface Silence {
  /** null: it is not known. */
  readonly id: string | null;
  /** It is there, and not only may be. */
  readonly isSure: boolean;
  readonly slug: string;
  readonly fromMs: number;
  /** The same instant by the monotonic clock. */
  readonly madeAtMs: number;
  untilMs: number;
  /** Before it was made shorter: whether a group saw that in time is not sure. */
  longestUntilMs: number;
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
  readonly #acts: ActOracle;
  readonly #incidents: IncidentOracle;
  readonly #silences: Silence[] = [];
  /** Receivers that an organization had at any time. */
  readonly #everRouted = new Map<string, Set<string>>();
  /** Since when it has the receiver, by the monotonic clock; `slug receiver`. */
  #routedSince = new Map<string, number>();
  /** How many notifications of each receiver were looked at, and the digest of the words of each by its id. */
  readonly #seen = new Map<string, { count: number; renamed: number; readonly digests: Map<string, string> }>();
  readonly #lastEvent = new Map<string, LastEvent>();
  /** The last notification of each incident; `receiver incident`. */
  readonly #lastOfIncident = new Map<string, Accepted>();
  /** When a fleet verdict held, seen every ten minutes. */
  readonly #fleets: { readonly fromMs: number; untilMs: number }[] = [];

  constructor(facts: Facts, parts: { episodes: Episodes; acts: ActOracle; incidents: IncidentOracle }) {
    this.#facts = facts;
    this.#episodes = parts.episodes;
    this.#acts = parts.acts;
    this.#incidents = parts.incidents;
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

  silenced({ id, slug }: { readonly id: string | null; readonly slug: string }, fromMs: number, untilMs: number): void {
    this.#silence({ id, isSure: id !== null, slug, fromMs, untilMs });
  }

  /** A silence of an incident is one of each organization that it was done to. */
  said({ act, alerts, untilMs }: Saying, outcome: Outcome): void {
    if (act !== "silence" || (outcome !== "lost" && typeof outcome !== "object")) return;
    const done = outcome === "lost" ? alerts : outcome.done;
    for (const { slug } of done)
      this.#silence({ id: null, isSure: outcome !== "lost", slug, fromMs: this.#facts.nowMs, untilMs });
  }

  #silence(silence: Omit<Silence, "madeAtMs" | "longestUntilMs">): void {
    this.#silences.push({ ...silence, madeAtMs: this.#facts.monotonicMs, longestUntilMs: silence.untilMs });
  }

  silenceChanged(id: string, untilMs: number, isDone: boolean | null): void {
    const silence = this.#silences.find((one) => one.id === id);
    if (silence === undefined || isDone === false) return;
    // What lies between the old end and the change was no silence.
    if (isDone === true && silence.untilMs > this.#facts.nowMs) silence.untilMs = untilMs;
    else silence.untilMs = Math.min(silence.untilMs, untilMs);
    silence.longestUntilMs = Math.max(silence.longestUntilMs, untilMs);
  }

  silencesEnded(): void {
    for (const silence of this.#silences) silence.untilMs = Math.min(silence.untilMs, this.#facts.nowMs);
  }

  noteFleet(startsAtMs: number): void {
    const { nowMs } = this.#facts;
    const known = this.#fleets.find(({ fromMs }) => fromMs === startsAtMs);
    if (known !== undefined) known.untilMs = nowMs;
    else this.#fleets.push({ fromMs: startsAtMs, untilMs: nowMs });
  }

  minute(): void {
    for (const [name, { accepted, renamed }] of this.#facts.world.receivers) {
      const seen = this.#seen.get(name) ?? { count: 0, renamed: 0, digests: new Map<string, string>() };
      this.#seen.set(name, seen);
      for (; seen.renamed < renamed.length; seen.renamed++) {
        const { ids, formedAtMs } = renamed[seen.renamed] ?? { ids: "", formedAtMs: 0 };
        // After a clock was set back, the same may happen again at the same instant.
        if (this.#facts.world.monotonicOf(formedAtMs).length < 2)
          this.#facts.violate(`${name}: a notification arrived under two ids: ${ids}`);
      }
      for (; seen.count < accepted.length; seen.count++) {
        const notification = accepted[seen.count];
        if (notification === undefined) continue;
        const earlier = seen.digests.get(notification.id);
        seen.digests.set(notification.id, notification.digest);
        if (earlier === undefined) this.#checkAll(name, notification);
        else if (earlier !== notification.digest)
          this.#facts.violate(`${name}: ${notification.id} is repeated with other words`);
      }
    }
  }

  /** To be called when faults have ended long enough ago for everything to have arrived. */
  finish(): void {
    for (const [name, receiver] of this.#facts.world.receivers) {
      const got = Map.groupBy(
        receiver.accepted.flatMap(({ alerts }) => alerts).filter((alert) => !isAct(alert)),
        ({ id }) => id,
      );
      const ended = [...got.values()].filter((alerts) => alerts.some(isEnd));
      for (const notification of receiver.accepted) this.#checkReminders(name, notification);
      for (const alerts of got.values()) {
        const [first] = alerts;
        if (first === undefined || alerts.some(isEnd) || receiver.refusedAlerts.has(first.id)) continue;
        const episode = this.#episodes.of(first);
        if (episode === undefined || !this.#isLongOver(episode)) continue;
        this.#facts.violate(`${name} was never notified of the end of ${first.id} (${first.slug} ${first.kind})`);
      }
      // What was refused is told again while it fires; no promise covers what ends before, or is less severe by then.
      const refused = new Set(
        [...receiver.refusedAlerts.values()].flatMap((alert) => {
          const episode = this.#episodes.of(alert);
          const againAtMs = (receiver.refusedAtMs.get(alert.id) ?? 0) + repeatIntervalMs + formingMs;
          const isLoud = name !== "pager" || episode?.severities.at(-1) === "fail";
          const isToldAgain = episode !== undefined && isLoud && (episode.endsAtMs ?? 0) > againAtMs;
          return isToldAgain ? [] : episode;
        }),
      );
      for (const episode of this.#episodes.all) {
        if (refused.has(episode) || !this.#isLongOver(episode) || !this.#mustHear(name, episode)) continue;
        const isKnown = ended.some((alerts) => alerts[0] !== undefined && this.#episodes.of(alerts[0]) === episode);
        if (!isKnown) this.#facts.violate(`${name} was never notified of ${describeEpisode(episode)}`);
      }
    }
    this.#acts.finish((slug, name) => this.#routedSince.get(`${slug} ${name}`) ?? Infinity);
  }

  /** Nobody is reminded of what is acknowledged; a verdict says all of it again when it begins. */
  #checkReminders(name: string, { formedAtMs, alerts, isOfFleet }: Accepted): void {
    const formed = this.#facts.world.monotonicOf(formedAtMs);
    if (isOfFleet || formed.length !== 1) return;
    for (const { event, id, slug } of alerts)
      if (event === "reminder" && this.#incidents.wasQuiet(id, formed[0] ?? 0))
        this.#facts.violate(`${name}: reminder of ${id} (${slug}), which is acknowledged`);
  }

  /** A window of six hours may end with the world: there was no time to be notified of that. */
  #isLongOver({ endsAtMs }: Episode): boolean {
    return endsAtMs !== null && endsAtMs < this.#facts.nowMs - formingMs;
  }

  #checkAll(name: string, notification: Accepted): void {
    this.#checkCases(name, notification);
    // An incident's reminder goes when the first member's is due, and takes all along.
    const isReminderDue = notification.alerts.some((alert) => this.#isReminderDue(name, alert, notification));
    if (!isReminderDue)
      for (const { id, slug, event } of notification.alerts) {
        const before = this.#lastEvent.get(`${name} ${id}`);
        if (event !== "reminder" || before === undefined || notification.isOfFleet) continue;
        // Its length is unknown when a clock was set meanwhile; a verdict reminds of all its alerts when it begins.
        if (this.#facts.world.clockSetAtMs >= before.seenAtMs - dayMs / 4) continue;
        const sinceMs = notification.formedAtMs - before.formedAtMs;
        this.#facts.violate(`${name}: reminder of ${id} (${slug}) after ${Math.round(sinceMs / secondMs)} s`);
      }
    for (const alert of notification.alerts) this.#check(name, alert, notification);
  }

  #checkCases(receiver: string, notification: Accepted): void {
    const { world } = this.#facts;
    const key = `${receiver} ${notification.incidentId}`;
    const last = this.#lastOfIncident.get(key);
    // What is formed later may arrive first, in parts.
    if (last === undefined || last.formedAtMs < notification.formedAtMs) this.#lastOfIncident.set(key, notification);
    const [lastAtMs, ...others] = last === undefined ? [] : world.monotonicOf(last.formedAtMs);
    const isKnown = lastAtMs !== undefined && others.length === 0 && world.clockSetAtMs < lastAtMs;
    const sinceLastMs = isKnown && last !== undefined ? notification.formedAtMs - last.formedAtMs : null;
    const broken = brokenCases({
      receiver,
      notification,
      sinceLastMs,
      isTold: (id) => this.#lastEvent.has(`${receiver} ${id}`),
      isRefused: (id) => world.receivers.get(receiver)?.refusedAlerts.has(id) === true,
    });
    for (const what of broken) this.#facts.violate(`${receiver}: ${what}`);
  }

  #isReminderDue(name: string, { id, slug, event }: SentAlert, { formedAtMs }: Accepted): boolean {
    const before = this.#lastEvent.get(`${name} ${id}`);
    // Its first message was refused and is a dead letter: reminders count from it, and nobody saw when it was formed.
    const isRefused = this.#facts.world.receivers.get(name)?.refusedAlerts.has(id) === true;
    if (event === "reminder" && before === undefined && isRefused) return true;
    const repeatIntervalMs = this.#facts.organizations.get(slug)?.alert.repeatIntervalMs ?? 0;
    return (
      event === "reminder" && before !== undefined && formedAtMs - before.formedAtMs >= repeatIntervalMs - minuteMs
    );
  }

  #check(name: string, alert: SentAlert, notification: Accepted): void {
    const { id, slug } = alert;
    if (this.#everRouted.get(slug)?.has(name) !== true)
      this.#facts.violate(`${name} is not routed to ${slug} (${alert.event} of ${id})`);
    if (isAct(alert)) this.#acts.notified(name, alert);
    else this.#checkAlert(name, alert, notification);
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
    const episode = this.#episodes.of(alert);
    if (episode === undefined)
      return this.#facts.violate(`${name}: ${event} of ${id} (${slug} ${kind}, from ${alert.startsAt}) is no alert`);
    if (isEnd(alert)) {
      if (episode.endsAtMs === null) this.#facts.violate(`${name}: ${id} (${slug}) ended, and it did not`);
      return;
    }
    // After a clock was set back, it may have been formed before the silence was made.
    const formed = world.monotonicOf(formedAtMs);
    const isIn = ({ isSure, fromMs, madeAtMs, untilMs }: Silence): boolean =>
      isSure &&
      fromMs + noticedMs < formedAtMs &&
      formedAtMs < untilMs &&
      formed.every((atMs) => madeAtMs + noticedMs < atMs);
    if (this.#silencesOf(slug).some(isIn)) this.#facts.violate(`${name}: ${event} of ${slug} in a silence`);
    if (kind === "verdict" && !episode.severities.includes(alert.severity as Severity))
      this.#facts.violate(`${name}: ${id} (${slug}) was never ${alert.severity}`);
  }

  #checkOrder(
    name: string,
    { id, slug, event }: SentAlert,
    { formedAtMs }: Accepted,
    before: LastEvent | undefined,
  ): void {
    const previous = before?.alert.event ?? "";
    if (!(legalAfter[previous] ?? []).includes(event))
      this.#facts.violate(`${name}: ${event} of ${id} (${slug}) after ${previous || "nothing"}`);
    if (before === undefined) return;
    // The same once more: only when a silence that held it back is over.
    const wasSilenced = this.#silencesOf(slug).some(
      ({ fromMs, longestUntilMs }) => fromMs <= formedAtMs && before.formedAtMs <= longestUntilMs,
    );
    if (event === previous && event !== "reminder" && !event.includes("escalated") && !wasSilenced)
      this.#facts.violate(`${name}: ${event} of ${id} (${slug}) twice`);
  }

  #joinsUnknown(episode: Episode, firedAtMs: number): boolean {
    return this.#episodes.all.some(
      (other) =>
        other !== episode &&
        other.kind === "unknown" &&
        (other.firedAtMs ?? Infinity) <= firedAtMs &&
        // The run of the same tick that ended it may have come after this one's.
        (other.endsAtMs ?? Infinity) >= firedAtMs,
    );
  }

  #silencesOf(slug: string): Silence[] {
    return this.#silences.filter((one) => one.slug === "*" || one.slug === slug);
  }

  #mustHear(name: string, episode: Episode): boolean {
    const { slug, kind, firedAtMs, firedMonotonicMs, endsAtMs, severities, isRemoved } = episode;
    if (isRemoved || firedAtMs === null || firedMonotonicMs === null || endsAtMs === null) return false;
    if ((this.#routedSince.get(`${slug} ${name}`) ?? Infinity) > firedMonotonicMs) return false;
    if (name === "pager" && (kind === "unknown" || !severities.includes("fail"))) return false;
    // While the platform is down, joiners are told when the incident has doubled, and their end with the incident's.
    if (kind === "unknown" && this.#joinsUnknown(episode, firedAtMs)) return false;
    // No promise covers alerts that end before a group is formed, silenced ones, and ends within a fleet verdict.
    if (endsAtMs - firedAtMs < formingMs) return false;
    if (
      this.#fleets.some(({ fromMs, untilMs }) => fromMs - formingMs < endsAtMs && firedAtMs < untilMs + 2 * formingMs)
    )
      return false;
    return !this.#silences.some(
      (one) =>
        (one.slug === "*" || one.slug === slug) && one.fromMs < endsAtMs + dayMs && one.longestUntilMs > firedAtMs,
    );
  }
}
