import { createServer, type AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import { Secret } from "../base/secret.ts";
import { sinkBench, type SinkBench } from "../../test/support/far-side/sink-bench.ts";
import { addressSecrets, combineOutcomes, deliverRequest, maxBodyBytes } from "./delivery.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const sink = sinkBench();

interface Given {
  readonly url?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

function deliver(
  answer: SinkBench["answer"],
  { url = sink.url, body = "{}", signal = new AbortController().signal }: Given = {},
) {
  sink.answer = answer;
  return deliverRequest(sink.dispatcher, { url: new Secret(url), headers: {}, body }, { signal, nowMs });
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
    expect(sink.requests).toHaveLength(1);
  });

  it("takes a 413 for one that comes before the body was read", async () => {
    // Proxies do so: they see the length, answer and close.
    const server = createServer((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"));
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const far = { url: `http://127.0.0.1:${port}/`, body: "x".repeat(maxBodyBytes) };

    const outcome = await deliver(sink.answer, far);
    await new Promise<void>((resolve) => server.close(() => resolve()));

    expect(outcome).toEqual({ kind: "rejected", error: "HTTP 413", isTooLarge: true });
  });

  it("sends nothing beyond a mebibyte", async () => {
    const whole = await deliver(sink.answer, { body: "x".repeat(maxBodyBytes) });
    const larger = await deliver(sink.answer, { body: "ä".repeat(maxBodyBytes / 2 + 1) });

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
    const outcome = deliver(() => deadline.abort(new DOMException("late", "TimeoutError")), deadline);

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
    sink.answer = (response) => response.writeHead(202).write("why");
    const late = sink.dispatcher.compose((dispatch) => (options, handler) => {
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

  it.each([
    ["the whole address", (url: string) => url],
    ["its path", () => "no service at /services/T0000/B0000/abcdefgh%20SECRET?key=0123456789"],
    ["its token", () => "unknown token abcdefgh%20SECRET"],
    ["its token, decoded", () => "unknown token abcdefgh SECRET"],
    ["a value of its query", () => "bad key 0123456789"],
  ])("shows nothing of a secret when the answer echoes %s", async (_what, echo) => {
    const url = `${sink.url}/services/T0000/B0000/abcdefgh%20SECRET?key=0123456789`;

    const outcome = await deliver((response) => response.writeHead(404).end(echo(url)), { url });

    expect(JSON.stringify(outcome)).toContain("***");
    expect(JSON.stringify(outcome)).not.toMatch(/SECRET|0123456789/);
  });

  it("reads no endless answer to its end, and takes its status", async () => {
    const outcome = await deliver((response) => {
      const write = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", write);
      write();
    });

    expect(outcome.kind).toBe("accepted");
  });
});

describe("addressSecrets", () => {
  it("holds credentials", () => {
    const secrets = addressSecrets(new Secret("https://user-name:p%40ss@example.com/"));

    expect(secrets.map((secret) => secret.reveal())).toEqual(expect.arrayContaining(["p@ss", "p%40ss"]));
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
