import { gzipSync, brotliCompressSync, deflateSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import {
  pageAddress,
  refusedAddress,
  silentAddress,
  startLookWorld,
  type LookWorld,
  type Page,
} from "../../../test/support/look/look-world.ts";
import { createSystemClock } from "../../base/time.ts";
import type { ProbeResult } from "./exchange.ts";
import { createLookAt } from "./look-at.ts";
import { targetOf } from "../names.ts";

const lookAt = async (world: LookWorld, name: string, isDnsOnly = false): Promise<ProbeResult> =>
  createLookAt(world.settings, createSystemClock())({ urls: targetOf(name)?.urls ?? [], isDnsOnly });

const redirect =
  (location: string, status = 302): Page =>
  (_, response) =>
    response.writeHead(status, { location }).end();
const sent =
  (headers: Readonly<Record<string, string>>, body: Buffer | string): Page =>
  (_, response) =>
    response.writeHead(200, headers).end(body);
const parked = '<title>Parked</title><img src="https://img.sedoparking.com/x.png">';

describe("a look at an asset", () => {
  it("asks the address that was resolved, through the proxy by CONNECT, for both ports", async () => {
    await using world = await startLookWorld({ pages: { "a.example": "<title>Sign in</title>" } });

    expect(await lookAt(world, "http://a.example/x?y=z#w")).toStrictEqual({
      answer: "answers",
      status: 200,
      title: "Sign in",
      bytes: 22,
      reason: null,
    });
    expect(await lookAt(world, "https://a.example/")).toMatchObject({ answer: "answers" });
    expect(world.proxy.asked.map(({ authority }) => authority)).toStrictEqual([
      `${pageAddress}:80`,
      `${pageAddress}:443`,
    ]);
  });

  it("sends neither cookies, credentials, a referrer nor a body, not even to where it is redirected", async () => {
    const setsCookie: Exclude<Page, string> = (_, response) =>
      response.writeHead(302, { location: "/b", "set-cookie": "a=b" }).end();
    await using world = await startLookWorld({
      pages: {
        "a.example": (request, response) => (request.url === "/" ? setsCookie(request, response) : response.end("ok")),
      },
    });

    await lookAt(world, "http://a.example/");

    expect(world.requests.map(({ method, url, headers }) => ({ method, url, headers }))).toStrictEqual(
      ["/", "/b"].map((url) => ({
        method: "GET",
        url,
        headers: {
          host: "a.example",
          "user-agent": "looker",
          accept: "text/html,*/*;q=0.5",
          "accept-encoding": "identity",
          connection: "close",
        },
      })),
    );
    expect(world.proxy.asked[0]?.headers).toStrictEqual({ host: `${pageAddress}:80`, connection: "close" });
  });

  it("asks a bare host name by https, and by http where that does not answer", async () => {
    await using world = await startLookWorld({
      pages: {
        "a.example": (request, response) => ("encrypted" in request.socket ? response.destroy() : response.end("ok")),
      },
    });

    expect(await lookAt(world, "a.example")).toMatchObject({ answer: "answers" });
    expect(world.proxy.asked.map(({ authority }) => authority)).toStrictEqual([
      `${pageAddress}:443`,
      `${pageAddress}:80`,
    ]);
  });

  it("gives the proxy its name and password", async () => {
    await using world = await startLookWorld({ pages: { "a.example": "ok" } });
    const proxy = world.settings.http?.proxy.replace("://", "://user:p%40ss@") ?? "";
    const http = { userAgent: "looker", timeoutMs: 10_000, proxy };

    await createLookAt(
      { ...world.settings, http },
      createSystemClock(),
    )({ urls: ["http://a.example/"], isDnsOnly: false });

    expect(world.proxy.asked[0]?.headers["proxy-authorization"]).toBe(
      `Basic ${Buffer.from("user:p@ss").toString("base64")}`,
    );
  });

  it.each<[string, Page, Partial<ProbeResult>]>([
    [
      "a redirect that ends well",
      (request, response) =>
        request.url === "/3"
          ? response.end("ok")
          : response.writeHead(308, { location: `/${Number(request.url?.slice(1)) + 1}` }).end(),
      { answer: "answers" },
    ],
    ["a redirect without end", redirect("/"), { answer: "undecided", status: 302, reason: "redirects" }],
    [
      "a redirect without a place",
      (_, response) => response.writeHead(302).end(),
      { answer: "undecided", status: 302 },
    ],
    ["a page that is not found", (_, response) => response.writeHead(404).end(), { answer: "undecided", status: 404 }],
    ["a connection that breaks", (_, response) => response.destroy(), { answer: "undecided", reason: "connection" }],
    [
      "what is no HTTP",
      (request) => request.socket.end("SSH-2.0-x\r\n"),
      { answer: "undecided", reason: "connection" },
    ],
    [
      "headers without end",
      (request) => request.socket.end(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(10_000)}\r\n`),
      { answer: "undecided", reason: "connection" },
    ],
    [
      "an upgrade",
      (request) => request.socket.end("HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
      { answer: "undecided", reason: "connection" },
    ],
    ["a long page", sent({}, "x".repeat(200_000)), { answer: "answers", bytes: 65_536 }],
    ["a mark beyond what is read", sent({}, `${"x".repeat(65_536)}${parked}`), { answer: "answers" }],
    ["a packed page", sent({ "content-encoding": "gzip" }, gzipSync(parked)), { answer: "parked", title: "Parked" }],
    ["a page packed as br", sent({ "content-encoding": "br" }, brotliCompressSync(parked)), { answer: "parked" }],
    ["a page packed as deflate", sent({ "content-encoding": "deflate" }, deflateSync(parked)), { answer: "parked" }],
    [
      "a bomb, of which the beginning is read",
      sent({ "content-encoding": "gzip" }, gzipSync(`${parked}${"x".repeat(50_000_000)}`)),
      { answer: "parked" },
    ],
    [
      "what is packed twice, of which nothing is read",
      sent({ "content-encoding": "gzip, gzip" }, gzipSync(gzipSync(parked))),
      { answer: "answers", title: null },
    ],
    [
      "what is packed in an unknown way",
      sent({ "content-encoding": "zstd" }, parked),
      { answer: "answers", title: null },
    ],
    ["what is not packed as it says", sent({ "content-encoding": "gzip" }, parked), { answer: "answers", title: null }],
  ])("takes %s for what it is", async (_, page, expected) => {
    await using world = await startLookWorld({ pages: { "a.example": page } });

    expect(await lookAt(world, "http://a.example/0".replace("/0", page.length === 2 ? "/0" : "/"))).toMatchObject(
      expected,
    );
  });

  it.each<[string, Page, string, Partial<ProbeResult>]>([
    [
      "a page that comes byte by byte, by what has come",
      (_, response) => response.write("<title>Slow</title>"),
      "http://a.example/",
      { answer: "answers", title: "Slow" },
    ],
    ["a page that does not begin", () => undefined, "http://a.example/", { answer: "undecided", reason: "connection" }],
    ["a TLS handshake without end", "", "https://silent.example/", { answer: "undecided", reason: "connection" }],
    ["an answer that never comes", "", "http://silent.example/", { answer: "undecided", reason: "connection" }],
  ])("gives up on %s", async (_, page, name, expected) => {
    await using world = await startLookWorld({
      pages: { "a.example": page },
      names: { "silent.example": [silentAddress] },
      timeoutMs: 200,
    });

    expect(await lookAt(world, name)).toMatchObject(expected);
  });

  it.each<[string, string, Partial<ProbeResult>]>([
    ["does not exist", "none.example", { answer: "gone", reason: null }],
    ["no server knows", "broken.example", { answer: "undecided", reason: "resolver" }],
    ["has no address", "empty.example", { answer: "undecided", reason: "resolver" }],
    ["is in a sinkhole", "sunk.example", { answer: "parked", reason: null }],
    ["the proxy refuses", "refused.example", { answer: "undecided", reason: "connection" }],
  ])("of a name that %s", async (_, name, expected) => {
    const names = {
      "broken.example": "SERVFAIL",
      "empty.example": [],
      "sunk.example": ["184.105.192.2"],
      "refused.example": [refusedAddress],
    } as const;
    await using world = await startLookWorld({ names });

    expect(await lookAt(world, name)).toMatchObject(expected);
  });

  it("takes a name for gone only when every server says so", async () => {
    await using world = await startLookWorld();
    await using other = await startLookWorld({ names: { "b.example": "SERVFAIL" } });
    const dnsServers = [world.dns.address, other.dns.address];
    const look = createLookAt({ ...world.settings, dnsServers }, createSystemClock());

    expect(await look({ urls: ["http://a.example/"], isDnsOnly: false })).toMatchObject({ answer: "gone" });
    expect(await look({ urls: ["http://b.example/"], isDnsOnly: false })).toMatchObject({ answer: "undecided" });
  });

  it("asks by DNS alone, where that is all that may be asked", async () => {
    await using world = await startLookWorld({ pages: { "a.example": "ok" } });

    expect(await lookAt(world, "https://a.example/?m=user@example.org", true)).toMatchObject({ answer: "undecided" });
    expect(await lookAt(world, "https://none.example/?m=user@example.org", true)).toMatchObject({ answer: "gone" });
    expect(world.proxy.asked).toStrictEqual([]);
  });
});

describe("what a look never connects to", () => {
  const names = {
    "loopback.example": ["127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "private6.example": ["fd00::1"],
    "mapped.example": ["::ffff:8.8.8.8"],
    "mixed.example": ["8.8.8.8", "10.0.0.1"],
    "mixed6.example": ["8.8.8.8", "::1"],
    "cname.example": { cname: "inside.corp.example", addresses: ["192.168.1.1"] },
    "xn--bcher-kva.example": ["10.1.2.3"],
    localhost: ["127.0.0.1"],
  };
  const refused: readonly (readonly [string, string, NonNullable<ProbeResult["reason"]>])[] = [
    ["a name on the loopback interface", "http://loopback.example/", "address"],
    ["a name of the metadata service", "http://metadata.example/", "address"],
    ["a name with a private IPv6 address", "http://private6.example/", "address"],
    ["a name with a mapped address", "http://mapped.example/", "address"],
    ["a name with one private address of two", "http://mixed.example/", "address"],
    ["a name with one private address of two families", "http://mixed6.example/", "address"],
    ["an alias of a private name", "http://cname.example/", "address"],
    ["an internationalized name", "http://bücher.example/", "address"],
    ["localhost", "http://localhost/", "address"],
    ["a literal", "http://127.0.0.1/", "address"],
    ["a literal in octal", "http://0177.0.0.1/", "name"],
    ["a literal in hexadecimal", "http://0x7f.0.0.1/", "name"],
    ["a literal as one number", "http://2130706433/", "name"],
    ["a short literal", "http://127.1/", "name"],
    ["a literal in full-width digits", "http://１２７.0.0.1/", "name"],
    ["a public literal in hexadecimal", "http://0x08080808/", "name"],
    ["a mapped literal", "http://[::ffff:169.254.169.254]/", "address"],
    ["a literal of the IPv6 loopback interface", "http://[::1]/", "address"],
    ["a literal of 6to4", "http://[2002:a9fe:a9fe::1]/", "address"],
    ["a name with a user", "http://user@a.example/", "name"],
    ["a name with a password", "http://:word@a.example/", "name"],
    ["another port", "http://a.example:8080/", "port"],
    ["the port of mail", "https://a.example:25/", "port"],
    ["a host of the configuration", "http://platform.example/", "name"],
    ["a host of the configuration with a dot", "http://PLATFORM.example./", "name"],
  ];

  it.each(refused)("is %s", async (_, name, reason) => {
    await using world = await startLookWorld({ names, pages: { "a.example": "ok" }, hosts: ["platform.example"] });

    expect(await lookAt(world, name)).toMatchObject({ answer: "undecided", status: null, reason });
    expect(world.proxy.asked).toStrictEqual([]);
  });

  it.each([
    ...refused,
    ["another scheme", "ftp://a.example/", "name"] as const,
    ["a file", "file:///etc/passwd", "name"] as const,
    ["a script", "javascript:alert(1)", "name"] as const,
  ])("is %s after a redirect", async (_, location, reason) => {
    const target = Buffer.from(location).toString("latin1");
    await using world = await startLookWorld({
      names,
      pages: { "a.example": redirect(target) },
      hosts: ["platform.example"],
    });

    expect(await lookAt(world, "http://a.example/")).toMatchObject({ answer: "undecided", reason });
    expect(world.proxy.asked.map(({ authority }) => authority)).toStrictEqual([`${pageAddress}:80`]);
  });

  it("is what a name leads to when it is asked a second time", async () => {
    let count = 0;
    const turning = (): readonly string[] => (count++ < 2 ? [pageAddress] : ["127.0.0.1"]);
    await using world = await startLookWorld({
      names: { "turning.example": turning },
      pages: {
        "turning.example": (request, response) =>
          request.url === "/" ? response.writeHead(302, { location: "/b" }).end() : response.end("ok"),
      },
    });

    expect(await lookAt(world, "http://turning.example/")).toMatchObject({ answer: "answers" });
    expect(world.proxy.asked.map(({ authority }) => authority)).toStrictEqual([
      `${pageAddress}:80`,
      `${pageAddress}:80`,
    ]);
    expect(world.dns.asked).toStrictEqual(["turning.example", "turning.example"]);
  });

  it("is allowed in the ranges of tests, with their ports, and nowhere else", async () => {
    await using world = await startLookWorld({ names, pages: { "loopback.example": "ok" }, allow: ["127.0.0.0/8"] });

    expect(await lookAt(world, "http://loopback.example:8080/")).toMatchObject({ answer: "answers" });
    expect(await lookAt(world, "http://metadata.example/")).toMatchObject({ reason: "address" });
    expect(await lookAt(world, "http://[::ffff:127.0.0.1]/")).toMatchObject({ reason: "address" });
  });
});
