import { isUtf8 } from "node:buffer";

import { excerpt } from "../../base/outside-text.ts";
import { memoized } from "../../base/memo.ts";
import { cutLines, type Format } from "./items.ts";
import { attributePrefix, BadRow, knownNames, targetOf, type EventLayout } from "./layout.ts";
import { eventOf, shown, type LivenessEvent, type Reading } from "./rules.ts";

const lineFeed = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/** Reads NDJSON: one event per line; blank lines and comments (#) are skipped. */
export function readNdjson(reading: Reading): Format {
  return {
    item: "line",
    cut: cutLines,
    take: (line) => {
      const text = line.trim();
      if (text !== "" && !text.startsWith("#")) reading.row(readEvent(text, reading));
    },
  };
}

/**
 * Reads a JSON array of events, one element after the other: parsed as a whole, 16 MiB of brackets would take 600 MB.
 * White space before the array is skipped.
 */
export function readJsonArray(reading: Reading): Format {
  let place: "before" | "inside" | "behind" = "before";
  let isFirst = true;
  return {
    item: "event",
    cut: (bytes, isEnd, take) => {
      let at = 0;
      if (place === "before") {
        while (isSpace(bytes[at])) at++;
        if (at === bytes.length && !isEnd) return at;
        if (bytes[at++] !== openingBracket) throw notAnArray();
        place = "inside";
      }
      while (place === "inside") {
        const end = elementEnd(bytes, at);
        if (end < 0 && isEnd) throw notAnArray();
        if (end < 0) return at;
        if (bytes[end] === closingBracket) place = "behind";
        else if (bytes[end] !== comma) throw notAnArray();
        const element = bytes.subarray(at, end);
        at = end + 1;
        if (place === "inside" || !isFirst || !element.every(isSpace))
          take(isUtf8(element) ? element.toString() : null);
        isFirst = false;
      }
      if (!bytes.subarray(at).every(isSpace)) throw notAnArray();
      return bytes.length;
    },
    take: (element) => reading.row(readEvent(element, reading)),
  };
}

function notAnArray(): BadRow {
  return new BadRow("is not a valid JSON array").at(1).ending();
}

/** Returns the position of the comma or bracket that ends the element at `start`; -1 if it is not in `bytes` yet. */
function elementEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  let isText = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === openingBracket || byte === openingBrace) depth++;
    else if (byte === closingBracket || byte === closingBrace) {
      if (depth === 0) return at;
      depth--;
    } else if (byte === comma && depth === 0) return at;
  }
  return -1;
}

/** Returns whether a byte is white space of JSON, which is what an input may begin with. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === lineFeed || byte === 0x0d;
}

/** Reads the JSON of an event. null is an absent field. @throws BadRow */
function readEvent(text: string, reading: Reading): LivenessEvent {
  const { layout } = reading;
  const value = parse(text);
  if (!isObject(value)) throw new BadRow("is not a JSON object");
  const attributes: (readonly [name: string, value: unknown])[] = [...layout.setAttributes];
  const given: Record<string, unknown> = { ...layout.set };
  const own: readonly Entry[] = Object.entries(value);
  const entries = outersOf(layout.targets).size === 0 ? own : entriesOf(value, layout);
  const list = own.find(([, its]) => Array.isArray(its) && its.some(isObject));
  if (list !== undefined && !layout.ignored.has(list[0]) && !hasFields(entries, layout))
    throw new BadRow(`has its events within an object: jq -c '.[${excerpt(list[0])}][]' writes one a line`).ending();
  for (const [key, its] of entries) {
    const isOurs = (key === "number" && layout.hasNumbers) || (key === "attributes" && !layout.ignored.has(key));
    const target = isOurs ? key : targetOf(key, layout);
    if (target === null || its === null) continue;
    if (target === undefined)
      throw new BadRow(`unknown field ${excerpt(key)}; the fields are ${knownNames(layout, "attributes")}`);
    if (target === "attributes") {
      if (typeof its !== "object" || Array.isArray(its)) throw new BadRow(`attributes ${shown(its)} is not an object`);
      attributes.push(...Object.entries(its));
    } else if (target.startsWith(attributePrefix)) {
      const plain = typeof its === "number" || typeof its === "boolean" ? String(its) : its;
      if (plain !== "") attributes.push([target.slice(attributePrefix.length), plain]);
    } else given[target] = its;
  }
  return eventOf(reading, { ...given, attributes });
}

type Entry = readonly [name: string, value: unknown];

/** Whether an event has fields here. `count` is none of them: an object around a list of events often says theirs. */
function hasFields(entries: readonly Entry[], layout: EventLayout): boolean {
  const isField = (key: string): boolean => key === "attributes" || Boolean(targetOf(key, layout));
  return layout.set.at !== undefined || entries.some(([key]) => key !== "count" && isField(key));
}

// A process reads few inputs at once, and all events of one have the same layout.
const cachedLayouts = 8;
/** Returns the names of objects with named values: of `a.b.c`, `a` and `a.b`. */
const outersOf = memoized(
  cachedLayouts,
  (targets: EventLayout["targets"]): ReadonlySet<string> =>
    new Set(
      [...targets.keys()].flatMap((name) => Array.from(name.matchAll(/\./g), ({ index }) => name.slice(0, index))),
    ),
);

/**
 * Returns the entries of an object; of an object within it `outer.inner`, where the layout has names below `outer`.
 * What the layout does not name of `attributes` stays there.
 */
function entriesOf(value: object, layout: EventLayout, within = ""): Entry[] {
  return Object.entries(value).flatMap(([key, its]: [string, unknown]): Entry[] => {
    const name = `${within}${key}`;
    if (!isObject(its) || !outersOf(layout.targets).has(name)) return [[name, its]];
    const inner = entriesOf(its, layout, `${name}.`);
    if (name !== "attributes") return inner;
    const isNamed = ([path]: Entry): boolean => targetOf(path, layout) !== undefined;
    const others = inner.filter((entry) => !isNamed(entry));
    const rest = Object.fromEntries(others.map(([path, inside]) => [path.slice("attributes.".length), inside]));
    return [...inner.filter(isNamed), ["attributes", rest]];
  });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRow(
      `is not valid JSON${text === "{" ? ": an object over several lines? jq -c . writes it on one" : ""}`,
    );
  }
}
