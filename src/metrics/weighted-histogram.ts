import type { Registry } from "prom-client";

import type { Instrument } from "./catalogue.ts";

type Labels = Readonly<Record<string, string>>;

/** What was observed under one set of labels. */
interface Observed {
  readonly labels: Labels;
  /** Observations up to each bound, not cumulated; the last one is +Inf. */
  readonly counts: number[];
  sum: number;
}

/** A histogram that takes a value many times at once: prom-client's takes 0.3 µs for each. */
export class WeightedHistogram {
  readonly #bounds: readonly number[];
  readonly #observed = new Map<string, Observed>();

  constructor({ name, help, buckets = [] }: Instrument, registry: Registry) {
    this.#bounds = buckets;
    const get = () => Promise.resolve({ name, help, type: "histogram", values: this.#values(name), aggregator: "sum" });
    // All that a registry asks of a metric.
    registry.registerMetric({ name, get } as unknown as Parameters<Registry["registerMetric"]>[0]);
  }

  /** Makes the series of these labels exist. */
  zero(labels: Labels): void {
    this.#of(labels);
  }

  observe(labels: Labels, value: number, count = 1): void {
    const observed = this.#of(labels);
    const place = this.#bounds.findIndex((bound) => value <= bound);
    const at = place === -1 ? this.#bounds.length : place;
    observed.counts[at] = (observed.counts[at] ?? 0) + count;
    observed.sum += value * count;
  }

  remove(labels: Labels): void {
    this.#observed.delete(keyOf(labels));
  }

  #of(labels: Labels): Observed {
    const key = keyOf(labels);
    let observed = this.#observed.get(key);
    if (observed === undefined) {
      observed = { labels, counts: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0 };
      this.#observed.set(key, observed);
    }
    return observed;
  }

  #values(name: string) {
    return [...this.#observed.values()].flatMap(({ labels, counts, sum }) => {
      let total = 0;
      const buckets = counts.map((count, at) => {
        total += count;
        return { metricName: `${name}_bucket`, labels: { ...labels, le: this.#bounds[at] ?? "+Inf" }, value: total };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: total },
      ];
    });
  }
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join(" ");
}
