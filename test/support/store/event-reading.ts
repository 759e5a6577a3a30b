import { expect } from "vitest";
import { CsvParser } from "../../../src/store/events/csv.ts";
import type { LivenessEvent } from "../../../src/store/events/rules.ts";
import { JsonArrayParser, NdjsonParser } from "../../../src/store/events/json.ts";
import { LineReader } from "../../../src/store/events/read.ts";
import { plainLayout } from "../../../src/store/events/layout.ts";
import { createEventNames, type EventNames, type RowSink } from "../../../src/store/events/rules.ts";

/** What came of a text. */
interface Reading {
  readonly events: LivenessEvent[];
  readonly problems: string[];
}

/** Creates what a parser gives its rows to. */
export function createSink(): { readonly names: EventNames; readonly sink: RowSink; readonly reading: Reading } {
  const names = createEventNames();
  const reading: Reading = { events: [], problems: [] };
  const sink: RowSink = {
    row: (event) => void reading.events.push(event),
    problem: (line, reason) => reading.problems.push(`${line}: ${reason}`),
  };
  return { names, sink, reading };
}

/** Reads a text as a file of this kind, cut into chunks at these bytes. */
export function read(
  content: string | Buffer,
  kind: "csv" | "ndjson",
  cuts: readonly number[] = [],
  layout = plainLayout,
): Reading {
  const { names, sink, reading } = createSink();
  const parser = new LineReader(
    kind === "csv" ? new CsvParser(names, sink, layout) : new NdjsonParser(names, sink, layout),
  );
  const bytes = Buffer.from(content);
  let start = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    // A copy: a parser may change what it is given.
    parser.push(Buffer.from(bytes.subarray(start, Math.min(cut, bytes.length))));
    start = Math.min(cut, bytes.length);
  }
  parser.push(Buffer.from(bytes.subarray(start)));
  parser.end();
  return reading;
}

/** Reads an array of JSON in small chunks, and whole: what is read is the same. */
export function readArray(content: string | Buffer): Reading {
  const bytes = Buffer.from(content);
  const readings = [bytes.length, Math.ceil(bytes.length / 60)].map((chunkBytes) => {
    const { names, sink, reading } = createSink();
    const parser = new JsonArrayParser(names, sink, plainLayout);
    for (let at = 0; at < bytes.length; at += chunkBytes) parser.push(bytes.subarray(at, at + chunkBytes));
    parser.end();
    return reading;
  });
  const [whole = { events: [], problems: [] }, inPieces] = readings;

  expect(inPieces).toEqual(whole);
  return whole;
}
