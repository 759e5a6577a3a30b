import { hourMs, minuteMs, secondMs } from "../../../src/base/time.ts";
import { compareSeverity, type Severity } from "../../../src/contract/severity.ts";
import { intervalMinutesOf } from "../fleet.ts";
import type { NamedAlert, SeenAlert } from "../people.ts";
import type { NamedRun } from "../world.ts";
import { iso, type Facts } from "./facts.ts";
import { lastDueAtMs } from "./schedule.ts";

/** An alert as it should be, in the plainest form of the rules. Instants are of the wall clock. */
export interface Episode {
  readonly slug: string;
  readonly kind: "verdict" | "unknown";
  startsAtMs: number;
  firedAtMs: number | null;
  /** By the monotonic clock. */
  firedMonotonicMs: number | null;
  endsAtMs: number | null;
  /** A reload may end it, too. */
  isEndedByRun: boolean;
  /** Severities that it had while it fired, one after the other. */
  readonly severities: Severity[];
  /** The worst run of it, and of equally bad ones the most deaths. */
  peak: Peak;
  okSinceMs: number | null;
  failures: number;
  /** Its organization left the configuration while it lived, or a little later. */
  isRemoved: boolean;
}

interface Peak {
  readonly severity: Severity;
  readonly currentCount: number | null;
}

/** As `GET /api/v1/alerts` lists it. */
export interface PeakedAlert extends SeenAlert {
  readonly peak: Peak;
}

/** What the log says of an alert that changed. */
export interface ChangedAlert {
  readonly alertId: string;
  readonly slug: string;
  readonly event: string;
}

/** The alerts that should be, from the runs that were recorded. */
export class Episodes {
  /** Those that fired. */
  readonly all: Episode[] = [];
  readonly #facts: Facts;
  readonly #live = new Map<string, Episode>();
  readonly #byId = new Map<string, Episode>();
  readonly #onFail: (episode: Episode) => void;
  /** Runs of organizations that a reload adds, amid it. */
  #early: NamedRun[] = [];

  constructor(facts: Facts, { onFail }: { readonly onFail: (episode: Episode) => void }) {
    this.#facts = facts;
    this.#onFail = onFail;
  }

  /** Those that live, in words, with their state and since when. */
  #living(): string[] {
    return [...this.#live].map(([key, { firedAtMs, startsAtMs }]) =>
      describeLive(key, firedAtMs === null ? "pending" : "firing", startsAtMs),
    );
  }

  /** The one that an alert's id stands for; after a clock was set back, several may have begun at the same instant. */
  of({ id, slug, kind, startsAt }: NamedAlert): Episode | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const startsAtMs = Date.parse(startsAt);
    const named = new Set(this.#byId.values());
    const found = this.all.findLast(
      (one) =>
        one.slug === slug && one.kind === kind && Math.abs(one.startsAtMs - startsAtMs) <= secondMs && !named.has(one),
    );
    if (found !== undefined) this.#byId.set(id, found);
    return found;
  }

  /** The one with this id, if it is known. */
  named(id: string): Episode | undefined {
    return this.#byId.get(id);
  }

  /** Compares what was listed, which nothing happened amid. */
  compare(alerts: readonly PeakedAlert[]): void {
    const listed = alerts.map(({ kind, slug, state, startsAt }) =>
      describeLive(`${kind} ${slug}`, state, Date.parse(startsAt)),
    );
    const expected = this.#living();
    const differing = [
      ...listed.filter((one) => !expected.includes(one)).map((one) => `+${one}`),
      ...expected.filter((one) => !listed.includes(one)).map((one) => `-${one}`),
    ];
    if (differing.length > 0) this.#facts.violate(`alerts differ: ${differing.join(", ")}`);
    for (const { kind, slug, startsAt, peak } of alerts) {
      const live = this.#live.get(`${kind} ${slug}`);
      if (kind === "unknown" || live?.startsAtMs !== Date.parse(startsAt)) continue;
      const [shown, was] = [describePeak(peak), describePeak(live.peak)];
      if (shown !== was) this.#facts.violate(`the peak of ${slug} from ${startsAt} is ${shown}, and was ${was}`);
    }
  }

  /** Notes the id of an alert that begins to fire, right after the run that lets it. */
  changed({ alertId, slug, event }: ChangedAlert): void {
    if (event !== "firing" && event !== "unknown") return;
    const kind = event === "firing" ? "verdict" : "unknown";
    const begun = this.all.findLast((one) => one.slug === slug && one.kind === kind);
    if (begun !== undefined && !new Set(this.#byId.values()).has(begun)) this.#byId.set(alertId, begun);
  }

  /** To be called when a process has started, and when a reload has been applied. */
  configured(): void {
    const early = this.#early;
    this.#early = [];
    for (const run of early) this.run(run);
  }

  /** To be called when a reload has been taken back. */
  notConfigured(): void {
    this.#early = [];
  }

  run(run: NamedRun): void {
    const { slug, dueAtMs, isAsked, report: found } = run;
    const { startedAtMs, finishedAtMs } = found;
    // What a start or a reload adds runs at once, also while the rest of it waits for the store.
    const { upSinceMs, isReloading } = this.#facts.world;
    const isConfiguring = upSinceMs === null || isReloading;
    if (isConfiguring && !this.#facts.organizations.has(slug)) return void this.#early.push(run);
    // `for` counts between due times, but for a run that comes late by more than a quarter of the interval: that to the
    // next one, which for the first run, at once and between two times of the schedule, is a shorter one. What is next
    // is known when the run has ended: a clock may be set forward while it lasts. One that is set back by more than a
    // minute comes by the same time again, so that there is no quarter for the run to be in.
    const isSetBack = !isAsked && finishedAtMs < dueAtMs - minuteMs;
    const endedAtMs = isSetBack ? finishedAtMs : Math.max(dueAtMs, finishedAtMs);
    const nextDueAtMs = lastDueAtMs(slug, endedAtMs) + intervalMinutesOf(slug) * minuteMs;
    const latestMs = dueAtMs + (nextDueAtMs - dueAtMs) / 4;
    // One by hand may stand for one that is due already.
    const isOnTime = dueAtMs <= startedAtMs && startedAtMs <= latestMs;
    const { severity } = found;
    const currentCount = found.kind === "result" ? found.counts.currentCount : null;
    this.#apply(slug, { severity, currentCount }, isOnTime ? dueAtMs : startedAtMs);
  }

  /** To be called with those that a reload took away. */
  remove(slug: string): void {
    const { nowMs } = this.#facts;
    for (const kind of ["verdict", "unknown"] as const) {
      const live = this.#live.get(`${kind} ${slug}`);
      if (live !== undefined) live.isRemoved = true;
      this.#end(slug, kind, nowMs, { isByRun: false });
    }
    for (const episode of this.all)
      if (episode.slug === slug && episode.endsAtMs !== null && nowMs - episode.endsAtMs < hourMs)
        episode.isRemoved = true;
  }

  #apply(slug: string, found: Peak, atMs: number): void {
    const { severity } = found;
    const organization = this.#facts.organizations.get(slug);
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
    if (isWorse(found, episode.peak)) episode.peak = found;
    if (episode.firedAtMs === null && atMs - episode.startsAtMs >= alert.forMs) this.#fire(episode, severity, atMs);
    else if (episode.firedAtMs !== null && episode.severities.at(-1) !== severity) this.#become(episode, severity);
  }

  #begin(slug: string, kind: Episode["kind"], startsAtMs: number): Episode {
    const live = this.#live.get(`${kind} ${slug}`);
    if (live !== undefined) {
      // A clock that was set back.
      if (kind === "verdict" && live.firedAtMs === null) live.startsAtMs = Math.min(live.startsAtMs, startsAtMs);
      return live;
    }
    const episode: Episode = {
      slug,
      kind,
      startsAtMs,
      firedAtMs: null,
      firedMonotonicMs: null,
      endsAtMs: null,
      isEndedByRun: false,
      severities: [],
      peak: { severity: "ok", currentCount: null },
      okSinceMs: null,
      failures: 0,
      isRemoved: false,
    };
    this.#live.set(`${kind} ${slug}`, episode);
    return episode;
  }

  #fire(episode: Episode, severity: Severity, atMs: number): void {
    episode.firedAtMs = atMs;
    episode.firedMonotonicMs = this.#facts.monotonicMs;
    this.all.push(episode);
    this.#become(episode, severity);
  }

  #become(episode: Episode, severity: Severity): void {
    episode.severities.push(severity);
    if (severity === "fail" && episode.kind === "verdict") this.#onFail(episode);
  }

  #end(slug: string, kind: Episode["kind"], atMs: number, { isByRun } = { isByRun: true }): void {
    const live = this.#live.get(`${kind} ${slug}`);
    this.#live.delete(`${kind} ${slug}`);
    if (live === undefined) return;
    live.endsAtMs = Math.max(atMs, live.startsAtMs);
    live.isEndedByRun = isByRun;
  }
}

function describePeak({ severity, currentCount }: Peak): string {
  return `${severity} with ${currentCount ?? "no count"}`;
}

function isWorse(found: Peak, before: Peak): boolean {
  const order = compareSeverity(found.severity, before.severity);
  return order > 0 || (order === 0 && (found.currentCount ?? -1) > (before.currentCount ?? -1));
}

function describeLive(key: string, state: string, startsAtMs: number): string {
  return `${key} ${state} from ${iso(startsAtMs)}`;
}

export function describeEpisode({ slug, kind, startsAtMs, endsAtMs, severities }: Episode): string {
  const end = endsAtMs === null ? "now" : iso(endsAtMs);
  return `${slug} ${kind} ${severities.join()} from ${iso(startsAtMs)} to ${end}`;
}
