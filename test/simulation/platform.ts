import { minuteMs, type Clock } from "../../src/base/time.ts";
import type { Severity } from "../../src/contract/severity.ts";
import { sampleHealthcheck } from "../support/far-side/api-samples.ts";
import type { Chance } from "./chance.ts";
import type { FarAnswer, FarSide } from "./network.ts";

/** What is wrong with the platform for a while. */
export const platformFaults = [
  "slow",
  "rate-limited",
  "broken",
  "cut",
  "garbage",
  "revoked",
  "refused",
  "hang",
] as const;
export type PlatformFault = (typeof platformFaults)[number];

/** A stretch in which an organization's deaths spike. */
export interface Spike {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly severity: Exclude<Severity, "ok" | "unknown">;
}

/** The platform's API v2: what it answers follows from a scripted truth, or from what is wrong with it. */
export class SimulatedPlatform implements FarSide {
  fault: PlatformFault | null = null;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #spikes: ReadonlyMap<string, readonly Spike[]>;

  constructor(options: {
    readonly clock: Clock;
    readonly chance: Chance;
    readonly spikes: ReadonlyMap<string, readonly Spike[]>;
  }) {
    this.#clock = options.clock;
    this.#chance = options.chance;
    this.#spikes = options.spikes;
  }

  connect(): boolean {
    return this.fault !== "refused";
  }

  handle({ body }: { readonly body: string }): { latencyMs: number; arrive: () => FarAnswer } {
    const isSlow = this.fault === "slow" && this.#chance.isTrue(0.5);
    const latencyMs = isSlow ? this.#chance.between(5_000, 40_000) : this.#chance.between(5, 400);
    return { latencyMs, arrive: () => this.#answer(body, latencyMs) };
  }

  #answer(body: string, latencyMs: number): FarAnswer {
    const { slug } = JSON.parse(body) as { readonly slug: string };
    const nowMs = this.#clock.nowMs();
    const spike = (this.#spikes.get(slug) ?? []).find(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs);
    const currentCount =
      { fail: 100, warn: 20 }[spike?.severity ?? "fail"] * (spike === undefined ? 0 : 1) + (slug.length % 4);
    const answer = sampleHealthcheck({
      generatedAt: new Date(nowMs).toISOString(),
      scope: { slug },
      ok: spike === undefined,
      severity: spike?.severity ?? "ok",
      observed: { currentCount, baselineCount: 21, expectedCount: 3, ratio: currentCount / 3 },
    });
    const text = JSON.stringify(answer);
    // A fault hits most requests, not each: what is tried again may succeed.
    if (this.fault === null || this.fault === "slow" || this.#chance.isTrue(0.2)) {
      return { latencyMs, kind: "answer", status: 200, body: text };
    }
    switch (this.fault) {
      case "rate-limited": {
        const headers = { "retry-after": String(this.#chance.between(1, (3 * minuteMs) / 1_000)) };
        return { latencyMs, kind: "answer", status: 429, headers, body: '{"error":"slow down"}' };
      }
      case "broken":
        return { latencyMs, kind: "answer", status: 503, body: "unavailable" };
      case "cut":
        return { latencyMs, kind: "cut", status: 200, body: text };
      case "garbage":
        return { latencyMs, kind: "answer", status: 200, body: '{"id":"dead-asset-spike","severity":"terrible"}' };
      case "revoked":
        return { latencyMs, kind: "answer", status: 401, body: '{"error":"no such key"}' };
      case "hang":
        return { latencyMs, kind: "hang" };
      case "refused":
      default:
        return { latencyMs, kind: "reset" };
    }
  }
}

const other = { warn: "fail", fail: "warn" } as const;

/** The spikes of one organization over so many days: one or two a day, of which many get worse and better. */
export function scriptSpikes(chance: Chance, fromMs: number, untilMs: number): Spike[] {
  const spikes: Spike[] = [];
  let atMs = fromMs + chance.between(0, 20 * 60) * minuteMs;
  while (atMs < untilMs) {
    const endsMs = Math.min(untilMs, atMs + chance.pick([3, 12, 40, 180, 500]) * minuteMs);
    const before = spikes.at(-1);
    // Some get worse or better without a break, and back.
    const isGoingOn = before?.untilMs === atMs;
    const severity = isGoingOn ? other[before.severity] : chance.pick(["warn", "fail"] as const);
    spikes.push({ fromMs: atMs, untilMs: endsMs, severity });
    atMs = chance.isTrue(0.5) ? endsMs : endsMs + chance.between(20, 24 * 60) * minuteMs;
  }
  return spikes;
}

/** Spikes of many organizations from one cause: a checker that breaks, once or twice in two days. */
export function scriptTogether(
  chance: Chance,
  slugs: readonly string[],
  fromMs: number,
  untilMs: number,
): ReadonlyMap<string, readonly Spike[]> {
  const spikes = new Map<string, Spike[]>(slugs.map((slug) => [slug, []]));
  let atMs = fromMs + chance.between(0, 24 * 60) * minuteMs;
  for (; atMs < untilMs; atMs += chance.between(16 * 60, 40 * 60) * minuteMs) {
    const share = chance.pick([0.3, 0.6, 1]);
    const withinMinutes = chance.pick([10, 60, 240]);
    const lastsMinutes = chance.pick([60, 200, 500]);
    // Most of them are as bad as each other, so that one that is worse changes what is known of all.
    const severity = chance.pick(["warn", "warn", "fail"] as const);
    for (const own of spikes.values()) {
      if (!chance.isTrue(share)) continue;
      const beginsMs = atMs + chance.between(0, withinMinutes) * minuteMs;
      const endsMs = Math.min(untilMs, beginsMs + lastsMinutes * minuteMs);
      if (endsMs - beginsMs < 20 * minuteMs) continue;
      const spike = { fromMs: beginsMs, untilMs: endsMs, severity: chance.isTrue(0.1) ? other[severity] : severity };
      // Many stop once, and begin again at once.
      const pausesMs = beginsMs + 7 * minuteMs;
      const goesOnMs = pausesMs + chance.pick([7, 12]) * minuteMs;
      if (chance.isTrue(0.4)) own.push(spike);
      else own.push({ ...spike, untilMs: pausesMs }, { ...spike, fromMs: goesOnMs });
    }
  }
  return spikes;
}

/** One organization's spikes, those of its own only where no other is. */
export function interrupt(own: readonly Spike[], others: readonly Spike[]): Spike[] {
  const kept = own.filter((one) =>
    others.every(({ fromMs, untilMs }) => one.untilMs <= fromMs || untilMs <= one.fromMs),
  );
  return [...kept, ...others].toSorted((left, right) => left.fromMs - right.fromMs);
}
