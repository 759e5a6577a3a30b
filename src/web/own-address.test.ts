import { afterEach, describe, expect, it } from "vitest";

import { sendRaw, startWeb, type RunningWeb } from "../../test/support/web-harness.ts";
import { refuseForeignHost } from "./own-address.ts";

let web: RunningWeb | null = null;

afterEach(async () => {
  await web?.close(0);
  web = null;
});

async function ask(path: string, host: string | null): Promise<{ status: number; head: string; body: string }> {
  if (web === null) throw new Error("no server");
  const version = host === null ? "1.0" : "1.1";
  const headers = [...(host === null ? [] : [`Host: ${host}`]), "Connection: close"].join("\r\n");
  const answer = await sendRaw(web.port, `GET ${path} HTTP/${version}\r\n${headers}\r\n\r\n`);
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

const listenHost = "127.0.0.1";
const externalUrl = "https://flatline.example.com/monitor";

describe("a server on the loopback interface", () => {
  it.each([
    ["localhost", true],
    ["LOCALHOST:9640", true],
    ["127.0.0.1:9640", true],
    ["127.8.9.10", true],
    ["[::1]:9640", true],
    ["flatline.example.com", true],
    ["flatline.example.com:8443", true],
    ["evil.example", false],
    ["localhost.evil.example", false],
    ["127.0.0.1.evil.example", false],
    ["127.0.0.1@evil.example", false],
    ["evil@localhost", false],
    ["localhost/evil", false],
    ["sub.flatline.example.com", false],
    ["10.0.0.7:9640", false],
    ["0.0.0.0:9640", false],
    ["", false],
    [" ", false],
  ])("by the name %j: served %j", (host, isServed) => {
    const refusal = refuseForeignHost(host, { listenHost, externalUrl });

    expect(refusal === null).toBe(isServed);
  });

  it("serves the name that it listens on", () => {
    expect(
      refuseForeignHost("monitor.internal:9640", { listenHost: "monitor.internal", externalUrl: null }),
    ).toBeNull();
  });

  it.each(["/", "/metrics", "/api/v1/alerts", "/api/v2/openapi.json", "/-/healthy", "/no/such/path"])(
    "answers a page of a foreign name 421 and nothing else, at %s",
    async (path) => {
      web = await startWeb();

      const { status, head, body } = await ask(path, "evil.example:9640");

      expect(status).toBe(421);
      expect(head).toMatch(/content-security-policy: default-src 'none'/);
      expect(JSON.parse(body)).toEqual({
        code: "MISDIRECTED_REQUEST",
        message: expect.stringMatching(
          /"evil\.example:9640": use localhost or 127\.0\.0\.1, or set alerting\.externalUrl/,
        ),
      });
    },
  );

  it("answers a client that names no host, which no browser does", async () => {
    web = await startWeb();

    expect((await ask("/-/healthy", null)).status).toBe(200);
  });
});

it("a server on all interfaces answers to every name", async () => {
  web = await startWeb({}, 0, "0.0.0.0");

  expect((await ask("/-/healthy", "flatline.internal")).status).toBe(200);
});

it("a server that is starting is alive and ready for nothing", async () => {
  let isStarted = false;
  web = await startWeb({ isStarted: () => isStarted });

  const early = await Promise.all(["/-/healthy", "/-/ready", "/metrics", "/"].map((path) => ask(path, "localhost")));
  isStarted = true;

  expect(early.map(({ status }) => status)).toEqual([200, 503, 503, 503]);
  expect(early[1]?.head).toMatch(/^retry-after: 1$/m);
  expect((await ask("/metrics", "localhost")).status).toBe(200);
});
