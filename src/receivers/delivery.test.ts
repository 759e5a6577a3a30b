import type { ServerResponse } from "node:http";
import { createServer, type AddressInfo } from "node:net";

import { Agent } from "undici";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { Secret } from "../base/secret.ts";
import { startHttpSink, type HttpSink } from "../../test/support/far-side/http-sink.ts";
import { addressSecrets, combineOutcomes, deliverRequest, maxBodyBytes } from "./delivery.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
let dispatcher: Agent;
let sink: HttpSink | null;

beforeEach(() => {
  dispatcher = new Agent();
  sink = null;
});
afterEach(async () => {
  await dispatcher.destroy();
  await sink?.close();
});

async function deliver(answer: (response: ServerResponse) => void, path = "/", signal = new AbortController().signal) {
  sink = await startHttpSink(answer);
  const url = new Secret(`${sink.url}${path}`);
  return deliverRequest(dispatcher, { url, headers: {}, body: "{}" }, { signal, nowMs });
}

describe("deliverRequest", () => {
  const rules: [string, number, Record<string, string>, object][] = [
    ["200 is accepted", 200, {}, { kind: "accepted" }],
    ["204 is accepted", 204, {}, { kind: "accepted" }],
    ["301 is rejected: redirects are not followed", 301, { location: "/other" }, { kind: "rejected" }],
    ["400 is rejected", 400, {}, { kind: "rejected", error: "HTTP 400: why" }],
    ["404 is rejected", 404, {}, { kind: "rejected" }],
    ["413 is rejected, and less may be accepted", 413, {}, { kind: "rejected", isTooLarge: true }],
    ["408 is tried again", 408, {}, { kind: "retry", retryAfterMs: null }],
    ["429 is tried again", 429, {}, { kind: "retry", error: "HTTP 429: why", retryAfterMs: null }],
    ["Retry-After in seconds", 429, { "retry-after": "120" }, { kind: "retry", retryAfterMs: 120_000 }],
    [
      "Retry-After as a date",
      503,
      { "retry-after": "Thu, 15 Jan 2026 12:01:30 GMT" },
      { kind: "retry", retryAfterMs: 90_000 },
    ],
    ["500 is tried again", 500, {}, { kind: "retry" }],
  ];
  it.each(rules)("%s", async (_rule, status, headers, outcome) => {
    const got = await deliver((response) => response.writeHead(status, headers).end("why"));

    expect(got).toMatchObject(outcome);
    expect(sink?.requests).toHaveLength(1);
  });

  it("takes a 413 for one that comes before the body was read", async () => {
    // As proxies do it: they see how long it is, answer and close.
    const server = createServer((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"));
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = new Secret(`http://127.0.0.1:${port}/`);
    const body = "x".repeat(maxBodyBytes);

    const outcome = await deliverRequest(
      dispatcher,
      { url, headers: {}, body },
      { signal: new AbortController().signal, nowMs },
    );
    await new Promise<void>((resolve) => server.close(() => resolve()));

    expect(outcome).toEqual({ kind: "rejected", error: "HTTP 413", isTooLarge: true });
  });

  it("sends nothing beyond a mebibyte", async () => {
    sink = await startHttpSink((response) => response.end());
    const url = new Secret(sink.url);
    const context = { signal: new AbortController().signal, nowMs };
    const whole = await deliverRequest(dispatcher, { url, headers: {}, body: "x".repeat(maxBodyBytes) }, context);
    const larger = await deliverRequest(
      dispatcher,
      { url, headers: {}, body: "ä".repeat(maxBodyBytes / 2 + 1) },
      context,
    );

    expect(whole.kind).toBe("accepted");
    expect(larger).toEqual({
      kind: "rejected",
      error: "a body of 1048578 bytes, and at most 1048576 are sent",
      isTooLarge: true,
    });
    expect(sink.requests).toHaveLength(1);
  });

  it("tries again when the deadline passes", async () => {
    const deadline = new AbortController();
    const outcome = deliver(() => deadline.abort(new DOMException("late", "TimeoutError")), "/", deadline.signal);

    expect(await outcome).toMatchObject({ kind: "retry", error: "no complete answer in time" });
  });

  it.each([
    ["200 is accepted", 200, {}, { kind: "accepted", detail: "HTTP 200: why" }],
    ["404 is rejected", 404, {}, { kind: "rejected", error: "HTTP 404: why" }],
    ["503 is tried again", 503, { "retry-after": "7" }, { kind: "retry", retryAfterMs: 7_000 }],
  ])("goes by the status when the body breaks off: %s", async (_rule, status, headers, outcome) => {
    const got = await deliver((response) => {
      response.writeHead(status, { ...headers, "content-length": "100" });
      response.write("why", () => response.destroy());
    });

    expect(got).toMatchObject(outcome);
  });

  it("goes by the status when the deadline passes before the body has ended", async () => {
    const deadline = new AbortController();
    sink = await startHttpSink((response) => response.writeHead(202).write("why"));
    const late = dispatcher.compose((dispatch) => (options, handler) => {
      const onResponseData: typeof handler.onResponseData = (controller, chunk) => {
        handler.onResponseData?.(controller, chunk);
        deadline.abort(new DOMException("late", "TimeoutError"));
      };
      return dispatch(options, { ...handler, onResponseData });
    });

    const request = { url: new Secret(sink.url), headers: {}, body: "{}" };
    const outcome = await deliverRequest(late, request, { signal: deadline.signal, nowMs });

    expect(outcome).toEqual({ kind: "accepted", detail: "HTTP 202: why" });
  });

  it("tries again when nobody listens", async () => {
    const url = new Secret("http://127.0.0.1:1/");

    const signal = new AbortController().signal;
    const outcome = await deliverRequest(dispatcher, { url, headers: {}, body: "" }, { signal, nowMs });

    expect(outcome).toMatchObject({ kind: "retry" });
  });

  it("reads 64 KiB of an endless answer and takes its status", async () => {
    const outcome = await deliver((response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536, "x");
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", write);
      write();
    });

    expect(outcome.kind).toBe("accepted");
  });

  it.each([
    ["the whole address", (url: string) => url],
    ["its path", () => "no service at /services/T0000/B0000/abcdefgh%20SECRET?key=0123456789"],
    ["its token", () => "unknown token abcdefgh%20SECRET"],
    ["its token, decoded", () => "unknown token abcdefgh SECRET"],
    ["a value of its query", () => "bad key 0123456789"],
  ])("shows nothing of a secret when the answer echoes %s", async (_what, echo) => {
    const path = "/services/T0000/B0000/abcdefgh%20SECRET?key=0123456789";

    const outcome = await deliver((response) => response.writeHead(404).end(echo(`${sink?.url}${path}`)), path);

    expect(JSON.stringify(outcome)).toContain("***");
    expect(JSON.stringify(outcome)).not.toMatch(/SECRET|0123456789/);
  });
});

describe("addressSecrets", () => {
  it("holds credentials", () => {
    const secrets = addressSecrets(new Secret("https://user-name:pass%40word@example.com/"));

    expect(secrets.map((secret) => secret.reveal())).toEqual(expect.arrayContaining(["pass@word", "pass%40word"]));
  });
});

describe("combineOutcomes", () => {
  const accepted = { kind: "accepted", detail: "HTTP 200" } as const;
  const retry = { kind: "retry", error: "HTTP 503", retryAfterMs: 5_000 } as const;
  const rejected = { kind: "rejected", error: "HTTP 400" } as const;

  it.each([
    ["all accepted", [accepted, accepted], { kind: "accepted" }],
    [
      "one to be tried again",
      [accepted, rejected, retry],
      { kind: "retry", retryAfterMs: 5_000, error: "1 of 3 requests failed, the first with HTTP 503" },
    ],
    ["one rejected", [accepted, rejected], { kind: "rejected" }],
    ["none", [], { kind: "accepted" }],
    ["the longest wait", [retry, { ...retry, retryAfterMs: 9_000 }], { retryAfterMs: 9_000 }],
  ])("%s", (_rule, outcomes, combined) => {
    expect(combineOutcomes(outcomes)).toMatchObject(combined);
  });
});
