import { request, type IncomingMessage } from "node:http";

import { describe, expect, it } from "vitest";

import {
  ask,
  basic,
  harnessNowMs,
  nobody,
  oneToken,
  token,
  useWebs,
  type RunningWeb,
} from "../../test/support/web-harness.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { dayMs, minuteMs } from "../base/time.ts";
import type { FailedVia } from "../contract/actor.ts";
import type { Right } from "../contract/rights.ts";
import { createRefusedSignIns } from "./sign-in.ts";

const start = useWebs();

const browser = { accept: "text/html" } as const;
const sameOrigin = { ...browser, "sec-fetch-site": "same-origin" } as const;
const right = { token, name: "dana", remember: "yes" } as const;

function post(
  web: RunningWeb,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = sameOrigin,
): Promise<Response> {
  return fetch(web.url + path, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(fields) });
}

/** Signs in and returns the header with the cookie. */
async function signedIn(web: RunningWeb, fields: Record<string, string> = right): Promise<{ readonly cookie: string }> {
  return { cookie: cookieOf(await post(web, "/sign-in", fields)).split(";")[0] ?? "" };
}

function cookieOf(response: Response): string {
  return response.headers.getSetCookie().join("|");
}

function get(web: RunningWeb, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(web.url + path, { redirect: "manual", headers: { ...browser, ...headers } });
}

describe("a sign-in", () => {
  it("keeps its cookie to its own browser where two read a page that is made once", async () => {
    const web = await start();
    const [one, other] = [await signedIn(web), await signedIn(web)];
    web.world.nowMs += 2 * minuteMs;

    const part = { "hx-request": "true" };
    const first = await get(web, "/receivers", { ...one, ...part });
    const second = await get(web, "/receivers", { ...other, ...part });

    expect(await second.text()).toBe(await first.text());
    expect(web.world.outboxReads).toBe(1);
    expect([first, second].map((page) => cookieOf(page).split(";")[0])).toEqual([one.cookie, other.cookie]);
  });

  it("gives a cookie of 256 random bits and leads to the page that was asked for", async () => {
    const web = await start();

    const answer = await post(web, "/sign-in", { ...right, next: "/silences?q=a%20b" });
    const other = await post(web, "/sign-in", { token, name: "dana" });

    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe("/silences?q=a%20b");
    const [name, key] =
      /^(\w+)=([\w-]{43}); Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/.exec(cookieOf(answer))?.slice(1) ?? [];
    const [otherKey] = /^\w+=([\w-]{43}); Path=\/; HttpOnly; SameSite=Lax$/.exec(cookieOf(other))?.slice(1) ?? [];
    expect(name).toBe(`flatline_session_${web.port}`);
    expect(otherKey).not.toBe(key);
    expect(JSON.stringify([...web.world.sessions])).not.toContain(key);
  });

  it("keeps of its token what no other server can be compared with, and one proof for all sessions", async () => {
    const [one, other] = [await start(), await start()];
    for (const web of [one, one, other]) await signedIn(web);

    const proofsOf = ({ world }: RunningWeb) => [...world.sessions.values()].map(({ tokenProof }) => tokenProof);
    expect(new Set(proofsOf(one)).size).toBe(1);
    expect(proofsOf(one)).not.toContain(proofsOf(other)[0]);
    expect(proofsOf(one).join()).not.toContain(token);
  });

  it.each([
    ["localhost", "flatline_session"],
    ["localhost:80", "flatline_session"],
    ["localhost:443", "flatline_session"],
    ["localhost:8443", "flatline_session_8443"],
    ["[::1]", "flatline_session"],
    ["[::1]:9640", "flatline_session_9640"],
  ])("gives at %s the cookie %s, which counts there and at no other port", async (host, name) => {
    const web = await start();
    const ask = (path: string, headers: Record<string, string>, body?: string): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const type = body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
        const all = { ...sameOrigin, ...type, host, ...headers };
        request(web.url + path, { method: body === undefined ? "GET" : "POST", headers: all }, resolve)
          .on("error", reject)
          .end(body);
      });

    const signedIn = await ask("/sign-in", {}, new URLSearchParams(right).toString());
    const cookie = signedIn.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";

    expect(cookie.split("=")[0]).toBe(name);
    expect((await ask("/api/v1/silences", { cookie })).statusCode).toBe(200);
    expect((await ask("/api/v1/silences", { cookie, host: `127.0.0.1:${web.port}` })).statusCode).toBe(401);
  });

  it("gives a cookie that is secure where the request names the host of an https externalUrl", async () => {
    const web = await start();
    const isSecure = async (externalUrl: string): Promise<boolean> => {
      web.world.access = { ...web.world.access, externalUrl };
      return cookieOf(await post(web, "/sign-in", right)).endsWith("; Secure");
    };

    expect(await isSecure(`https://127.0.0.1:${web.port}`)).toBe(true);
    expect(await isSecure(`http://127.0.0.1:${web.port}`)).toBe(false);
    expect(await isSecure("https://127.0.0.1")).toBe(false);
    expect(await isSecure("https://flatline.example")).toBe(false);
  });

  it.each([
    ["/o/acme?range=7d#chart", "/o/acme?range=7d#chart"],
    ["", "/"],
    ["https://evil.example/", "/"],
    ["//evil.example/", "/"],
    ["/\\evil.example/", "/"],
    ["/\t/evil.example/", "/"],
    ["/sign-in?next=/", "/"],
  ])("goes on from %j to %j", async (next, location) => {
    const web = await start();

    expect((await post(web, "/sign-in", { ...right, next })).headers.get("location")).toBe(location);
  });

  it.each([
    ["no word of the browser", browser, 403],
    ["another site", { ...browser, "sec-fetch-site": "cross-site", origin: "https://evil.example" }, 403],
    ["another port", { ...browser, origin: "http://127.0.0.1:1" }, 403],
    ["a page without an origin", { ...browser, origin: "null" }, 403],
    ["the page of externalUrl", { ...browser, origin: "https://flatline.example" }, 303],
  ])("of %s is answered", async (_rule, headers, status) => {
    const web = await start();
    web.world.access = { ...web.world.access, externalUrl: "https://flatline.example" };

    expect((await post(web, "/sign-in", right, headers)).status).toBe(status);
    expect((await post(web, "/sign-out", {}, headers)).status).toBe(status);
  });

  it("takes the origin that the request's host names", async () => {
    const web = await start();

    expect((await post(web, "/sign-in", right, { origin: web.url })).status).toBe(303);
  });

  it("says beside the field that a token is wrong, and keeps the name", async () => {
    const failed: FailedVia[] = [];
    const web = await start({ noteFailure: (via) => void failed.push(via) });

    const answer = await post(web, "/sign-in", { ...right, token: "wrong", name: '"dana"', next: "/silences" });
    const page = await answer.text();

    expect(answer.status).toBe(401);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(page).toContain("This token is not accepted. Nothing was changed.");
    expect(page).toContain('value="&#34;dana&#34;"');
    expect(page).toContain('value="/silences"');
    expect(page).not.toContain("wrong");
    expect(failed).toEqual(["session"]);
  });

  it.each(["🦉".repeat(64), "Ünal Öztürk"])(
    "takes a name of so many characters, whatever they are made of: %s",
    async (name) => {
      const web = await start();

      expect((await post(web, "/sign-in", { ...right, name })).status).toBe(303);
      expect([...web.world.sessions.values()].map(({ personName }) => personName)).toEqual([name]);
    },
  );

  it.each(["", " ", "a\u0007b", "x".repeat(65), "🦉".repeat(65)])(
    "needs a name of 1 to 64 printable characters: not %j",
    async (name) => {
      const web = await start();

      expect((await post(web, "/sign-in", { ...right, name })).status).toBe(400);
      expect(web.world.sessions.size).toBe(0);
    },
  );

  it("is refused with 429 after ten wrong tokens, but a right one is accepted; a wrong Bearer stays 401", async () => {
    const web = await start();
    const wrong = { ...right, token: "wrong" };

    for (let count = 0; count < 10; count++) expect((await post(web, "/sign-in", wrong)).status).toBe(401);
    const over = await post(web, "/sign-in", wrong);

    expect(over.status).toBe(429);
    expect(over.headers.get("retry-after")).toBe("60");
    expect((await post(web, "/sign-in", right)).status).toBe(303);
    for (let count = 0; count < 12; count++)
      expect((await ask(web, "GET /api/v1/silences", { authorization: "Bearer wrong" })).status).toBe(401);
  });

  it.each([
    ["the last address that is no proxy's", "127.0.0.1", "9.9.9.9, 10.0.0.7, 10.0.0.8", "10.0.0.7"],
    ["its own address, from another than the proxy", "10.9.9.9", "10.0.0.7", "127.0.0.1"],
    ["the proxy's address, without the header", "127.0.0.1", null, "127.0.0.1"],
    ["what stands there, if that is no address", "127.0.0.1", "unknown", "unknown"],
  ])("is limited and noted by %s", async (_rule, proxy, forwarded, expected) => {
    const noted: string[] = [];
    const web = await start({ noteFailure: (_via, address) => void noted.push(address) });
    const trustedProxy = { from: [proxy, "10.0.0.8"], userHeader: "x-user", groupsHeader: "x-groups", may: {} };
    web.world.access = { ...web.world.access, trustedProxy };
    const wrong = { ...right, token: "wrong" };
    const status = async (address: string | null): Promise<number> => {
      const headers = address === null ? sameOrigin : { ...sameOrigin, "x-forwarded-for": address };
      return (await post(web, "/sign-in", wrong, headers)).status;
    };

    for (let count = 0; count < 10; count++) expect(await status(forwarded)).toBe(401);

    expect(new Set(noted)).toEqual(new Set([expected]));
    expect(await status(forwarded)).toBe(429);
    expect(await status("10.0.0.9")).toBe(expected === "127.0.0.1" && forwarded !== null ? 429 : 401);
  });

  it("is not offered while no token is configured", async () => {
    const web = await start();
    web.world.access = { ...nobody };

    expect((await get(web, "/sign-in")).status).toBe(403);
    expect(await (await get(web, "/incidents")).text()).not.toContain("/sign-in");
  });

  it("ends the session that the browser had", async () => {
    const web = await start();
    const first = await signedIn(web);

    const second = await post(web, "/sign-in", { ...right, name: "kim" }, { ...sameOrigin, ...first });

    expect(second.status).toBe(303);
    expect([...web.world.sessions.values()].map(({ personName }) => personName)).toEqual(["kim"]);
  });
});

describe("a session", () => {
  const acknowledge = "/api/v1/silences";
  const silence = JSON.stringify({
    slug: "acme",
    endsAt: new Date(harnessNowMs + minuteMs).toISOString(),
    comment: "x",
  });
  const write = (web: RunningWeb, headers: Record<string, string>): Promise<Response> =>
    fetch(web.url + acknowledge, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: silence,
    });

  it("reads what is closed and acts in the name of the token, with the person's as a note", async () => {
    const web = await start();
    const session = await signedIn(web);

    expect((await get(web, "/silences", session)).status).toBe(200);
    expect((await write(web, { ...session, ...sameOrigin })).status).toBe(201);
    expect(web.world.silences).toEqual([expect.objectContaining({ createdBy: "token", note: "dana" })]);
  });

  it.each([
    ["another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["a site beside it", { "sec-fetch-site": "same-site" }],
    ["a program", {}],
  ])("does not act for %s", async (_who, headers) => {
    const web = await start();
    const session = await signedIn(web);

    expect((await write(web, { ...session, ...headers })).status).toBe(403);
    expect(web.world.silences).toEqual([]);
  });

  it("has the rights that its token has now", async () => {
    const web = await start();
    const session = await signedIn(web);
    const rights: ReadonlySet<Right> = new Set(["read"]);
    web.world.access = { ...web.world.access, tokens: [{ ...oneToken(token), rights }] };

    expect((await write(web, { ...session, ...sameOrigin })).status).toBe(403);
    expect((await get(web, "/silences", session)).status).toBe(200);
    expect((await get(web, "/config", session)).status).toBe(200);
  });

  it.each([
    ["its token's secret changes", [oneToken("another secret")]],
    ["its token has another name", [{ ...oneToken(token), name: "other" }]],
  ])("ends when %s", async (_rule, tokens) => {
    const web = await start();
    const session = await signedIn(web);
    web.world.access = { ...web.world.access, tokens };

    expect((await ask(web, "GET /api/v1/silences", session)).status).toBe(401);
    expect((await ask(web, "GET /api/v1/checks", session)).status).toBe(200);
  });

  it("is not used by an open page that asks whether it has changed", async () => {
    const web = await start();
    const session = await signedIn(web);
    const refresh = { ...session, "hx-request": "true", "if-none-match": '"old"', accept: "text/html" };
    for (let day = 1; day < 30; day++) {
      web.world.nowMs = harnessNowMs + day * dayMs;
      expect((await ask(web, "GET /silences", refresh)).status).toBe(200);
    }
    web.world.nowMs = harnessNowMs + 30 * dayMs;

    expect((await ask(web, "GET /silences", refresh)).headers.get("hx-redirect")).toContain("/sign-in");
  });

  it("ends without use; its last use is stored once a minute, and the browser keeps it as long", async () => {
    const web = await start();
    const session = await signedIn(web);
    const use = async (atMs: number): Promise<[status: number, hasCookie: boolean]> => {
      web.world.nowMs = harnessNowMs + atMs;
      const answer = await ask(web, "GET /api/v1/silences", session);
      return [answer.status, answer.headers.getSetCookie().length > 0];
    };

    expect(await use(minuteMs - 1)).toEqual([200, false]);
    expect(await use(20 * dayMs)).toEqual([200, true]);
    expect(await use(20 * dayMs + minuteMs - 1)).toEqual([200, false]);
    expect(await use(49 * dayMs)).toEqual([200, true]);
    expect(await use(79 * dayMs)).toEqual([401, false]);
  });

  it("ends with a sign-out, which takes the cookie", async () => {
    const web = await start();
    const session = await signedIn(web);

    const answer = await post(web, "/sign-out", {}, { ...sameOrigin, ...session });

    expect(answer.status).toBe(303);
    expect(cookieOf(answer)).toMatch(/^flatline_session_\d+=; Path=\/; Max-Age=0;/);
    expect((await ask(web, "GET /api/v1/silences", session)).status).toBe(401);
    expect((await post(web, "/sign-out", {}, { ...sameOrigin, ...session })).status).toBe(303);
    expect((await get(web, "/sign-out")).status).toBe(405);
  });

  it("is none where two cookies have its name", async () => {
    const web = await start();
    const { cookie } = await signedIn(web);
    const other = await signedIn(web);

    const answer = await ask(web, "GET /api/v1/silences", { cookie: `${cookie}; ${other.cookie}` });

    expect(answer.status).toBe(401);
  });
});

describe("a page", () => {
  it("leads a form back to its page, and a script without a redirect that it would follow", async () => {
    const web = await start();
    const form = { ...sameOrigin, referer: `${web.url}/incidents/41?range=7d` };
    const location = "/sign-in?next=%2Fincidents%2F41%3Frange%3D7d";

    expect((await post(web, "/incidents/41/judge", {}, form)).headers.get("location")).toBe(location);
    const other = await post(web, "/incidents/41/judge", {}, { ...form, referer: "https://evil.example/a" });
    expect(other.headers.get("location")).toBe("/sign-in");
    const script = await post(web, "/incidents/41/judge", {}, { ...form, "hx-request": "true" });
    expect([script.status, script.headers.get("hx-redirect")]).toEqual([204, location]);
  });

  it("that is closed leads to the sign-in and takes Basic; the API answers 401", async () => {
    const web = await start();

    const answer = await get(web, "/silences?q=a");

    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe("/sign-in?next=%2Fsilences%3Fq%3Da");
    expect((await get(web, "/silences", basic)).status).toBe(200);
    expect((await get(web, "/silences", { authorization: "Basic d3Jvbmc6d3Jvbmc=" })).status).toBe(401);
    expect((await get(web, "/silences", { accept: "*/*" })).status).toBe(303);
    expect((await get(web, "/silences", { accept: "application/json" })).status).toBe(401);
    expect((await get(web, "/api/v1/silences")).status).toBe(401);
  });

  it("leads there without publicRead, with its style; metrics answer 401", async () => {
    const web = await start();
    web.world.access = { ...web.world.access, publicRead: false };

    for (const path of ["/", "/o/acme", "/nowhere"]) expect((await get(web, path)).status).toBe(303);
    expect((await get(web, "/metrics")).status).toBe(401);
    expect((await get(web, "/sign-in?next=/o/acme")).status).toBe(200);
    expect((await get(web, "/assets/nowhere.css")).status).toBe(404);
  });

  it("says who reads it, with the way out, else the way in and back", async () => {
    const web = await start();
    const session = await signedIn(web, { ...right, name: "dana <b>" });
    const footer = async (headers: Record<string, string>): Promise<string> => {
      const answer = await get(web, "/incidents?q=a", headers);
      expect(answer.headers.get("referrer-policy")).toBe("same-origin");
      return /<footer[^>]*>.*<\/footer>/s.exec(await answer.text())?.[0] ?? "";
    };

    const signed = await footer(session);
    expect(signed).toContain("dana &#60;b&#62; (token)");
    expect(signed).toMatch(/<form [^>]*method="post" action="\/sign-out"/);
    expect(await footer({})).toContain('<a href="/sign-in?next=%2Fincidents%3Fq%3Da">Sign in</a>');
  });
});

it("lets an address try again when the oldest of ten refusals is a minute ago", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const refused = createRefusedSignIns(clock);
  refused.note("a");
  await clock.advance(minuteMs / 2);
  for (let count = 0; count < 9; count++) refused.note("a");
  refused.note("b");

  expect(refused.isOver("a")).toBe(true);
  expect(refused.isOver("b")).toBe(false);
  await clock.advance(minuteMs / 2 - 1);
  expect(refused.isOver("a")).toBe(true);
  await clock.advance(1);
  expect(refused.isOver("a")).toBe(false);
  refused.note("a");
  expect(refused.isOver("a")).toBe(true);
});

it("remembers the last ten thousand addresses", () => {
  const refused = createRefusedSignIns(createVirtualClock({ startMs: 0 }));
  for (let count = 0; count < 10; count++) for (const address of ["old", "kept"]) refused.note(address);

  for (let index = 0; index < 9_999; index++) refused.note(`address ${index}`);

  expect(refused.isOver("old")).toBe(false);
  expect(refused.isOver("kept")).toBe(true);
});
