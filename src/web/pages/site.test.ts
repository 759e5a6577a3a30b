import { describe, expect, it } from "vitest";

import { FlatlineError } from "../../base/errors.ts";
import { minuteMs } from "../../base/time.ts";
import { ask, bearer, nobody, token, useWebs } from "../../../test/support/web-harness.ts";

const start = useWebs();
const asBrowser = { accept: "text/html" };

describe("a page", () => {
  it("that is not there is one, without a look at the store, and names the way back", async () => {
    const web = await start();
    web.world.beforeRead = () => Promise.reject(new FlatlineError("store_busy", "the database is locked"));

    const answer = await ask(web, "GET /nothing", asBrowser);
    const text = await answer.text();

    expect(answer.status).toBe(404);
    expect(text).toContain("There is no page here.");
    expect(text).toContain('<a href="/">All organizations</a>');
    expect(text).not.toContain(" style=");
    expect((await ask(web, "GET /nothing")).headers.get("content-type")).toContain("application/json");
    for (const path of ["/api/v1/nothing", "/-/nothing", "/assets/nothing.js"])
      expect((await ask(web, `GET ${path}`, asBrowser)).headers.get("content-type")).toContain("application/json");
  });

  it("allows what the server has itself and nothing inline", async () => {
    const web = await start();

    const policy = (await ask(web, "GET /nothing", asBrowser)).headers.get("content-security-policy");

    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
  });

  it("says that the store cannot be read, and when to ask again", async () => {
    const web = await start();
    Object.defineProperty(web.world, "outbox", {
      get: () => {
        throw new FlatlineError("store_busy", "the database is locked");
      },
    });

    const answer = await ask(web, "GET /receivers", { ...asBrowser, ...bearer });

    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.text()).toContain("flatline cannot read its store.");
  });

  it.each([
    ["/silences/new", 16],
    ["/incidents/1/acknowledge", 1_024],
  ])("takes a form of %s of %d KiB, and not a larger one", async (path, kibibytes) => {
    const web = await start();
    const post = async (bytes: number): Promise<number> => {
      const headers = { ...bearer, "content-type": "application/x-www-form-urlencoded" };
      return (await fetch(web.url + path, { method: "POST", headers, body: "a=".padEnd(bytes, "a") })).status;
    };

    expect(await post(kibibytes * 1_024)).not.toBe(413);
    expect(await post(kibibytes * 1_024 + 1)).toBe(413);
  });

  it("is not shown to who may not see it, and says what is missing", async () => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [], publicRead: true };

    const answer = await ask(web, "GET /config", asBrowser);

    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("server.token");
  });
});

describe("the operator's pages", () => {
  it("say the result of an act once: their links and forms do not repeat it", async () => {
    const web = await start();

    const html = await (await fetch(`${web.url}/?severity=ok&did=The+silence+has+ended.`, { headers: bearer })).text();

    expect(html).toContain('role="status">The silence has ended.</p>');
    expect(html.match(/(?:name="|[?&;])did\b/g)).toBeNull();
  });
});

describe.each([
  ["takes away", ""],
  ["leaves", "/flatline"],
])("below a path that the proxy %s", (_does, sent) => {
  it("each page, form, redirect, asset and cookie leads below it", async () => {
    const web = await start();
    web.world.access = { ...web.world.access, publicRead: false, externalUrl: "https://ops.example.com/flatline/" };
    const asked = { ...asBrowser, "sec-fetch-site": "same-origin", referer: `${web.url}/flatline/silences?sort=end` };
    const get = (path: string, headers: object = bearer) =>
      fetch(web.url + sent + path, { redirect: "manual", headers: { ...asked, ...headers } });
    const post = (path: string, fields: Record<string, string>) =>
      fetch(web.url + sent + path, {
        method: "POST",
        redirect: "manual",
        headers: asked,
        body: new URLSearchParams(fields),
      });

    const led = await Promise.all([
      get("/silences", {}),
      get("/", {}),
      post("/silences/new", {}),
      post("/sign-out", {}),
    ]);
    const own = "/flatline/silences?sort=end";
    const signedIn = await post("/sign-in", { token, name: "dana", next: own });
    const part = await get("/silences", { "hx-request": "true" });

    expect(led.map(({ headers }) => headers.get("location"))).toEqual([
      "/flatline/sign-in?next=%2Fsilences",
      "/flatline/sign-in",
      "/flatline/sign-in?next=%2Fsilences%3Fsort%3Dend",
      "/flatline/",
    ]);
    expect(signedIn.headers.get("location")).toBe(own);
    expect(signedIn.headers.get("set-cookie")).toContain("; Path=/flatline; ");
    expect(part.headers.get("hx-redirect")).toBe("/flatline/sign-in?next=%2Fsilences");
    for (const page of [
      "/",
      "/incidents",
      "/silences",
      "/silences/new",
      "/receivers",
      "/docs?q=cause",
      "/sign-in",
      "/nothing",
    ]) {
      const text = await (await get(page)).text();
      const addresses = [...text.matchAll(/(?:href|src|action|hx-\w+)="(\/[^"]*)"/g)].map(
        ([, address = ""]) => address,
      );
      expect(addresses.filter((address) => !address.startsWith("/flatline/"))).toEqual([]);
      const asset = addresses.find((address) => address.endsWith(".css"));
      expect((await get(asset?.slice("/flatline".length) ?? "")).status).toBe(200);
    }
  });
});

describe("the documentation", () => {
  it("has an index in its own order, finds headings of all pages, and leads back", async () => {
    const web = await start();
    const textOf = async (path: string): Promise<string> => (await ask(web, `GET ${path}`)).text();

    const index = await textOf("/docs");
    const found = await textOf("/docs?q=one+CAUSE");

    expect([...index.matchAll(/href="\/docs\/([a-z]+\.md)"/g)].map(([, name]) => name).slice(0, 3)).toEqual([
      "guide.md",
      "concepts.md",
      "operations.md",
    ]);
    expect(found).toContain('<a href="/docs/concepts.md#from-one-cause">From one cause</a> · Concepts');
    expect(await textOf("/docs/concepts")).toContain('<a href="/docs">All pages</a>');
    expect(await textOf("/docs?q=%3Cb%3E")).not.toContain("<b>");
  });
});

describe("a page that many have open", () => {
  const asPart = { ...asBrowser, "hx-request": "true", "accept-encoding": "gzip" };

  it("is made once for each version for those who see the same, and is read by nobody who has it", async () => {
    const web = await start();
    const read = (headers: object = {}) => ask(web, "GET /receivers", { ...asPart, ...bearer, ...headers });

    const pages = await Promise.all(Array.from({ length: 5 }, () => read()));
    const texts = await Promise.all(pages.map((page) => page.text()));

    expect(web.world.outboxReads).toBe(1);
    expect(new Set(texts).size).toBe(1);
    for (const { status, headers } of pages)
      expect([status, headers.get("content-encoding"), headers.get("cache-control")]).toEqual([
        200,
        "gzip",
        "no-store",
      ]);
    expect(pages[4]?.headers.get("content-security-policy")).toBe(pages[0]?.headers.get("content-security-policy"));
    const tag = { "if-none-match": pages[0]?.headers.get("etag") ?? "" };
    expect([(await read(tag)).status, texts[0]]).toEqual([304, expect.stringContaining("receivers")]);
    expect(web.world.outboxReads).toBe(1);

    expect((await ask(web, "GET /receivers?q=a", { ...asPart, ...bearer, ...tag })).status).toBe(200);
    web.world.version++;
    expect((await read(tag)).status).toBe(200);
    web.world.nowMs += minuteMs;
    expect((await read(tag)).status).toBe(200);
    expect(web.world.outboxReads).toBe(4);
  });

  it("is made for each who opens it, and again after an act", async () => {
    const web = await start();
    const read = (headers: object = asPart) => ask(web, "GET /receivers", { ...headers, ...bearer });
    await read();
    await read(asBrowser);
    expect(web.world.outboxReads).toBe(2);

    await ask(web, "POST /config/reload", { ...asPart, ...bearer });
    await read();
    expect(web.world.outboxReads).toBe(3);
  });

  it("has no version where it could not be made", async () => {
    const web = await start();
    web.world.storeError = new FlatlineError("store_busy", "the database is locked");

    const answer = await ask(web, "GET /", asPart);

    expect([answer.status, answer.headers.get("etag")]).toEqual([503, null]);
  });
});
