import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oddJson } from "../../../test/support/odd-input.ts";
import { death, toCsv, toNdjson } from "../../../test/support/store/event-store.ts";
import type { LivenessEvent } from "./rules.ts";
import { read, readArray } from "../../../test/support/store/event-reading.ts";

const atMs = Date.UTC(2026, 0, 15, 12);
const at = "2026-01-15T12:00:00Z";
const good = JSON.stringify({ at, slug: "good" });

describe("CSV that is read", () => {
  it.each([
    ["only at and slug", `at,slug\n${at},acme\n`, [death(atMs, "acme")]],
    ["no line break at the end", `at,slug\n${at},acme`, [death(atMs, "acme")]],
    ["CRLF", `at,slug\r\n${at},acme\r\n`, [death(atMs, "acme")]],
    ["CRLF after a quote", `at,slug\r\n${at},"acme"\r\n${at},"b"\r\n`, [death(atMs, "acme"), death(atMs, "b")]],
    ["a header alone", "at,slug\n", []],
    ["epoch ms", `at,slug\n${atMs},acme\n`, [death(atMs, "acme")]],
    ["empty cells", `at,slug,assetType,asset,status,id,count\n${at},acme,,,,,\n`, [death(atMs, "acme")]],
    ["a comma in quotes", `at,slug,asset\n${at},acme,"a,b"\n`, [death(atMs, "acme", { asset: "a,b" })]],
    [
      "a line break in quotes",
      `at,slug,asset\n${at},acme,"a\r\nb\tc"\n`,
      [death(atMs, "acme", { asset: "a\r\nb\tc" })],
    ],
    ["doubled quotes", `at,slug,asset\n${at},acme,"say ""x"""\n`, [death(atMs, "acme", { asset: 'say "x"' })]],
    ["a type that nobody knows yet", `at,slug,assetType\n${at},a,X_2\n`, [death(atMs, "a", { assetType: "X_2" })]],
    ["a status of words", `at,slug,status\n${at},a,is-gone (404)\n`, [death(atMs, "a", { status: "is-gone (404)" })]],
    ["the largest count", `at,slug,count\n${at},a,1000000000\n`, [death(atMs, "a", { count: 1_000_000_000 })]],
    ["a bucket in which nothing happened", `at,slug,count\n${at},a,0\n`, [death(atMs, "a", { count: 0 })]],
  ])("%s", (_, text, events) => {
    expect(read(text, "csv")).toEqual({ events, problems: [] });
  });
});

describe("CSV that is refused", () => {
  it.each([
    ["nothing", "", "1: has no header (at,slug,…)"],
    ["an unknown column", "at,slug,assettype\n", '1: unknown column "assettype"; the columns are at, slug, assetType'],
    ["a column twice", "at,slug,at\n", "1: column at is there twice"],
    ["semicolons", "at;slug;asset\n", '1: separates its columns by ";"; write them with commas'],
    ["tabs", "at\tslug\tasset\n", "1: separates its columns by tabs; write them with commas"],
    ["no column at", "slug,id\n", "1: column at is missing"],
    ["too many fields", `at,slug\n${at},acme,1\n`, "2: has 3 fields, the header has 2"],
    ["a hundred fields", `at,slug\n${",".repeat(99)}\n`, "2: has more than 64 fields"],
    ["no instant", "at,slug\n,acme\n", "2: at is missing"],
    ["no offset", "at,slug\n2026-02-03T00:00:00,a\n", '2: at "2026-02-03T00:00:00" has no offset'],
    ["no slug", `at,slug\n${at},\n`, "2: slug is missing"],
    ["a long slug", `at,slug\n${at},${"x".repeat(257)}\n`, "2: slug is longer than 256 characters"],
    ["a slug with spaces around", `at,slug\n${at}, acme\n`, '2: slug " acme" begins or ends with a space'],
    [
      "a type in lower case",
      `at,slug,assetType\n${at},a,url\n`,
      '2: assetType "url" is not 1 to 64 upper-case letters',
    ],
    ["a long asset", `at,slug,asset\n${at},a,${"x".repeat(4_097)}\n`, "2: asset is longer than 4096 bytes"],
    ["a count with a fraction", `at,slug,count\n${at},a,1.0\n`, '2: count "1.0"'],
    ["a quote inside a field", `at,slug\n${at},ac"me\n`, "2: has a quote inside an unquoted field"],
    ["text behind a quote", `at,slug\n${at},"ac"me\n`, "2: has text after a closing quote"],
    ["an open quote", `at,slug\n${at},"acme\n`, "2: has a quote that is never closed"],
    ["a status of spaces", `at,slug,status\n${at},a,"  "\n`, '2: status "  " is not a name of 1 to 64 characters'],
    ["a status with spaces around", `at,slug,status\n${at},a,SEEN \n`, '2: status "SEEN " begins or ends with a space'],
    ["a quote left open over a long text", `at,slug\n${at},"${"x".repeat(70_000)}`, "2: is longer than 65536 bytes"],
    [
      "lines without end in a quote",
      `at,slug\n${at},"${"x\n".repeat(40_000)}`,
      "2: is longer than 65536 bytes (is a quote left open?)",
    ],
    ["a line break in a slug", `at,slug\n${at},"x\ny"\n`, "2: slug has a control character"],
    ["a carriage return inside", `at,slug\n${at},ac\rme\n`, "2: slug has a control character"],
    ["a line break in an id", `at,slug,id\n${at},a,"x\ny"\n`, "2: id has a control character"],
    ["a line without end", `at,slug\n${"x".repeat(70_000)}`, "2: is longer than 65536 bytes"],
  ])("%s", (_, text, problem) => {
    const { problems } = read(text, "csv");

    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ["with a long element", `[${good},{"at":1,${" ".repeat(70_000)}"slug":"a"}]`],
    ["whose second element never ends", `[${good},[${"[],".repeat(50_000)}`],
  ])("a body %s", (_, text) => {
    expect(readArray(text).problems).toEqual(["2: is longer than 65536 bytes"]);
  });

  it("for bytes that are not UTF-8", () => {
    const bytes = Buffer.from(`at,slug,asset\n${at},a,x\n`);
    bytes[bytes.length - 2] = 0xff;

    expect(read(bytes, "csv")).toEqual({ events: [], problems: ["2: is not valid UTF-8"] });
  });

  it("line by line: the lines after a bad one are read, and named by their own numbers", () => {
    const text = `at,slug,asset\n${at},,"1\n2"\n${at},b,x\n${at},,y\n`;

    expect(read(text, "csv")).toEqual({
      events: [death(atMs, "b", { asset: "x" })],
      problems: ["2: slug is missing", "5: slug is missing"],
    });
  });
});

describe("JSON that is read", () => {
  it.each([
    ["only at and slug", { at, slug: "acme" }, death(atMs, "acme")],
    ["epoch ms", { at: atMs, slug: "acme" }, death(atMs, "acme")],
    ["epoch ms as a string", { at: String(atMs), slug: "acme" }, death(atMs, "acme")],
    [
      "every field",
      { at, slug: "a", assetType: "URL", asset: "x", status: "S", id: "7", count: 2 },
      death(atMs, "a", { assetType: "URL", asset: "x", status: "S", id: "7", count: 2 }),
    ],
    [
      "null as absent",
      { at, slug: "a", assetType: null, asset: null, status: null, id: null, count: null },
      death(atMs, "a"),
    ],
    ["an asset of two lines", { at, slug: "a", asset: "x\n\ty" }, death(atMs, "a", { asset: "x\n\ty" })],
  ])("%s", (_, value, event) => {
    expect(read(`\n${JSON.stringify(value)}\r\n  \n`, "ndjson")).toEqual({ events: [event], problems: [] });
    expect(readArray(JSON.stringify([value]))).toEqual({ events: [event], problems: [] });
  });
});

it("an array without events is none", () => {
  expect(readArray(" [] ")).toEqual({ events: [], problems: [] });
});

describe("JSON that is refused", () => {
  it.each<[string, unknown, string]>([
    ["a list", [1], "is not a JSON object"],
    ["a status that is an object", { at, slug: "a", status: {} }, "status {…} is not a string"],
    ["an asset with a control character", { at, slug: "a", asset: "\u0000" }, "asset has a control character"],
    ["an unknown field", { at, slug: "a", type: "URL" }, 'unknown field "type"; the fields are at, slug, assetType'],
    ["no at", { slug: "a" }, "at is missing"],
    ["a fraction of ms", { at: 1.5, slug: "a" }, "at 1.5 is not a whole number of milliseconds since 1970"],
    ["after 9999", { at: 253_402_300_800_000, slug: "a" }, "at 253402300800000 is not between 1970 and 9999"],
    ["a slug that is a number", { at, slug: 5 }, "slug 5 is not a string"],
    ["a slug of half a character", { at, slug: "a\ud800" }, "slug is not valid Unicode"],
    ["an empty type", { at, slug: "a", assetType: "" }, 'assetType "" is not 1 to 64'],
    ["an empty id", { at, slug: "a", id: "" }, "id is empty; leave it out instead"],
    ["a count that is another text", { at, slug: "a", count: "5x" }, 'count "5x" is not a whole number'],
    ["a count with a fraction", { at, slug: "a", count: 1.5 }, "count 1.5 is not a whole number"],
    [
      "a count that is too large",
      { at, slug: "a", count: 1e9 + 1 },
      "count 1000000001 is not a whole number up to 1000000000",
    ],
  ])("%s", (_, value, reason) => {
    expect(readArray(`[${good},${JSON.stringify(value)}]`).problems).toEqual([expect.stringContaining(`2: ${reason}`)]);
    expect(read(`${good}\n${JSON.stringify(value)}\n`, "ndjson").problems).toEqual([
      expect.stringContaining(`2: ${reason}`),
    ]);
  });

  it.each([
    ["half an object", `{"at":${atMs},`, "1: is not valid JSON"],
    ["two objects on a line", `{"at":1,"slug":"a"} {"at":1,"slug":"a"}`, "1: is not valid JSON"],
    ["a long line that ends", `{"at":1,${" ".repeat(70_000)}"slug":"a"}\n`, "1: is longer than 65536 bytes"],
    [
      "a value that nests more deeply than its text can be written",
      `{"at":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
      "1: at […] is neither a string nor a number",
    ],
  ])("NDJSON with %s", (_, text, problem) => {
    expect(read(text, "ndjson").problems).toEqual([problem]);
  });

  it.each([
    ["an array left open", `[{"at":1,"slug":"a"}`, "1: is not a valid JSON array"],
    ["text behind the array", `[] x`, "1: is not a valid JSON array"],
    ["a comma before the end", `[{"at":1,"slug":"a"},]`, "2: is not valid JSON"],
    ["another bracket at the end", `[{"at":1,"slug":"a"}}`, "1: is not a valid JSON array"],
    ["no comma between two events", `[{"at":1,"slug":"a"} {"at":1,"slug":"a"}]`, "1: is not valid JSON"],
    ["a comment in place of an event", `[# {}]`, "1: is not valid JSON"],
  ])("a body with %s", (_, text, problem) => {
    expect(readArray(text).problems).toEqual([problem]);
  });

  it("for bytes that are not UTF-8", () => {
    const bytes = Buffer.from('{"at":1,"slug":"ü"}\n');
    bytes[bytes.indexOf(0xc3)] = 0x20;

    expect(read(bytes, "ndjson").problems).toEqual(["1: is not valid UTF-8"]);
    expect(readArray(Buffer.concat([Buffer.from("["), bytes, Buffer.from("]")])).problems).toHaveLength(1);
  });
});

const text = fc
  .string({ unit: "grapheme", maxLength: 12 })
  // Both formats refuse control characters and halves of characters.
  // eslint-disable-next-line no-control-regex -- that is what is left out
  .filter((value) => !/[\u0000-\u001f\u007f]/.test(value) && value.isWellFormed());
const event: fc.Arbitrary<LivenessEvent> = fc.record({
  atMs: fc.integer({ min: 0, max: 253_402_300_799_999 }),
  slug: text.filter((value) => value !== "" && value.trim() === value),
  assetType: fc.option(fc.stringMatching(/^[A-Z0-9_]{1,64}$/)),
  asset: fc.option(text.filter((value) => value !== "")),
  status: fc.stringMatching(/^[A-Za-z0-9_]{1,64}$/),
  id: fc.option(text.filter((value) => value !== "")),
  count: fc.integer({ min: 0, max: 1_000_000_000 }),
});

const longText = "é".repeat(256);

describe("attributes that are read", () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ["several, in the order of their names", { checker: "dns-2", reason: "time,out", region: 'eu "west"' }],
    ["the longest value", { reason: longText }],
    ["sixteen", Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`a${index}`, "x"]))],
  ])("%s, the same from CSV, NDJSON and JSON", (_, attributes) => {
    const expected = [death(atMs, "acme", { attributes })];
    const names = Object.keys(attributes).toReversed();
    const cells = names.map((name) => `"${(attributes[name] ?? "").replaceAll('"', '""')}"`);
    const csv = `at,${names.map((name) => `attr.${name}`).join(",")},slug\n${at},${cells.join(",")},acme\n`;
    const json = JSON.stringify({ at, slug: "acme", attributes: { ...attributes, absent: null } });

    expect(read(csv, "csv")).toEqual({ events: expected, problems: [] });
    expect(read(json, "ndjson")).toEqual({ events: expected, problems: [] });
    expect(readArray(`[${json}]`)).toEqual({ events: expected, problems: [] });
  });

  it.each([
    ["null", null],
    ["none", {}],
  ])("%s: an event without attributes", (_, attributes) => {
    expect(read(JSON.stringify({ at, slug: "acme", attributes }), "ndjson").events).toEqual([death(atMs, "acme")]);
  });
});

describe("attributes that are refused", () => {
  it.each<[string, unknown, string]>([
    ["a list", ["x"], "attributes […] is not an object"],
    ["a number", { port: 443 }, "attribute port 443 is not a string"],
    ["an upper-case name", { Reason: "x" }, 'attribute "Reason" is not a lower-case name'],
    ["a name of 65 characters", { ["a".repeat(65)]: "x" }, "is not a lower-case name of 1 to 64"],
    ["an empty value", { reason: "" }, "attribute reason is empty"],
    ["a value of 257 characters", { reason: `${longText}a` }, "attribute reason is longer than 256 characters"],
    ["a line break", { reason: "a\nb" }, "attribute reason has a control character"],
    ["seventeen", Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i}`, "x"])), "more than 16 attributes"],
  ])("%s", (_, attributes, reason) => {
    const { events, problems } = read(JSON.stringify({ at, slug: "acme", attributes }), "ndjson");

    expect(events).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    ["an upper-case column", `at,slug,attr.Reason\n`, 'column "attr.Reason": attribute "Reason" is not a lower-case'],
    ["a column twice", `at,slug,attr.a,attr.a\n`, "column attr.a is there twice"],
  ])("%s", (_, content, reason) => {
    expect(read(content, "csv").problems).toEqual([expect.stringContaining(reason)]);
  });
});

describe("any events, written and read again, wherever the chunks are cut", () => {
  const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 6 });

  it("as CSV", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), cuts, fc.boolean(), (events, cuts, isCrlf) => {
        const csv = isCrlf ? toCsv(events).replaceAll("\n", "\r\n") : toCsv(events);

        expect(read(csv, "csv", cuts)).toEqual({ events, problems: [] });
      }),
    );
  });

  it("as NDJSON and as a JSON array", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), cuts, (events, cuts) => {
        const ndjson = toNdjson(events);

        expect(read(ndjson, "ndjson", cuts)).toEqual({ events, problems: [] });
        expect(readArray(`[${ndjson.trim().replaceAll("\n", ",")}]`)).toEqual({ events, problems: [] });
      }),
    );
  });

  it("refuses or reads any text, but never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), cuts, (text, cuts) => {
        for (const content of [text, `at,slug\n${text}`, gzipSync(text)]) {
          expect(read(content, "csv", cuts)).toEqual(read(content, "csv"));
          expect(read(content, "ndjson", cuts)).toEqual(read(content, "ndjson"));
        }
      }),
    );
  });

  it("are within the bounds, and read the same again, whatever a line says", () => {
    const line = { at, slug: "acme", id: "e-1", assetType: "URL", asset: "https://a.example/?x=1,2", count: 3 };
    fc.assert(
      fc.property(oddJson([line, { ...line, at: atMs, attributes: { checker: "eu-2" } }]), (value) => {
        const { events, problems } = read(`${JSON.stringify(value)}\n`, "ndjson");

        expect(events.length + problems.length).toBe(1);
        expect(read(toNdjson(events), "ndjson")).toEqual({ events, problems: [] });
        for (const { atMs, slug, count } of events) {
          expect(new Date(atMs).toISOString()).toMatch(/^\d{4}-/);
          expect(slug.trim().length * Number(Number.isSafeInteger(count) && count >= 0)).toBeGreaterThan(0);
        }
      }),
      { numRuns: 300 },
    );
  });
});
