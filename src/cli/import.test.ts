import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { runCli, type CliOptions } from "../../test/support/program/cli-run.ts";
import { createSystemClock, hourMs } from "../base/time.ts";
import { openStore } from "../store/open.ts";

const startMs = Date.UTC(2026, 0, 15, 12);
const nowMs = startMs + 2 * hourMs;
const clock = { ...createSystemClock(), nowMs: () => nowMs };
const csv = "at,slug,id\n2026-01-15T12:00:00Z,acme,1\n2026-01-15T13:00:00Z,globex,\n";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-cli-import-"));
  await writeFile(join(folder, "flatline.yaml"), "source: { type: embedded }\norganizations: [acme, globex]\n");
  await writeFile(join(folder, "events.csv"), csv);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const run = (args: readonly string[], options: Partial<CliOptions> = {}) =>
  runCli(["import", "events", ...args], { cwd: folder, clock, ...options });

async function firstEventAtMs(slug: string): Promise<number | null> {
  const store = await openStore({ path: join(folder, "data", "flatline.db"), clock: createSystemClock() });
  try {
    return await store.events.firstEventAtMs(slug);
  } finally {
    await store.close();
  }
}

describe("import events", () => {
  it("loads a file into the store of the configuration and says what came of it", async () => {
    const { stdout, stderr, exitCode } = await run(["events.csv"]);

    expect(stdout).toMatch(
      /^imported 2 events of 2 organizations, 2026-01-15T12:00:00.000Z to 2026-01-15T13:00:00.000Z \(\d+\.\d s, [\d,]+ rows\/s\)\n$/,
    );
    expect([stderr, exitCode]).toEqual(["", 0]);
    expect(await firstEventAtMs("acme")).toBe(startMs);
  });

  it("prints JSON with --json, and moves the events with --rebase", async () => {
    const { stdout } = await run(["--json", "--rebase", "now", "events.csv"]);

    expect(JSON.parse(stdout)).toEqual({
      files: 1,
      received: 2,
      stored: 2,
      duplicates: 0,
      conflicts: 0,
      firstAt: "2026-01-15T13:00:00.000Z",
      lastAt: "2026-01-15T14:00:00.000Z",
      slugs: 2,
      deaths: 2,
      otherStatuses: {},
    });
    expect(await firstEventAtMs("globex")).toBe(nowMs);
  });

  it("reads standard input, gzipped too", async () => {
    const { stdout, exitCode } = await run(["--json", "-"], { stdin: gzipSync(csv) });

    expect([JSON.parse(stdout), exitCode]).toMatchObject([{ stored: 2 }, 0]);
  });

  it("reads the names and the local times of a foreign file", async () => {
    await writeFile(join(folder, "foreign.csv"), "customer,ts\nacme,2026-01-15 13:00:00\n");

    const maps = ["--map", "customer=slug", "--map", "ts=at"];
    const { exitCode } = await run([...maps, "--timezone", "Europe/Berlin", "foreign.csv"]);

    expect(exitCode).toBe(0);
    expect(await firstEventAtMs("acme")).toBe(startMs);
  });

  it("reads an export of others by flags alone, and says of what counts for nothing", async () => {
    const lines = ["1,2026-01-15 12:00:00,https://a.example/,offline", "2,2026-01-15 12:01:00,https://b.example/,odd"];
    await writeFile(join(folder, "feed.csv"), `# a feed\n# id,dateadded,url,state\n${lines.join("\n")}\n`);
    const flags = ["--map", "dateadded=at,url=asset,state=status", "--set", "slug=acme", "--timezone", "UTC"];
    const status = ["--status", "offline=DETECTED_AS_DEAD", "--ignore", "*"];

    const tried = await run(["--dry-run", ...flags, ...status, "feed.csv"]);
    expect(tried.stdout).toMatch(
      /^nothing was stored; the import would take 2 events of 1 organization, 2026-01-15T12:00\S+ to \S+Z, 1 death; 1 of them with the status "odd"/,
    );
    const { stdout } = await run([...flags, ...status, "feed.csv"]);
    expect(stdout).toMatch(
      /^imported 2 events of .*; 1 of them with the status "odd", which is not counted as a death/,
    );
    expect(await firstEventAtMs("acme")).toBe(startMs);
  });

  it("takes any time with --any-time", async () => {
    const stdin = "at,slug\n1,acme\n";

    expect(await run(["-"], { stdin })).toMatchObject({ exitCode: 65, stderr: expect.stringContaining("before 2000") });
    expect(await run(["--any-time", "-"], { stdin })).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ["UTF-16", Buffer.from("\ufeffat,slug\n", "utf16le"), "UTF-16; save it as UTF-8"],
    ["UTF-16 without a mark", Buffer.from("at,slug\n", "utf16le"), "UTF-16; save it as UTF-8"],
    ["zst", zstdCompressSync(csv), "compressed by zstd"],
    ["bz2", Buffer.from("BZh91AY&SY\u0007\u0007"), "compressed by bzip2"],
    ["xlsx", Buffer.from("PK\u0003\u0004"), "a zip archive or a spreadsheet"],
    ["tar, gzipped", gzipSync(`events.csv${"\0".repeat(247)}ustar\0`), "a tar archive"],
  ])("refuses %s by name", async (_, bytes, kind) => {
    expect(await run(["-"], { stdin: bytes })).toMatchObject({ exitCode: 65, stderr: expect.stringContaining(kind) });
  });

  it("shows its progress on a terminal, and takes it away", async () => {
    const { stderr } = await run(["events.csv"], { typed: "" });

    expect(stderr).toMatch(/\rchecking: 2 rows/);
    expect(stderr).toMatch(/\r +\r$/);
  });

  it.each<[string, string, number, RegExp]>([
    ["a bad line", "bad.csv", 65, /nothing was stored: 1 bad line\n {2}bad\.csv:2: slug is missing\n$/],
    [
      "a local time",
      "local.csv",
      65,
      /: 31 bad lines\n {2}local\.csv:2: at "2026-01-15 13:00" has no offset; .*, else --timezone ZONE says which it is of, and so 29 more\n {2}local\.csv:3: at "now" is neither .*\n$/,
    ],
    [
      "an unknown column",
      "--map ts=at events.csv",
      65,
      /events\.csv:1: unknown column "at"; the columns are slug, .*, ts \(field at\), .*; --map NAME=FIELD reads another one as one of/,
    ],
    ["two fields of a name", "--map ts=at --map ts=id events.csv", 64, /--map names ts twice, as at and as id/],
    ["a field that is none", "--map ts=att events.csv", 64, /"att" is no field of an event; did you mean "at"\?/],
    [
      "a mapping that is none",
      "--map at events.csv",
      64,
      /Expected a name and a value, such as timestamp=at, not "at"/,
    ],
    ["standard input twice", "- -", 64, /standard input \(-\) can be read only once/],
    ["a time that is none", "--rebase soon events.csv", 64, /"soon" is neither ISO 8601/],
    ["no name of a field", "--map at=asset events.csv", 64, /--map leaves no name for at; map one to it/],
    ["a file that is not there", "none.csv", 66, /none\.csv: no such file/],
    ["no file", "", 64, /missing required argument 'file'/],
  ])("refuses %s", async (_, line, code, message) => {
    await writeFile(join(folder, "bad.csv"), "at,slug\n2026-01-15T12:00:00Z,\n");
    const local = "2026-01-15 13:00,acme\n";
    await writeFile(join(folder, "local.csv"), `at,slug\n${local}now,acme\n${local.repeat(29)}`);

    const { stdout, stderr, exitCode } = await run(line === "" ? [] : line.split(" "));

    expect([stdout, exitCode]).toEqual(["", code]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/ at .*\.ts/);
  });

  it("stores what was imported before once", async () => {
    await run(["events.csv"]);

    const { stdout, exitCode } = await run(["events.csv"]);

    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^imported 0 events of 2 organizations, .*; 2 duplicates left out/),
    ]);
  });

  it("refuses to load into the store of a remote source", async () => {
    const text = await readFile(join(folder, "flatline.yaml"), "utf8");
    await writeFile(
      join(folder, "flatline.yaml"),
      text.replace("type: embedded", "type: remote, baseUrl: https://x.test, apiKey: k"),
    );

    expect(await run(["events.csv"])).toMatchObject({ exitCode: 64 });
  });
});

/** Two rows in the layout of each publisher, with invented names, and the flags that read them. */
const dead = "DETECTED_AS_DEAD";
const alive = "DETECTED_AS_ALIVE";
const exportsOfOthers: [name: string, rows: string, flags: string][] = [
  [
    "httpx",
    `{"timestamp":"2026-01-15T14:00:00.123456789+02:00","url":"https://a.example","status_code":404,"a":["192.0.2.8"],"failed":false}
{"timestamp":"2026-01-15T15:00:00.123456789+02:00","url":"https://b.example","status_code":0,"failed":true}`,
    `--map timestamp=at,url=asset,failed=status,status_code=attr.code --status true=${dead},false=${alive} --ignore *`,
  ],
  [
    "Splunk",
    `"_time",asset,state,customer,"_raw"
"2026-01-15T12:00:00.000+0000","a.example",dead,acme,"one
two"
"2026-01-15T13:00:00.000+0000","b.example",alive,acme,"three"`,
    `--map _time=at,state=status --status dead=${dead},alive=${alive} --ignore *`,
  ],
  [
    "PostgreSQL's COPY",
    `id,asset_type,asset,new_status,created_at
101,DOMAIN,a.example,${dead},2026-01-15 12:00:00.123456+00
102,DOMAIN,b.example,${alive},2026-01-15 18:30:00+05:30`,
    `--map asset_type=assetType,new_status=status,created_at=at`,
  ],
  [
    // https://urlscan.io/docs/search/, by `jq -c '.results[]'`
    "urlscan.io",
    `{"task":{"time":"2026-01-15T12:00:00.000Z","url":"https://a.example/"},"page":{"status":"404","asn":"AS64500"},"_id":"a1"}
{"task":{"time":"2026-01-15T13:00:00.000Z","url":"https://b.example/"},"page":{"status":"200","asn":"AS64500"},"_id":"b2"}`,
    `--map task.time=at,task.url=asset,page.status=status,_id=id --status 404=${dead},200=${alive} --ignore *`,
  ],
  [
    // https://docs.pingdom.com/api/, GET /results/{checkid}, by `jq -c '.results[]'`
    "Pingdom's results",
    `{"probeid":33,"time":1768478400,"status":"down","responsetime":91,"statusdesc":"Timeout"}
{"probeid":33,"time":1768482000,"status":"up","responsetime":91,"statusdesc":"OK"}`,
    `--map time=at.seconds --set asset=a.example --status down=${dead},up=${alive} --ignore *`,
  ],
  [
    // https://healthchecks.io/docs/api/, "List check's status changes"
    "Healthchecks' flips",
    `[{"timestamp":"2026-01-15T12:00:00+00:00","up":0},
 {"timestamp":"2026-01-15T13:00:00+00:00","up":1}]`,
    `--map timestamp=at,up=status --set asset=a.example --status 0=${dead},1=${alive}`,
  ],
];

it.each(exportsOfOthers)("an export of %s is read by flags alone", async (_, rows, flags) => {
  const args = [...flags.split(" "), "--set", "slug=acme", "--dry-run", "--json", "-"];

  const { stdout, stderr } = await run(args, { stdin: rows });

  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({
    received: 2,
    firstAt: expect.stringMatching(/^2026-01-15T12:00/),
    lastAt: expect.stringMatching(/^2026-01-15T13:00/),
    otherStatuses: {},
  });
});

it.each([
  [
    '{"data":[{"at":"2026-01-15T12:00:00Z"}],"count":1}',
    `has its events within an object: jq -c '.["data"][]' writes one a line`,
  ],
  ['{\n  "data": []\n}', "is not valid JSON: an object over several lines? jq -c . writes it on one"],
])("says of %j, whose events are within an object, how to get at them", async (stdin, says) => {
  expect(await run(["-"], { stdin })).toMatchObject({ exitCode: 65, stderr: expect.stringContaining(says) });
});
