import type { AlertPolicy } from "../../src/alerting/settings.ts";
import type { Severity } from "../../src/contract/severity.ts";

/** What should have happened to one alert that fired. */
export interface Episode {
  readonly slug: string;
  readonly kind: "verdict" | "unknown";
  startsAtMs: number;
  firedAtMs: number | null;
  endsAtMs: number | null;
  hasReachedFail: boolean;
  /** Somebody acknowledged it at some time. */
  wasAcknowledged: boolean;
  /** Its organization went while it lived, or before it had to be told: who was not told of it is not told any more. */
  wasRemoved: boolean;
}

// groupWait and groupInterval of the world, and the longest that a crash keeps it from telling.
const longestUntoldMs = 10 * 60_000;

interface Verdict {
  episode: Episode;
  okSinceMs: number | null;
}

/** The life cycle of contract section 7 in its plainest form, one organization at a time; for tests to compare with. */
export class AlertModel {
  readonly episodes: Episode[] = [];
  readonly #verdicts = new Map<string, Verdict>();
  readonly #unknowns = new Map<string, { episode: Episode; runs: number }>();

  run(slug: string, severity: Severity, atMs: number, policy: AlertPolicy): void {
    if (severity === "unknown") return this.#fails(slug, atMs, policy);
    this.#end(this.#unknowns, slug, atMs);
    const verdict = this.#verdicts.get(slug);
    if (severity === "ok") {
      if (verdict === undefined) return;
      if (verdict.episode.firedAtMs === null) return void this.#verdicts.delete(slug);
      verdict.okSinceMs = Math.min(verdict.okSinceMs ?? atMs, atMs);
      if (atMs - verdict.okSinceMs >= policy.keepFiringForMs) this.#end(this.#verdicts, slug, atMs);
      return;
    }
    const { episode } = verdict ?? { episode: this.#begin(slug, "verdict", atMs) };
    this.#verdicts.set(slug, { episode, okSinceMs: null });
    if (episode.firedAtMs === null) {
      episode.startsAtMs = Math.min(episode.startsAtMs, atMs);
      if (atMs - episode.startsAtMs >= policy.forMs) this.#fire(episode, atMs);
    }
    if (episode.firedAtMs !== null && severity === "fail") episode.hasReachedFail = true;
  }

  remove(slug: string, atMs: number): void {
    for (const live of [this.#verdicts, this.#unknowns]) {
      const episode = live.get(slug)?.episode;
      if (episode !== undefined) episode.wasRemoved = true;
      this.#end(live, slug, atMs);
    }
    for (const episode of this.episodes) {
      const isRecent = episode.endsAtMs !== null && atMs - episode.endsAtMs <= longestUntoldMs;
      if (episode.slug === slug && isRecent) episode.wasRemoved = true;
    }
  }

  acknowledge(slug: string, kind: Episode["kind"]): void {
    const live = kind === "verdict" ? this.#verdicts.get(slug) : this.#unknowns.get(slug);
    if (live !== undefined) live.episode.wasAcknowledged = true;
  }

  #fails(slug: string, atMs: number, policy: AlertPolicy): void {
    const unknown = this.#unknowns.get(slug) ?? { episode: this.#begin(slug, "unknown", atMs), runs: 0 };
    unknown.runs++;
    this.#unknowns.set(slug, unknown);
    if (unknown.episode.firedAtMs === null && unknown.runs >= policy.unknownAfter) this.#fire(unknown.episode, atMs);
  }

  #begin(slug: string, kind: Episode["kind"], startsAtMs: number): Episode {
    return {
      slug,
      kind,
      startsAtMs,
      firedAtMs: null,
      endsAtMs: null,
      hasReachedFail: false,
      wasAcknowledged: false,
      wasRemoved: false,
    };
  }

  #fire(episode: Episode, atMs: number): void {
    episode.firedAtMs = atMs;
    this.episodes.push(episode);
  }

  #end(live: Map<string, { readonly episode: Episode }>, slug: string, atMs: number): void {
    const ended = live.get(slug)?.episode;
    live.delete(slug);
    if (ended !== undefined) ended.endsAtMs = Math.max(atMs, ended.startsAtMs);
  }
}
