import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { oddText } from "../../test/support/odd-input.ts";
import { createHttpDispatcher, type HttpDispatcher } from "./http-dispatcher.ts";
import {
  createBodyGate,
  HttpFailure,
  parseRetryAfter,
  sendRequest,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { createSystemClock, eventLoopTurn } from "./time.ts";

const clock = createSystemClock();
let dispatcher: HttpDispatcher;
let servers: Server[] = [];

beforeEach(() => {
  dispatcher = createHttpDispatcher({ env: {} });
});

afterEach(async () => {
  await dispatcher.destroy();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  servers = [];
});

async function listen(onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function request(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return { method: "GET", url, headers: {}, signal: clock.timeout(5_000), maxBodyBytes: 1_024, ...more };
}

async function failureOf(promise: Promise<unknown>): Promise<HttpFailure> {
  const error = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof HttpFailure)) throw new Error(`not an HttpFailure: ${String(error)}`);
  return error;
}

describe("sendRequest", () => {
  it("sends headers as they are written, in UTF-8", async () => {
    const url = await listen(({ rawHeaders }, outgoing) =>
      outgoing.end(Buffer.from(rawHeaders[rawHeaders.indexOf("title") + 1] ?? "", "latin1")),
    );

    expect(await sendRequest(dispatcher, request(url, { headers: { title: "Störung 障害 €" } }))).toMatchObject({
      body: "Störung 障害 €",
    });
  });

  it("answers with status, lower-case headers and the body", async () => {
    const url = await listen((incoming, outgoing) => {
      outgoing.setHeader("X-Two", ["a", "b"]);
      outgoing.statusCode = 418;
      incoming.pipe(outgoing);
    });

    const response = await sendRequest(dispatcher, request(url, { method: "POST", body: "käse" }));

    expect(response).toMatchObject({ status: 418, body: "käse", isTruncated: false, headers: { "x-two": "a, b" } });
  });

  it.each([
    { name: "of exactly the limit is whole", bytes: 1_024, isTruncated: false, read: 1_024 },
    { name: "of one byte more is cut", bytes: 1_025, isTruncated: true, read: 1_024 },
    { name: "of nothing is empty", bytes: 0, isTruncated: false, read: 0 },
  ])("a body $name", async ({ bytes, isTruncated, read }) => {
    const url = await listen((_incoming, outgoing) => outgoing.end("x".repeat(bytes)));

    const response = await sendRequest(dispatcher, request(url));

    expect(response.isTruncated).toBe(isTruncated);
    expect(response.body.length).toBe(read);
  });

  it("reads an answer that is packed although nobody asked for it, within the limit, or says that it is", async () => {
    const packed = {
      "/gzip": gzipSync("käse"),
      "/br": brotliCompressSync("käse"),
      "/bomb": gzipSync("x".repeat(9_999)),
    };
    const url = await listen(({ url: path = "" }, outgoing) => {
      outgoing.setHeader("content-encoding", path === "/bomb" ? "gzip" : path.slice(1));
      outgoing.end((packed as Record<string, Buffer | undefined>)[path] ?? "käse");
    });
    const read = (path: string): Promise<HttpResponse> => sendRequest(dispatcher, request(url + path));

    expect(await read("/gzip")).toMatchObject({ status: 200, body: "käse", isTruncated: false });
    expect(await read("/br")).toMatchObject({ body: "käse" });
    expect(await read("/identity")).toMatchObject({ body: "käse" });
    expect(await read("/bomb")).toMatchObject({ body: "", isTruncated: true });
    expect((await failureOf(read("/deflate"))).message).toBe("its answer is not deflate, as its content-encoding says");
    expect((await failureOf(read("/odd"))).message).toContain('its answer is compressed as "odd"');
  });

  it("stops an endless body at the limit and closes its connection", async () => {
    let written = 0;
    let onClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      onClosed = resolve;
    });
    const url = await listen((_incoming, outgoing) => {
      outgoing.on("close", onClosed);
      const pump = (): void => {
        while (!outgoing.destroyed && outgoing.write("x".repeat(16_384))) written += 16_384;
      };
      outgoing.on("drain", pump);
      pump();
    });

    const response = await sendRequest(dispatcher, request(url, { maxBodyBytes: 65_536 }));
    await closed;

    expect(response).toMatchObject({ isTruncated: true, status: 200 });
    expect(response.body.length).toBe(65_536);
    // The socket buffers of both ends; a reader without a bound would have taken all.
    expect(written).toBeLessThan(32 * 1_024 * 1_024);
  });

  it("reads large bodies one by one at a gate, past one that hangs and one that ended while it waited", async () => {
    const url = await listen((incoming, outgoing) => {
      if (incoming.url === "/hangs") outgoing.write("x".repeat(100_000));
      else outgoing.end("ä".repeat(500_000));
    });
    const said: string[] = [];
    const gate = createBodyGate(
      10_000,
      () => said.push("busy"),
      () => said.push("empty"),
    );
    let inside = 0;
    const watched = {
      freeBytes: gate.freeBytes,
      enter: (begin: () => void): (() => void) => {
        let hasBegun = false;
        const leave = gate.enter(() => {
          hasBegun = true;
          said.push(`${++inside} inside`);
          begin();
        });
        return () => {
          if (hasBegun) inside--;
          leave();
        };
      },
    };
    const more = { gate: watched, maxBodyBytes: 4_000_000 };

    const hung = failureOf(sendRequest(dispatcher, request(`${url}/hangs`, { ...more, signal: clock.timeout(300) })));
    const whole = Array.from({ length: 4 }, () => sendRequest(dispatcher, request(url, more)));
    const stopped = failureOf(sendRequest(dispatcher, request(url, { ...more, signal: clock.timeout(50) })));

    expect((await hung).kind).toBe("timeout");
    expect((await stopped).kind).toBe("timeout");
    for (const { body } of await Promise.all(whole)) expect(body).toBe("ä".repeat(500_000));
    await eventLoopTurn();
    expect(said.at(-1)).toBe("empty");
    expect([said[0], new Set(said)]).toEqual(["busy", new Set(["busy", "1 inside", "empty"])]);
  });

  it("tells the caller's stop from a deadline", async () => {
    const stop = new AbortController();
    const url = await listen(() => stop.abort());

    const failure = await failureOf(sendRequest(dispatcher, request(url, { signal: stop.signal })));

    expect(failure).toMatchObject({ kind: "aborted", mayHaveBeenSent: true });
  });

  it("sends nothing when the signal has aborted already", async () => {
    let asked = 0;
    const url = await listen(() => void asked++);

    const failure = await failureOf(sendRequest(dispatcher, request(url, { signal: AbortSignal.abort() })));

    expect(failure).toMatchObject({ kind: "aborted", mayHaveBeenSent: false });
    expect(asked).toBe(0);
  });

  it("does not know it when the connection is reset after the request", async () => {
    const url = await listen((incoming) => incoming.socket.resetAndDestroy());

    const failure = await failureOf(sendRequest(dispatcher, request(url)));

    expect(failure).toMatchObject({ kind: "network", mayHaveBeenSent: true });
  });

  it("sends the user and password of the URL as Basic authorization", async () => {
    const url = await listen((incoming, outgoing) => outgoing.end(incoming.headers.authorization));

    const response = await sendRequest(dispatcher, request(url.replace("//", "//me:p%40ss@")));

    expect(response.body).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
  });
});

describe("createHttpDispatcher", () => {
  it.each(["close", "destroy"] as const)("refuses a first request after %s", async (end) => {
    const url = await listen((_incoming, outgoing) => outgoing.end("too late"));

    await dispatcher[end]();

    expect(await failureOf(sendRequest(dispatcher, request(url)))).toMatchObject({ mayHaveBeenSent: false });
  });

  it("waits for a first request before it closes", async () => {
    const url = await listen((_incoming, outgoing) => outgoing.end("in time"));

    const response = sendRequest(dispatcher, request(url));
    await dispatcher.close();

    expect((await response).body).toBe("in time");
  });

  it.each(["HTTP_PROXY", "http_proxy"])("sends http requests to %s in absolute form", async (name) => {
    const proxy = await listen((incoming, outgoing) => outgoing.end(incoming.url));
    const proxied = createHttpDispatcher({ env: { [name]: proxy } });

    const response = await sendRequest(proxied, request("http://far.example/path?q=1"));
    await proxied.close();

    expect(response.body).toBe("http://far.example/path?q=1");
  });

  it("opens a tunnel through HTTPS_PROXY for https requests", async () => {
    const connects: string[] = [];
    const proxy = await listen(() => undefined);
    servers[0]?.on("connect", (incoming, socket) => {
      connects.push(incoming.url ?? "");
      socket.end("HTTP/1.1 502 no\r\n\r\n");
    });
    const proxied = createHttpDispatcher({ env: { HTTPS_PROXY: proxy.replace("http://", "") } });

    const failure = await failureOf(sendRequest(proxied, request("https://far.example/path")));
    await proxied.destroy();

    expect(connects).toEqual(["far.example:443"]);
    expect(failure).toMatchObject({ kind: "network", mayHaveBeenSent: false });
  });

  it.each([
    { name: "a host of NO_PROXY", env: { NO_PROXY: "localhost,127.0.0.1" } },
    { name: "every host with NO_PROXY=*", env: { no_proxy: "*" } },
  ])("goes directly to $name", async ({ env }) => {
    const proxy = await listen((_incoming, outgoing) => outgoing.end("proxy"));
    const direct = await listen((_incoming, outgoing) => outgoing.end("direct"));
    const proxied = createHttpDispatcher({ env: { HTTP_PROXY: proxy, ...env } });

    const response = await sendRequest(proxied, request(direct));
    await proxied.close();

    expect(response.body).toBe("direct");
  });

  it("refuses a proxy that is no URL, without showing it", () => {
    const env = { HTTPS_PROXY: "ftp://me:hush@proxy" };

    expect(() => createHttpDispatcher({ env })).toThrow(
      expect.objectContaining({ code: "invalid_config", message: expect.not.stringContaining("hush") as string }),
    );
  });
});

describe("parseRetryAfter", () => {
  const nowMs = Date.UTC(1994, 10, 6, 8, 49, 0);

  it.each([
    { name: "seconds", value: "120", ms: 120_000 },
    { name: "seconds with blanks", value: " 0 ", ms: 0 },
    { name: "a date", value: "Sun, 06 Nov 1994 08:49:37 GMT", ms: 37_000 },
    { name: "a date of RFC 850", value: "Sunday, 06-Nov-94 08:49:37 GMT", ms: 37_000 },
    { name: "a date of asctime", value: "Sun Nov  6 08:49:37 1994", ms: 37_000 },
    { name: "a past date", value: "Sat, 05 Nov 1994 08:49:37 GMT", ms: 0 },
    { name: "more seconds than a number holds", value: "9".repeat(400), ms: Number.MAX_SAFE_INTEGER },
    { name: "nothing", value: undefined, ms: null },
    { name: "an empty value", value: "", ms: null },
    { name: "a negative number", value: "-1", ms: null },
    { name: "words", value: "soon", ms: null },
    { name: "a date with other words", value: "Sun, about 06 Nov 1994 08:49:37 GMT", ms: null },
    { name: "a date without a day", value: "Sun, 99 Nov 1994 08:49:37 GMT", ms: null },
  ])("reads $name", ({ value, ms }) => {
    expect(parseRetryAfter(value, nowMs)).toBe(ms);
  });

  it("waits for a whole number of milliseconds or for nothing, whatever a server says", () => {
    fc.assert(
      fc.property(oddText(["120", "0.5", "Sun, 06 Nov 1994 08:49:37 GMT"]), (value) => {
        const waitMs = parseRetryAfter(value, nowMs);

        expect(waitMs === null || (Number.isSafeInteger(waitMs) && waitMs >= 0)).toBe(true);
      }),
    );
  });
});
