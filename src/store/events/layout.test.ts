import { describe, expect, it } from "vitest";
import { timezoneOf } from "../../base/timezone.ts";
import { death } from "../../../test/support/store/event-store.ts";
import type { Refusal } from "../../contract/refusals.ts";
import { plainLayout, usualTimes, type EventLayout } from "./layout.ts";
import { read } from "../../../test/support/store/event-reading.ts";

const atMs = Date.UTC(2026, 0, 15, 12);
const at = "2026-01-15T12:00:00Z";

describe("names and times of the input's own", () => {
  const layout: EventLayout = {
    ...plainLayout,
    targets: new Map([
      ["when", "at"],
      ["slug", "slug"],
      ["id", "asset"],
    ]),
    timezone: timezoneOf("Europe/Berlin"),
  };

  it.each([
    ["in winter", "2026-01-15 12:00", Date.UTC(2026, 0, 15, 11)],
    ["in summer", "2026-07-15T12:00:00.250", Date.UTC(2026, 6, 15, 10, 0, 0, 250)],
    ["that comes twice, the first time", "2026-10-25 02:30", Date.UTC(2026, 9, 25, 0, 30)],
    ["after the skipped hour", "2026-03-29 03:00", Date.UTC(2026, 2, 29, 1)],
    ["with an offset of its own", "2026-07-15T12:00:00-04:00", Date.UTC(2026, 6, 15, 16)],
    ["as epoch ms", "1768478400000", Date.UTC(2026, 0, 15, 12)],
  ])("a time %s", (_, text, atMs) => {
    const events = [death(atMs, "acme", { asset: "x" })];

    expect(read(`id,when,slug\nx,${text},acme\n`, "csv", [], layout)).toEqual({ events, problems: [] });
    const line = JSON.stringify({ id: "x", when: text, slug: "acme", status: undefined });
    expect(read(line, "ndjson", [], layout)).toEqual({ events, problems: [] });
  });

  it.each([
    [
      "a time that the clocks skip",
      "when,slug,id\n2026-03-29T02:30:00,a,x\n",
      '2: at "2026-03-29T02:30:00" does not exist in Europe/Berlin, whose clocks skip it; ' +
        "write its offset, or name another timezone",
    ],
    [
      "a time of another format, and say what is read in a timezone",
      "when,slug,id\n07.10.2026 03:30:53,a,x\n",
      '2: at "07.10.2026 03:30:53" is neither ISO 8601 (2026-01-31 14:05:09) nor integer epoch ms',
    ],
    ["a column that was named and is not there", "when,slug\n", "1: column id is missing, which --map names as asset"],
    [
      "a field by its own name",
      "at,slug,id\n",
      '1: unknown column "at"; the columns are when (field at), slug, id (field asset), attr.NAME',
    ],
  ])("refuse %s", (_, text, problem) => {
    expect(read(text, "csv", [], layout).problems).toEqual([problem]);
  });

  it("refuse a key by the field's own name", () => {
    const { problems } = read('{"at":0,"slug":"a"}', "ndjson", [], layout);

    expect(problems).toEqual([
      '1: unknown field "at"; the fields are when (field at), slug, id (field asset), attributes',
    ]);
  });
});

describe("files of others", () => {
  const foreign: EventLayout = {
    ...plainLayout,
    targets: new Map([
      ["dateadded", "at"],
      ["url", "asset"],
      ["threat", "attr.threat"],
      ["state", "status"],
    ]),
    ignored: new Set(["*"]),
    set: { slug: "acme" },
    setAttributes: [["feed", "one"]],
    statuses: new Map([
      ["offline", "DETECTED_AS_DEAD"],
      ["true", "SEEN"],
    ]),
  };
  const attributes = { feed: "one", threat: "elf" };
  const dead = death(atMs, "acme", { asset: "x", attributes });

  it.each([
    ["a header in the last comment", `# a "feed"\n#\n# id,dateadded,url,state,threat\r\n`, "\n# 1 entries, all\n"],
    ["comments before the header", "# a, b\nid,dateadded,url,state,threat\n", ""],
    ["the first line of a spreadsheet", "sep=,\nid,dateadded,url,state,threat\n", ""],
  ])("CSV with %s", (_, head, foot) => {
    expect(read(`${head}"1","${at}","x","offline","elf"${foot}`, "csv", [], foreign)).toEqual({
      events: [dead],
      problems: [],
    });
  });

  it("CSV with an event that begins like a comment", () => {
    expect(read(`slug,at\n#a,${at}\n# a comment\n`, "csv")).toEqual({ events: [death(atMs, "#a")], problems: [] });
  });

  it("JSON with numbers as text, comments, and a status that is no text", () => {
    const line = { dateadded: at, url: "x", state: "offline", threat: "elf", tags: ["a"], count: "1" };
    const seen = { ...line, state: true, threat: 7 };

    expect(read(`# a feed\n${JSON.stringify(line)}\n${JSON.stringify(seen)}`, "ndjson", [], foreign)).toEqual({
      events: [dead, { ...dead, status: "SEEN", attributes: { ...attributes, threat: "7" } }],
      problems: [],
    });
  });

  it("with seconds, where that is said", () => {
    const layout = { ...plainLayout, hasSeconds: true };

    expect(read(`at,slug\n${atMs / 1_000},acme\n`, "csv", [], layout).events).toEqual([death(atMs, "acme")]);
    expect(read(`{"at":${atMs / 1_000},"slug":"acme"}`, "ndjson", [], layout).events).toEqual([death(atMs, "acme")]);
  });
});

describe("times that cannot be right", () => {
  const nowMs = atMs;
  it.each<[string, Refusal, string]>([
    ["1768471201", "seconds", "is 1970-01-21T11:14:31.201Z, before 2000: seconds in place of milliseconds?"],
    ["20260115", "date_as_number", "is 1970-01-01T05:37:40.115Z, before 2000: a date as a number?"],
    ["202601151200", "date_as_number", "before 2000: a date as a number?"],
    ["20260115120000", "date_as_number", "in the future: a date as a number?"],
    ["1768471201000000", "microseconds", "is not between 1970 and 9999: micro- or nanoseconds"],
    ["1768471201000000000", "microseconds", "is not between 1970 and 9999: micro- or nanoseconds"],
    ["46037", "days", "days of a spreadsheet?"],
    ["20468", "days", "days since 1970?"],
    ["0", "null_time", "a time that nobody knows?"],
    ["1970-01-01T00:00:00Z", "null_time", "a time that nobody knows?"],
    ["0000-00-00 00:00:00", "null_time", "at is 0000-00-00 00:00:00, which stands for no time"],
    ["0001-01-01T00:00:00Z", "null_time", "which stands for no time"],
    ["1899-12-30 00:00:00", "null_time", "which stands for no time"],
    ["NULL", "null_time", "at is NULL, which stands for no time"],
    ["1970-01-21T11:14:31Z", "seconds", "seconds that were taken for milliseconds"],
    ["1999-12-31T23:59:59.999Z", "before_2000", "is 1999-12-31T23:59:59.999Z, before 2000"],
    ["2026-01-15T13:00:00Z", "local_time", "in the future: a local time that was written as UTC, or a clock"],
    ["2026-02-15T13:00:00Z", "future", "is 2026-02-15T13:00:00.000Z, in the future"],
  ])("%s: %s", (text, refusal, reason) => {
    const refused: string[] = [];
    const layout = { ...plainLayout, times: usualTimes(nowMs) };

    const readings = read(`at,slug\n"${text}",acme\n`, "csv", [], layout, (why) => void refused.push(why));

    expect(readings).toEqual({ events: [], problems: [expect.stringContaining(reason)] });
    expect(refused).toEqual([refusal]);
  });

  it("end ten minutes ahead of the clock, or never", () => {
    const text = (ms: number): string => `at,slug\n${new Date(ms).toISOString()},acme\n`;
    const count = (ms: number, times: EventLayout["times"]): number =>
      read(text(ms), "csv", [], { ...plainLayout, times }).events.length;

    expect(count(nowMs + 600_000, usualTimes(nowMs))).toBe(1);
    expect(count(nowMs + 600_001, usualTimes(nowMs))).toBe(0);
    expect(count(nowMs + 600_001, usualTimes(nowMs, true))).toBe(1);
    expect(count(Date.UTC(2000, 0, 1), usualTimes(nowMs))).toBe(1);
  });

  it.each(["NULL", "None", "null", "\\N"])("nor can an id be %s", (id) => {
    expect(read(`at,slug,id\n${at},acme,${id}\n`, "csv").problems).toEqual([
      `2: id is ${id}, which stands for no id; leave it out instead`,
    ]);
  });
});

describe("values within attributes that are fields", () => {
  const targets = new Map([...plainLayout.targets, ["attributes.q", "asset"] as const]);
  const line = JSON.stringify({ at, slug: "acme", attributes: { q: "1", r: "2", s: "3", t: null } });

  it.each([
    ["leave the others attributes", [], { r: "2", s: "3" }],
    ["leave those out that are ignored", ["attributes.r"], { s: "3" }],
    ["leave all out that are ignored by their object", ["attributes"], undefined],
    ["leave all out that have no name where such are ignored", ["*"], undefined],
  ])("%s", (_, ignored, attributes) => {
    const events = [death(atMs, "acme", { asset: "1", attributes })];

    expect(read(line, "ndjson", [], { ...plainLayout, targets, ignored: new Set(ignored) })).toEqual({
      events,
      problems: [],
    });
  });
});

describe("an object with a list of objects", () => {
  it("is an event where a flag sets its time and the list is ignored", () => {
    const layout = { ...plainLayout, set: { at }, ignored: new Set(["tags"]) };

    expect(read('{"slug":"acme","tags":[{"x":1}]}', "ndjson", [], layout)).toEqual({
      events: [death(atMs, "acme")],
      problems: [],
    });
  });

  it.each([
    ["a field", [], '{"when":1,"slug":"a","hops":[{"u":1}]}'],
    ["an ignored list", ["hops"], '{"when":1,"hops":[{"u":1}]}'],
  ])("with %s is an event with an unknown field, and the lines behind it are read", (_, ignored, line) => {
    const { problems } = read(`${line}\n{}\n`, "ndjson", [], { ...plainLayout, ignored: new Set(ignored) });

    expect(problems).toEqual([expect.stringMatching(/^1: unknown field "when"/), expect.stringMatching(/^2: /)]);
  });

  it("is said to have events within where all other names are ignored, too", () => {
    const layout = { ...plainLayout, ignored: new Set(["*"]) };

    expect(read('{"results":[{"at":1}],"count":1}', "ndjson", [], layout).problems).toEqual([
      `1: has its events within an object: jq -c '.["results"][]' writes one a line`,
    ]);
  });
});
