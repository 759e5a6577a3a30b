import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";

import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";

export interface EventDataOptions {
  readonly folder: string;
  readonly events: number;
  readonly organizations: number;
  readonly days: number;
  /** No event is later; epoch ms. */
  readonly endMs: number;
  readonly seed: number;
  readonly withIds: boolean;
}

export interface EventFiles {
  /** As flatline imports it (CONTRACT 10). */
  readonly csv: string;
  /** The same rows as whole numbers, at_ms,slug_id,type_id, for who has dictionaries of its own. */
  readonly numbers: string;
}

/** What the platform's records show, roughly in their shares. */
export const assetTypes = ["URL", "TELEGRAM", "TWITTER", "EMAIL", "FACEBOOK", "INSTAGRAM"] as const;
const typeShares = [0.55, 0.2, 0.1, 0.08, 0.05, 0.02];

// One in fifty comes hours or days after it happened.
const lateShare = 0.02;
const latestByMs = 3 * dayMs;

export function slugOf(organization: number): string {
  return `org-${String(organization).padStart(5, "0")}`;
}

/**
 * Writes deaths in the order in which they come in, the same for the same options: organizations by Zipf's law, the hours of
 * the day not alike, some of them late.
 */
export async function writeEvents(options: EventDataOptions): Promise<EventFiles> {
  const { folder, events, organizations, days, endMs, withIds } = options;
  const files = { csv: join(folder, "events.csv"), numbers: join(folder, "numbers.csv") };
  const random = mulberry32(options.seed);
  const organizationOf = shares(Array.from({ length: organizations }, (_, rank) => 1 / (rank + 1)));
  const typeOf = shares(typeShares);
  const csv = createWriteStream(files.csv);
  const numbers = createWriteStream(files.numbers);
  csv.write(`at,slug,assetType,asset${withIds ? ",id" : ""}\n`);
  const stepMs = (days * dayMs) / events;
  const rowsAWrite = 10_000;
  for (let start = 0; start < events; start += rowsAWrite) {
    let text = "";
    let digits = "";
    for (let index = start; index < Math.min(start + rowsAWrite, events); index++) {
      const organization = organizationOf(random());
      const type = typeOf(random());
      const comesAtMs = endMs - days * dayMs + (index + 1) * stepMs;
      // More by day than by night: moved by up to an hour and a half within the day.
      const byDayMs = Math.sin((comesAtMs % dayMs) / (dayMs / (2 * Math.PI))) * 1.5 * hourMs;
      const lateMs = random() < lateShare ? random() * latestByMs : random() * minuteMs;
      const atMs = Math.min(Math.max(Math.floor(comesAtMs + byDayMs - lateMs), 0), endMs);
      const asset = Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, "0");
      text += `${atMs},${slugOf(organization)},${assetTypes[type]},${asset}${withIds ? `,ev-${index}-${asset}` : ""}\n`;
      digits += `${atMs},${organization},${type}\n`;
    }
    if (!csv.write(text)) await once(csv, "drain");
    if (!numbers.write(digits)) await once(numbers, "drain");
  }
  for (const stream of [csv, numbers]) {
    stream.end();
    await once(stream, "close");
  }
  return files;
}

/** Which of the shares a number from 0 to 1 falls into. */
function shares(weights: readonly number[]): (random: number) => number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const ends = Float64Array.from(weights, (weight) => (sum += weight) / total);
  return (random) => {
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? 1) <= random) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** A small generator of numbers from 0 to 1 that a seed decides. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
