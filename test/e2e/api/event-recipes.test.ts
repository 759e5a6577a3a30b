import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { readText, startDaemon, type Daemon } from "../../support/program/program.ts";

// The tools themselves are not installed: each player reads its recipe and sends what the tool's documentation says that these
// settings send. It knows the settings of the recipe and no other, so that a new one needs a look at what it changes.

interface Posted {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Event = Readonly<Record<string, unknown>>;

const token = "a-token-that-may-ingest";
const readRecipe = (name: string): unknown =>
  parse(readFileSync(new URL(`../../../examples/events/${name}.yaml`, import.meta.url), "utf8"));
const lines = (events: readonly Event[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join("");

/** Vector's sink `http`: json is an array unless it is framed by lines; the content type follows from the framing. */
const vectorSink = z.strictObject({
  type: z.literal("http"),
  inputs: z.tuple([z.literal("events")]),
  uri: z.string(),
  method: z.literal("post"),
  auth: z.strictObject({ strategy: z.literal("bearer"), token: z.string() }),
  encoding: z.strictObject({ codec: z.literal("json") }),
  framing: z.strictObject({ method: z.literal("newline_delimited") }).optional(),
  compression: z.enum(["gzip", "none"]),
  batch: z.strictObject({ max_bytes: z.number().max(32 * 1_024 * 1_024), timeout_secs: z.number() }),
  acknowledgements: z.strictObject({ enabled: z.literal(true) }),
  // It would send a HEAD, which the route does not answer.
  healthcheck: z.strictObject({ enabled: z.literal(false) }),
});

function playVector(events: readonly Event[], fill: (text: string) => string): Posted {
  const recipe = z.looseObject({ sinks: z.strictObject({ flatline: vectorSink }) }).parse(readRecipe("vector"));
  const sink = recipe.sinks.flatline;
  const isLines = sink.framing !== undefined;
  const text = isLines ? lines(events) : JSON.stringify(events);
  const isGzip = sink.compression === "gzip";
  return {
    url: fill(sink.uri),
    headers: {
      "user-agent": "Vector/0.50.0",
      "accept-encoding": "gzip,zstd,deflate,br",
      "content-type": isLines ? "application/x-ndjson" : "application/json",
      ...(isGzip ? { "content-encoding": "gzip" } : {}),
      authorization: `Bearer ${fill(sink.auth.token)}`,
    },
    body: isGzip ? gzipSync(text) : Buffer.from(text),
  };
}

/** Fluent Bit's output `http`: each event gets a field `date` unless json_date_key is false. */
const fluentBitOutput = z.strictObject({
  name: z.literal("http"),
  match: z.literal("liveness"),
  host: z.string(),
  port: z.number(),
  uri: z.string(),
  format: z.enum(["json", "json_lines"]),
  json_date_key: z.union([z.literal(false), z.string()]).optional(),
  compress: z.literal("gzip").optional(),
  header: z.string(),
  retry_limit: z.literal("no_limits"),
});

function playFluentBit(events: readonly Event[], fill: (text: string) => string): Posted {
  const recipe = z
    .looseObject({ pipeline: z.looseObject({ outputs: z.tuple([fluentBitOutput]) }) })
    .parse(readRecipe("fluent-bit"));
  const [output] = recipe.pipeline.outputs;
  const dateKey = output.json_date_key ?? "date";
  const dated = events.map((event) => (dateKey === false ? event : { [dateKey]: 1_700_000_000.5, ...event }));
  const isLines = output.format === "json_lines";
  const text = isLines ? lines(dated) : JSON.stringify(dated);
  const isGzip = output.compress === "gzip";
  const [name = "", ...value] = fill(output.header).split(" ");
  // flatline's default port, which the daemon of the test does not listen on.
  expect(output.port).toBe(9640);
  return {
    url: `${fill("${FLATLINE_URL}")}${output.uri}`,
    headers: {
      "user-agent": "Fluent-Bit",
      "content-type": isLines ? "application/x-ndjson" : "application/json",
      ...(isGzip ? { "content-encoding": "gzip" } : {}),
      [name]: value.join(" "),
    },
    body: isGzip ? gzipSync(text) : Buffer.from(text),
  };
}

/** Redpanda Connect's output `http_client`: a batch that is archived is one message, and its headers are computed from it. */
const redpandaOutput = z.strictObject({
  url: z.string(),
  verb: z.literal("POST"),
  headers: z.record(z.string(), z.string()),
  batching: z.strictObject({
    count: z.number(),
    period: z.string(),
    processors: z.tuple([
      z.strictObject({ archive: z.strictObject({ format: z.enum(["json_array", "lines"]) }) }),
      z.strictObject({ compress: z.strictObject({ algorithm: z.literal("gzip") }) }),
    ]),
  }),
  timeout: z.string(),
  retries: z.number(),
  backoff_on: z.array(z.number()),
});

function playRedpandaConnect(events: readonly Event[], fill: (text: string) => string): Posted {
  const recipe = z
    .looseObject({ output: z.strictObject({ http_client: redpandaOutput }) })
    .parse(readRecipe("redpanda-connect"));
  const output = recipe.output.http_client;
  const [{ archive }] = output.batching.processors;
  const body = gzipSync(archive.format === "lines" ? lines(events) : JSON.stringify(events));
  const hash = createHash("sha256").update(body).digest("hex");
  const header = (text: string): string => fill(text.replace('${! content().hash("sha256").encode("hex") }', hash));
  return {
    url: fill(output.url),
    headers: Object.fromEntries(Object.entries(output.headers).map(([name, text]) => [name, header(text)])),
    body,
  };
}

describe.each([
  { name: "Vector", play: playVector },
  { name: "Fluent Bit", play: playFluentBit },
  { name: "Redpanda Connect", play: playRedpandaConnect },
])("the recipe for $name", ({ name, play }) => {
  let folder: ProgramFolder;
  let daemon: Daemon;
  const slug = name.toLowerCase().replaceAll(" ", "-");
  const events = Array.from({ length: 200 }, (_, index) => ({
    at: new Date(Date.UTC(2026, 0, 1, 12, 0, index)).toISOString(),
    slug,
    assetType: "DOMAIN",
    asset: `host-${index}.example`,
    // What a mapping makes of a field that is not there.
    status: index % 2 === 0 ? "DETECTED_AS_DEAD" : null,
    id: `${slug}-${index}`,
  }));
  const fill = (text: string): string =>
    text.replaceAll("${FLATLINE_URL}", daemon.url).replaceAll("${FLATLINE_TOKEN}", token);

  async function post({ url, headers, body }: Posted): Promise<{ status: number; body: unknown }> {
    const response = await fetch(url, { method: "POST", headers, body });
    return { status: response.status, body: await response.json() };
  }

  beforeAll(async () => {
    folder = await makeProgramFolder(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [${slug}]
server:
  listen: "127.0.0.1:0"
  tokens: [{ name: stream, token: ${token}, may: [ingest] }]
storage: { path: flatline.db }
`);
    daemon = await startDaemon([], { cwd: folder.path });
  });
  afterAll(async () => {
    await daemon.kill();
    await folder[Symbol.asyncDispose]();
  });

  it("stores a batch, and stores nothing twice when it is sent again", async () => {
    const batch = play(events, fill);

    expect(await post(batch)).toEqual({ status: 200, body: { received: 200, stored: 200, duplicates: 0 } });
    const again = await post(batch);
    // The same batch cut at another place, as after a restart of the tool.
    const other = await post(play([...events.slice(100), { ...events[0], id: `${slug}-new` }], fill));

    expect(again.status).toBe(200);
    expect(other).toEqual({ status: 200, body: { received: 101, stored: 1, duplicates: 100 } });
    const metrics = await readText(`${daemon.url}/metrics`);
    expect(metrics).toContain('flatline_events_ingested_total{status="DETECTED_AS_DEAD"} 201');
  });

  it("is refused whole, with the line, when an event is wrong, so that the tool reports it", async () => {
    const bad = await post(play([...events.slice(0, 3), { ...events[3], at: "yesterday" }], fill));

    expect(bad).toMatchObject({ status: 400, body: { issues: [{ message: expect.stringContaining("4") }] } });
  });
});
