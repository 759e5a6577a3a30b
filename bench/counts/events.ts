import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";

import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";
import { createChance } from "../../test/simulation/chance.ts";

/** Organizations that have events, and over how many days. */
export const [organizations, days] = [1_000, 30];
const seed = 7;
// What the platform's records show, roughly in their shares.
const assetTypes = { URL: 0.55, TELEGRAM: 0.2, TWITTER: 0.1, EMAIL: 0.08, FACEBOOK: 0.05, INSTAGRAM: 0.02 };
// One in fifty comes hours or days after it happened.
const lateShare = 0.02;
const latestByMs = 3 * dayMs;

export function slugOf(organization: number): string {
  return `org-${String(organization).padStart(5, "0")}`;
}

/** What is written; no event is later than `endMs`. */
export interface EventOptions {
  readonly folder: string;
  readonly events: number;
  readonly endMs: number;
  readonly withIds: boolean;
}

/**
 * Writes deaths in the order in which they come in, the same for the same options: organizations by Zipf's law, the
 * hours of the day not alike, some of them late. `csv` is as flatline imports it (CONTRACT 10); `numbers` has the same
 * rows as whole numbers, at_ms,slug_id,type_id, for who has dictionaries of its own.
 */
export async function writeEvents({ folder, events, endMs, withIds }: EventOptions) {
  const files = { csv: join(folder, "events.csv"), numbers: join(folder, "numbers.csv") };
  const chance = createChance(seed);
  const random = (): number => chance.next();
  const organizationOf = shares(Array.from({ length: organizations }, (_, rank) => 1 / (rank + 1)));
  const types = Object.keys(assetTypes);
  const typeOf = shares(Object.values(assetTypes));
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
      text += `${atMs},${slugOf(organization)},${types[type]},${asset}${withIds ? `,ev-${index}-${asset}` : ""}\n`;
      digits += `${atMs},${organization},${type}\n`;
    }
    if (!csv.write(text)) await once(csv, "drain");
    if (!numbers.write(digits)) await once(numbers, "drain");
  }
  for (const stream of [csv, numbers]) await once(stream.end(), "close");
  return files;
}

/** Which of the shares a number from 0 to 1 falls into. */
function shares(weights: readonly number[]): (random: number) => number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const ends = weights.map((weight) => (sum += weight) / total);
  return (random) => {
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? 1) <= random) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
