import { parsed } from "./plain-json.ts";

/** An event as the page docs/http.md and the contract describe it; what is absent is null. */
export interface PlainEvent {
  readonly atMs: number;
  readonly slug: string;
  readonly assetType: string | null;
  readonly asset: string | null;
  readonly status: string;
  readonly id: string | null;
  readonly count: number;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldNames = ["at", "slug", "assetType", "asset", "status", "id", "count"];
const longestLine = 64 * 1_024;
// eslint-disable-next-line no-control-regex -- that is what is looked for
const control = /[\u0000-\u001f\u007f]/;

/** Reads a file of events slowly and plainly; null when one thing about it is wrong. */
export function readPlainFile(bytes: Buffer): readonly PlainEvent[] | null {
  const text = decoded(bytes);
  if (text === null || text.trim() === "") return null;
  const first = text.trimStart()[0];
  if (first === "[") return null;
  return first === "{" ? readLines(text) : readCsv(text);
}

/** The same for a posted body. */
export function readPlainBody(bytes: Buffer): readonly PlainEvent[] | null {
  const text = decoded(bytes);
  if (text === null) return null;
  const first = /[^ \t\r\n]/.exec(text)?.[0];
  if (first === undefined) return [];
  if (first === "{") return readLines(text);
  const value = first === "[" ? parsed(text) : null;
  return Array.isArray(value) ? allOf(value.map(eventOf)) : null;
}

function decoded(bytes: Buffer): string | null {
  try {
    // Drops a byte order mark, too.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function allOf<Item>(items: readonly (Item | null)[]): readonly Item[] | null {
  return items.every((item) => item !== null) ? items : null;
}

function readLines(text: string): readonly PlainEvent[] | null {
  const lines = text.split("\n");
  if (lines.some((line) => Buffer.byteLength(line) > longestLine)) return null;
  return allOf(lines.filter((line) => line.trim() !== "").map((line) => eventOf(parsed(line.trim()))));
}

function readCsv(text: string): readonly PlainEvent[] | null {
  const records = recordsOf(text);
  const [header, ...rows] = records ?? [];
  if (header === undefined) return null;
  const columns = header.map((name) => name.replace(/^attr\..*/s, "attributes"));
  const isKnown = columns.every((name) => name === "attributes" || fieldNames.includes(name));
  if (!isKnown || new Set(header).size < header.length) return null;
  if (!columns.includes("at") || !columns.includes("slug")) return null;
  const attributes = header.filter((name) => name.startsWith("attr.")).map((name) => name.slice("attr.".length));
  if (!attributes.every(isAttributeName)) return null;
  return allOf(
    rows.map((row) => {
      if (row.length !== header.length) return null;
      const cells = row.map((cell, index): [string, string] => [header[index] ?? "", cell]);
      const own = cells.filter(([name]) => name.startsWith("attr."));
      const fields = cells.filter(([name, cell]) => !name.startsWith("attr.") && cell !== "");
      const texts = Object.fromEntries(fields);
      const { count } = texts;
      if (count !== undefined && !/^\d{1,10}$/.test(count)) return null;
      const present = own.filter(([, cell]) => cell !== "").map(([name, cell]) => [name.slice("attr.".length), cell]);
      return eventOf({
        ...texts,
        ...(count === undefined ? {} : { count: Number(count) }),
        attributes: Object.fromEntries(present) as unknown,
      });
    }),
  );
}

/** RFC 4180, character by character; null when a quote is in the wrong place or a character is none that CSV has. */
function recordsOf(text: string): string[][] | null {
  const records: string[][] = [];
  let record: string[] = [];
  let cell = "";
  let state: "start" | "plain" | "quoted" | "closed" = "start";
  let wasQuoted = false;
  let start = 0;
  let isTooLong = false;
  const endCell = (): void => {
    record.push(cell);
    cell = "";
    state = "start";
  };
  const endRecord = (end: number): void => {
    // Two more for the line's end.
    isTooLong ||= Buffer.byteLength(text.slice(start, end)) > longestLine + 2;
    start = end;
    const isBlank = record.length === 0 && cell === "" && !wasQuoted;
    endCell();
    if (!isBlank) records.push(record);
    record = [];
    wasQuoted = false;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (state === "quoted") {
      if (character === '"' && text[at + 1] === '"') {
        cell += '"';
        at++;
      } else if (character === '"') state = "closed";
      else if (control.test(character) && !/[\t\r\n]/.test(character)) return null;
      else cell += character;
      continue;
    }
    const isEnd = character === "\n" || (character === "\r" && (text[at + 1] ?? "\n") === "\n");
    if (isEnd) {
      if (character === "\r") at++;
      endRecord(at + 1);
    } else if (character === ",") endCell();
    else if (character === '"' && state === "start") {
      state = "quoted";
      wasQuoted = true;
    } else if (character === '"' || state === "closed" || control.test(character)) return null;
    else {
      cell += character;
      state = "plain";
    }
  }
  if (state === "quoted") return null;
  if (cell !== "" || record.length > 0 || wasQuoted) endRecord(text.length);
  return !isTooLong && records.every(({ length }) => length <= 64) ? records : null;
}

function isAttributeName(name: string): boolean {
  return /^[a-z][a-z0-9_]{0,63}$/.test(name);
}

/** The event that an object is; null when it is none. */
function eventOf(value: unknown): PlainEvent | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  if (!Object.keys(value).every((key) => key === "attributes" || fieldNames.includes(key))) return null;
  const { at, slug, assetType, asset, status, id, count, attributes } = value as Fields;
  const atMs = instantOf(at);
  if (atMs === null || !isText(slug) || slug === "" || slug.length > 256) return null;
  if (control.test(slug) || slug.trim() !== slug) return null;
  if (isGiven(assetType) && !(isText(assetType) && /^[A-Z0-9_]{1,64}$/.test(assetType))) return null;
  if (isGiven(status) && !(isText(status) && isStatus(status))) return null;
  if (isGiven(asset) && !(isText(asset) && asset !== "" && Buffer.byteLength(asset) <= 4_096)) return null;
  if (isText(asset) && control.test(asset.replaceAll(/[\t\r\n]/g, ""))) return null;
  if (isGiven(id) && !(isText(id) && id !== "" && Buffer.byteLength(id) <= 512 && !control.test(id))) return null;
  if (isGiven(count) && !(Number.isInteger(count) && Number(count) >= 0 && Number(count) <= 1e9)) return null;
  if (isGiven(attributes) && !areAttributes(attributes)) return null;
  return {
    atMs,
    slug,
    assetType: isText(assetType) ? assetType : null,
    asset: isText(asset) ? asset : null,
    status: isText(status) ? status : "DETECTED_AS_DEAD",
    id: isText(id) ? id : null,
    count: isGiven(count) ? Number(count) : 1,
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

function isStatus(text: string): boolean {
  return text.trim() !== "" && text.length <= 64 && !control.test(text);
}

function areAttributes(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value).filter(([, text]) => text !== null);
  return (
    Object.keys(value).every(isAttributeName) &&
    entries.length <= 16 &&
    entries.every(([, text]) => isText(text) && text !== "" && Array.from(text).length <= 256 && !control.test(text))
  );
}

/** ISO 8601 with an offset or Z, or integer milliseconds, of the years 1970 to 9999. */
export function instantOf(at: unknown): number | null {
  const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
  const inRange = (atMs: number): number | null => (atMs >= 0 && atMs <= latestMs ? atMs : null);
  if (typeof at === "number") return Number.isInteger(at) ? inRange(at) : null;
  if (typeof at !== "string") return null;
  if (/^-?\d+$/.test(at)) return inRange(Number(at));
  const shape = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?)$/;
  const [matched, date = "", hour = "", minute = "", second = "00", fraction = "", offset = "+00", minutes = "00"] =
    shape.exec(at) ?? [];
  if (matched === undefined || Number(hour) > 23 || Math.max(Number(minute), Number(second), Number(minutes)) > 59)
    return null;
  if (Math.abs(Number(offset)) > 23) return null;
  const dayMs = Date.parse(`${date}T00:00:00.000Z`);
  if (Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(date)) return null;
  const sign = offset.startsWith("-") ? -1 : 1;
  const shiftMinutes = sign * (Math.abs(Number(offset)) * 60 + Number(minutes));
  const ofDay = (Number(hour) * 60 + Number(minute) - shiftMinutes) * 60 + Number(second);
  return inRange(dayMs + ofDay * 1_000 + Number(fraction.slice(0, 3).padEnd(3, "0")));
}

/** What was stored so far: of the events of one slug with one id the first one counts. */
export class PlainStore {
  readonly #seen = new Set<string>();
  readonly #deaths = new Map<string, number>();

  /** Takes events; returns how many of them are new. */
  add(events: readonly PlainEvent[]): number {
    let stored = 0;
    for (const { slug, id, status, count } of events) {
      const key = JSON.stringify([slug, id]);
      if (id !== null && this.#seen.has(key)) continue;
      this.#seen.add(key);
      stored++;
      if (status === "DETECTED_AS_DEAD") this.#deaths.set(slug, (this.#deaths.get(slug) ?? 0) + count);
    }
    return stored;
  }

  slugs(): readonly string[] {
    return [...this.#deaths.keys()];
  }

  /** Deaths of an organization, at all times. */
  deaths(slug: string): number {
    return this.#deaths.get(slug) ?? 0;
  }
}
