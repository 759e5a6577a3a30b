import { expect } from "vitest";
import { readCsv } from "../../../src/store/events/csv.ts";
import { ItemReader, type Format } from "../../../src/store/events/items.ts";
import { readJsonArray, readNdjson } from "../../../src/store/events/json.ts";
import { plainLayout } from "../../../src/store/events/layout.ts";
import { createEventNames, type LivenessEvent } from "../../../src/store/events/rules.ts";

const formats = { csv: readCsv, ndjson: readNdjson, array: readJsonArray };

/** What came of a text. */
interface Readings {
  readonly events: LivenessEvent[];
  readonly problems: string[];
}

/** Reads a text as a file of this kind, cut into chunks at these bytes; `onRefusal` is told why a row is refused. */
export function read(
  content: string | Buffer,
  kind: keyof typeof formats,
  cuts: readonly number[] = [],
  layout = plainLayout,
  onRefusal: (refusal: string) => void = () => undefined,
): Readings {
  const readings: Readings = { events: [], problems: [] };
  const row = (event: LivenessEvent) => void readings.events.push(event);
  const format: Format = formats[kind]({ names: createEventNames(), layout, row });
  const reader = new ItemReader(format, (number, { message, refusal }) => {
    readings.problems.push(`${number}: ${message}`);
    onRefusal(refusal);
  });
  const bytes = Buffer.from(content);
  const ends = [...cuts.toSorted((a, b) => a - b), bytes.length];
  // A copy: a reader may change what it is given.
  for (const [index, end] of ends.entries()) reader.push(Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end)));
  reader.push(Buffer.alloc(0), true);
  return readings;
}

/** Reads an array of JSON in small chunks, and whole: what is read is the same. */
export function readArray(content: string | Buffer): Readings {
  const bytes = Buffer.from(content);
  const step = Math.ceil(bytes.length / 60);
  const inPieces = read(
    bytes,
    "array",
    Array.from({ length: 60 }, (_, index) => index * step),
  );
  const whole = read(bytes, "array");

  expect(inPieces).toEqual(whole);
  return whole;
}
