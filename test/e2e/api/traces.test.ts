import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { parseTraceparent } from "../../../src/base/trace.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import {
  startScriptedUpstream,
  type ReceivedRequest,
  type ScriptedUpstream,
} from "../../support/far-side/scripted-upstream.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";

const token = "a-token-of-the-tests";
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${parentId}-01`;

let upstream: ScriptedUpstream;
let receiver: HttpSink;
let folder: ProgramFolder;

beforeEach(async () => {
  upstream = await startScriptedUpstream();
  upstream.otherwise((asked) => ({ kind: "answer", body: failing(slugOf(asked)) }));
  receiver = await startHttpSink((response) => response.writeHead(204).end());
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key, retries: 1 }
defaults: { schedule: "@yearly" }
organizations: [acme, globex]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${receiver.url}" }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
log: { level: debug }
`);
});
afterEach(async () => {
  await upstream.close();
  await receiver.close();
  await folder[Symbol.asyncDispose]();
});

function slugOf({ body }: ReceivedRequest): string {
  return (JSON.parse(body) as { slug: string }).slug;
}

function failing(slug: string) {
  return sampleHealthcheck({ scope: { slug }, severity: "fail", ok: false });
}

/** The trace that the platform was told of, one of each request about this organization. */
function tracesOf(slug: string) {
  return upstream.requests
    .filter((asked) => slugOf(asked) === slug)
    .map(({ headers }) => parseTraceparent(String(headers["traceparent"])));
}

function runNow({ url }: Daemon, slug: string, traced: string): Promise<Response> {
  return fetch(`${url}/api/v1/checks/dead-asset-spike/${slug}/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, traceparent: traced },
  });
}

describe("a check that is due", () => {
  it("has a trace of its own, in its lines of the log and in the platform's", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });

    const lines = await Promise.all(["acme", "globex"].map((slug) => daemon.untilLogged("severity changed", { slug })));
    const alert = await daemon.untilLogged("alert changed", { slug: "acme" });

    expect(lines.map((line) => [{ traceId: line["trace_id"], parentId: line["span_id"], isSampled: true }])).toEqual([
      tracesOf("acme"),
      tracesOf("globex"),
    ]);
    expect(new Set(lines.map((line) => line["trace_id"])).size).toBe(2);
    expect(lines[0]).not.toHaveProperty("parent_id");
    expect(alert["trace_id"]).toBe(lines[0]?.["trace_id"]);
  });

  it("keeps its trace over the attempts, and receivers hear nothing of it", async () => {
    const known = new Set<string>();
    upstream.otherwise((asked) => {
      const slug = slugOf(asked);
      if (known.has(slug)) return { kind: "answer", body: failing(slug) };
      known.add(slug);
      return { kind: "answer", status: 503 };
    });
    await using daemon = await startDaemon([], { cwd: folder.path });

    await daemon.untilLogged("notification delivered");
    await Promise.all(["acme", "globex"].map((slug) => daemon.untilLogged("severity changed", { slug })));

    for (const slug of ["acme", "globex"]) {
      const traces = tracesOf(slug);
      expect(traces).toHaveLength(2);
      expect(traces[1]).toEqual(traces[0]);
    }
    for (const { headers } of receiver.requests) expect(headers).not.toHaveProperty("traceparent");
  });
});

describe("a request with a traceparent", () => {
  it("has the run that it asks for done in its trace", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });
    await daemon.untilLogged("check ran", { slug: "acme" });

    const response = await runNow(daemon, "acme", traceparent);

    expect(response.status).toBe(200);
    const line = await daemon.untilLogged("check ran", { slug: "acme", trace_id: traceId });
    expect(line["parent_id"]).toBe(parentId);
    expect(line["span_id"]).not.toBe(parentId);
    expect(tracesOf("acme").at(-1)).toEqual({ traceId, parentId: line["span_id"], isSampled: true });
  });

  it("has its probe done in its trace, by which the platform is not asked to record more than the caller does", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });
    await daemon.untilLogged("check ran", { slug: "globex" });

    const response = await fetch(`${daemon.url}/probe?slug=globex`, {
      headers: { traceparent: traceparent.replace(/01$/, "00") },
    });

    expect(response.status).toBe(200);
    expect(tracesOf("globex").at(-1)).toMatchObject({ traceId, isSampled: false });
  });

  it("has what it does logged in its trace, also when its body comes later than its head", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });
    const silence = { slug: "acme", endsAt: "2999-01-01T00:00:00.000Z", comment: "migration" };

    const posting = request(`${daemon.url}/api/v1/silences`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        expect: "100-continue",
        traceparent,
      },
    });
    posting.on("continue", () => posting.end(JSON.stringify(silence)));
    const [response] = (await once(posting, "response")) as [IncomingMessage];

    expect(response.resume().statusCode).toBe(201);
    const line = await daemon.untilLogged("silence made");
    expect(line).toMatchObject({ trace_id: traceId, parent_id: parentId });
  });

  it.each(["nonsense", `00-${"0".repeat(32)}-${parentId}-01`, `${traceparent}, ${traceparent}`])(
    "that is invalid begins a new one: %s",
    async (invalid) => {
      await using daemon = await startDaemon([], { cwd: folder.path });
      await daemon.untilLogged("check ran", { slug: "acme" });

      const response = await runNow(daemon, "acme", invalid);

      expect(response.status).toBe(200);
      const [first, second] = tracesOf("acme");
      expect(second).toMatchObject({ isSampled: true });
      expect([traceId, first?.traceId]).not.toContain(second?.traceId);
      await daemon.untilLogged("check ran", { slug: "acme", trace_id: second?.traceId });
    },
  );
});

describe("flatline check", () => {
  it("begins a trace for each check", async () => {
    const { exitCode } = await runProgram(["check"], { cwd: folder.path });

    expect(exitCode).toBe(2);
    const traces = [...tracesOf("acme"), ...tracesOf("globex")];
    expect(new Set(traces.map((trace) => trace?.traceId)).size).toBe(2);
  });

  it("goes on with the trace in TRACEPARENT", async () => {
    await runProgram(["check"], { cwd: folder.path, env: { TRACEPARENT: traceparent } });

    const traces = [...tracesOf("acme"), ...tracesOf("globex")];
    expect(traces.map((trace) => trace?.traceId)).toEqual([traceId, traceId]);
    for (const trace of traces) expect(trace?.parentId).not.toBe(parentId);
  });
});
