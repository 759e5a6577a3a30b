import { dayMs, hourMs, minuteMs, secondMs } from "../../../src/base/time.ts";
import type { CheckReport } from "../../../src/contract/report.ts";
import type { Batch } from "../stream.ts";
import type { NamedRun } from "../world.ts";
import { iso, type Facts } from "./facts.ts";

interface Delivery {
  /** By the monotonic clock: from when it may be stored, and from when it is. */
  readonly sentAtMs: number;
  takenAtMs: number;
}

interface Death {
  readonly atMs: number;
  readonly count: number;
  readonly delivery: Delivery;
}

interface Stored {
  readonly ids: Set<string>;
  readonly deaths: Death[];
  /** Of any status. */
  readonly deliveries: Delivery[];
}

/** What a check had to find: what the platform said, or the deaths that were sent, counted one by one. */
export class EvaluationOracle {
  readonly #facts: Facts;
  readonly #stored = new Map<string, Stored>();
  readonly #deliveries = new Map<Batch, Delivery>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  streamed(batch: Batch, state: "sent" | "taken"): void {
    const { monotonicMs } = this.#facts;
    const known = this.#deliveries.get(batch);
    if (state === "taken") {
      if (known !== undefined) known.takenAtMs = monotonicMs;
      // It is not sent again, and its text takes most of the memory of a life.
      this.#deliveries.delete(batch);
      return;
    }
    if (known !== undefined) return;
    const delivery = { sentAtMs: monotonicMs, takenAtMs: Infinity };
    this.#deliveries.set(batch, delivery);
    const equal = new Map<string, number>();
    for (const { slug, id: given, at, status, assetType, asset, count } of batch.events) {
      // Without an id it is known by what it says, and without a name by its number among equal ones, too.
      const content = JSON.stringify([slug, at, status, assetType, asset ?? count, asset === undefined]);
      const number = equal.get(content) ?? 0;
      if (given === null && asset === undefined) equal.set(content, number + 1);
      const id = given ?? `${number} ${content}`;
      const stored = this.#stored.get(slug) ?? { ids: new Set(), deaths: [], deliveries: [] };
      this.#stored.set(slug, stored);
      if (stored.ids.has(id)) continue;
      stored.ids.add(id);
      stored.deliveries.push(delivery);
      if (status === "DETECTED_AS_DEAD") stored.deaths.push({ atMs: Date.parse(at), count, delivery });
    }
  }

  run(run: NamedRun): void {
    const { monotonicMs, world } = this.#facts;
    // Which instant of the wall clock it was is not sure then.
    if (monotonicMs - world.clockSetAtMs < 2 * minuteMs) return;
    if (world.source === "remote") this.#checkRemote(run.report);
    else this.#checkLocal(run.report);
  }

  #checkRemote(report: CheckReport): void {
    const { slug, severity, startedAtMs, finishedAtMs } = report;
    const { world, monotonicMs } = this.#facts;
    if (severity === "unknown") {
      // Attempts of the client, and what Retry-After asks for.
      const isExplained = monotonicMs - world.platformFailedAtMs < 10 * minuteMs || this.#isDisturbed();
      if (!isExplained) this.#facts.violate(`${slug} is unknown, and the platform answered`);
      return;
    }
    const spikes = world.spikes.get(slug) ?? [];
    const truths = new Set<string>();
    for (const atMs of [startedAtMs, ...spikes.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]), finishedAtMs]) {
      if (atMs < startedAtMs || finishedAtMs < atMs) continue;
      const spike = spikes.find(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
      truths.add(spike?.severity ?? "ok");
    }
    if (!truths.has(severity))
      this.#facts.violate(`${slug} is ${severity}, and the platform said ${[...truths].join()}`);
  }

  #checkLocal(report: CheckReport): void {
    const { slug } = report;
    const stored = this.#stored.get(slug) ?? { ids: new Set(), deaths: [], deliveries: [] };
    if (report.kind === "error") {
      const isSeen = stored.deliveries.some(({ takenAtMs }) => takenAtMs < this.#monotonicOf(report.startedAtMs));
      const isExplained = report.error.reason === "no_events" ? !isSeen : this.#isDisturbed();
      if (!isExplained) this.#facts.violate(`${slug} is unknown (${report.error.reason}), and its events are stored`);
      return;
    }
    const evaluatedAtMs = Date.parse(report.result.generatedAt);
    const { windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount } = report.result
      .threshold as Readonly<Record<string, number>> as never as Thresholds;
    const windowMs = windowHours * hourMs;
    const { currentCount, baselineCount } = report.counts;
    this.#compare(
      `deaths of ${slug}`,
      currentCount,
      stored.deaths,
      [evaluatedAtMs - windowMs, evaluatedAtMs],
      evaluatedAtMs,
    );
    const baselineFromMs = evaluatedAtMs - windowMs - baselineDays * dayMs;
    this.#compare(
      `baseline of ${slug}`,
      baselineCount,
      stored.deaths,
      [baselineFromMs, evaluatedAtMs - windowMs],
      evaluatedAtMs,
    );
    const isOver = (multiplier: number): boolean =>
      (currentCount ?? 0) >= minSpikeCount &&
      (currentCount ?? 0) * baselineDays * 24 > (baselineCount ?? 0) * windowHours * multiplier;
    const severity = isOver(failMultiplier) ? "fail" : isOver(warnMultiplier) ? "warn" : "ok";
    if (report.severity !== severity)
      this.#facts.violate(`${slug} is ${report.severity} with ${currentCount} of ${baselineCount}, not ${severity}`);
    const configured = this.#facts.organizations.get(slug)?.thresholds;
    if (this.#facts.isSettled && configured !== undefined && configured.minSpikeCount !== minSpikeCount)
      this.#facts.violate(
        `${slug} is evaluated with ${minSpikeCount} as minSpikeCount, not ${configured.minSpikeCount}`,
      );
  }

  /** Deaths in (after, until]; what may be stored at that instant, and is not known to be, may count. */
  #compare(
    what: string,
    found: number | null,
    deaths: readonly Death[],
    [afterMs, untilMs]: readonly [number, number],
    evaluatedAtMs: number,
  ): void {
    const evaluatedMonotonicMs = this.#monotonicOf(evaluatedAtMs);
    let least = 0;
    let most = 0;
    for (const { atMs, count, delivery } of deaths) {
      if (atMs <= afterMs || untilMs < atMs) continue;
      if (delivery.takenAtMs < evaluatedMonotonicMs) least += count;
      if (delivery.sentAtMs <= evaluatedMonotonicMs) most += count;
    }
    if (found === null || found < least || most < found)
      this.#facts.violate(`${what} in (${iso(afterMs)}, ${iso(untilMs)}] are ${least} to ${most}, not ${found}`);
  }

  #monotonicOf(wallMs: number): number {
    return this.#facts.monotonicMs - (this.#facts.nowMs - wallMs);
  }

  #isDisturbed(): boolean {
    const { world, monotonicMs } = this.#facts;
    return monotonicMs - Math.max(world.diskFailedAtMs, world.upSinceMs ?? Infinity) < 10 * minuteMs + secondMs;
  }
}

interface Thresholds {
  readonly windowHours: number;
  readonly baselineDays: number;
  readonly warnMultiplier: number;
  readonly failMultiplier: number;
  readonly minSpikeCount: number;
}
