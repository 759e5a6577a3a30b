import { once } from "node:events";
import { connect } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../test/support/check-reports.ts";
import {
  basic,
  bearer,
  nobody,
  oneToken,
  sendRaw,
  snapshotOf,
  startWeb,
  token,
  type RunningWeb,
} from "../../test/support/web-harness.ts";
import { FlatlineError } from "../base/errors.ts";
import type { WebOptions } from "./web.ts";

let running: RunningWeb[] = [];

afterEach(async () => {
  for (const web of running) await web.close(0);
  running = [];
});

async function start(options: Partial<WebOptions> = {}): Promise<RunningWeb> {
  const web = await startWeb(options);
  running.push(web);
  return web;
}

function ask(web: RunningWeb, route: string, headers: Record<string, string> = {}): Promise<Response> {
  const [method = "GET", path = "/"] = route.split(" ");
  return fetch(web.url + path, { method, headers });
}

const publicReads = [
  "GET /metrics",
  "GET /probe?slug=acme",
  "GET /api/v1/checks",
  "GET /api/v1/checks/dead-asset-spike/acme",
  "GET /api/v1/alerts",
  "GET /",
];
const openReads = ["GET /-/healthy", "GET /-/ready"];
const protectedReads = ["GET /api/v1/silences", "GET /api/v1/outbox", "GET /api/v1/receivers", "GET /api/v1/config"];
const writes = [
  "POST /-/reload",
  "POST /api/v1/checks/dead-asset-spike/acme/run",
  "POST /api/v1/alerts/a1/ack",
  "POST /api/v1/silences",
  "PATCH /api/v1/silences/s1",
  "DELETE /api/v1/silences/s1",
  "POST /api/v1/events",
];

describe("who gets in", () => {
  it.each([...publicReads, ...openReads])("%s needs no token", async (route) => {
    const web = await start();

    expect((await ask(web, route)).status).toBe(200);
  });

  it.each(protectedReads)("%s needs the token, as Bearer or as the password of Basic", async (route) => {
    const web = await start();

    const refused = await ask(web, route);

    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(
      'Bearer realm="flatline", Basic realm="flatline", charset="UTF-8"',
    );
    expect(await refused.json()).toEqual({ message: "the token is missing or wrong", code: "UNAUTHORIZED" });
    expect((await ask(web, route, bearer)).status).toBe(200);
    expect((await ask(web, route, basic)).status).toBe(200);
  });

  it.each(writes)("%s needs the token as Bearer", async (route) => {
    const web = await start();

    const refused = await ask(web, route);

    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="flatline"');
    expect((await ask(web, route, basic)).status).toBe(401);
    expect((await ask(web, route, bearer)).status).not.toBeOneOf([401, 403]);
  });

  it.each([...writes, ...protectedReads])("%s is forbidden to all while no token is configured", async (route) => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [], publicRead: true };

    for (const headers of [{}, bearer, basic, { authorization: "Bearer " }]) {
      const refused = await ask(web, route, headers);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ code: "FORBIDDEN" });
    }
  });

  it.each([
    { name: "a wrong one", authorization: "Bearer wrong" },
    { name: "one with something before it", authorization: `Bearer x${token}` },
    { name: "one with something behind it", authorization: `Bearer ${token}x` },
    { name: "the plain one without its scheme", authorization: token },
    { name: "an empty one", authorization: "Bearer " },
    { name: "Basic without a colon", authorization: `Basic ${Buffer.from(token).toString("base64")}` },
    { name: "Basic with the token as the user", authorization: `Basic ${Buffer.from(`${token}:`).toString("base64")}` },
    { name: "another scheme", authorization: `Digest ${token}` },
  ])("a token is refused: $name", async ({ authorization }) => {
    const web = await start();

    expect((await ask(web, "GET /api/v1/silences", { authorization })).status).toBe(401);
  });

  it("the scheme's name may be written in any case", async () => {
    const web = await start();

    expect((await ask(web, "GET /api/v1/silences", { authorization: `bearer ${token}` })).status).toBe(200);
  });

  it.each([...publicReads, "GET /nowhere", "PUT /metrics"])("%s is closed without publicRead", async (route) => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [oneToken(token)], publicRead: false };

    expect((await ask(web, route)).status).toBe(401);
    expect((await ask(web, route, basic)).status).not.toBe(401);
    expect((await ask(web, route, bearer)).status).not.toBe(401);
  });

  it.each(openReads)("%s stays open without publicRead", async (route) => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [], publicRead: false };

    expect((await ask(web, route)).status).toBe(200);
    expect((await ask(web, "GET /metrics")).status).toBe(403);
    expect((await ask(web, "GET /-/nowhere")).status).toBe(404);
  });

  it("a token of a reload counts from then on", async () => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [oneToken("new")], publicRead: true };

    expect((await ask(web, "GET /api/v1/silences", bearer)).status).toBe(401);
    expect((await ask(web, "GET /api/v1/silences", { authorization: "Bearer new" })).status).toBe(200);
  });

  it("the token is asked for before the body is looked at", async () => {
    const web = await start();

    const answer = await fetch(`${web.url}/api/v1/silences`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    });

    expect(answer.status).toBe(401);
  });
});

describe("every answer", () => {
  it.each([
    ["GET /nowhere", 404, "NOT_FOUND"],
    ["GET /metrics/", 404, "NOT_FOUND"],
    ["GET /api/v2/anything", 404, "NOT_FOUND"],
    ["GET /api/v1/checks/nope/acme", 404, "NOT_FOUND"],
    ["GET /api/v1/checks/dead-asset-spike/nope", 404, "NOT_FOUND"],
    ["GET /%zz", 404, "NOT_FOUND"],
    ["PUT /metrics", 405, "METHOD_NOT_ALLOWED"],
  ])("%s is %i %s, as JSON", async (route, status, code) => {
    const web = await start();

    const answer = await ask(web, route);

    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await answer.json()).toMatchObject({ code, message: expect.any(String) });
  });

  it.each([
    ["POST /metrics", "GET, HEAD"],
    ["DELETE /-/reload", "POST"],
    ["GET /-/reload", "POST"],
    ["OPTIONS /api/v1/checks", "GET, HEAD"],
    ["PATCH /api/v1/silences", "GET, HEAD, POST"],
    ["GET /api/v1/silences/s1", "PATCH, DELETE"],
    ["GET /api/v1/events", "POST"],
    ["GET /api/v1/checks/dead-asset-spike/acme/run", "POST"],
  ])("%s is 405 and says %s", async (route, allow) => {
    const web = await start();

    const answer = await ask(web, route);

    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
  });

  it.each(["GET /", "GET /metrics", "GET /api/v1/checks", "GET /nowhere", "GET /api/v1/outbox", "GET /%zz"])(
    "%s carries the headers that bind a browser, and none of CORS",
    async (route) => {
      const web = await start();

      const { headers } = await ask(web, route, { origin: "https://evil.example" });

      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    },
  );

  it.each([...publicReads, ...openReads])("HEAD of %s has the head of it", async (route) => {
    const web = await start();

    const answer = await ask(web, route.replace("GET", "HEAD"));

    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
    expect(answer.headers.get("content-type")).toBe((await ask(web, route)).headers.get("content-type"));
  });

  it("to a failure of ours says nothing of the inside, and logs it", async () => {
    const web = await start();
    web.world.run = async () => {
      throw new TypeError("cannot read /var/lib/secret");
    };

    const answer = await ask(web, "POST /api/v1/checks/dead-asset-spike/acme/run", bearer);

    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({ message: "internal error", code: "INTERNAL_SERVER_ERROR" });
    expect(web.world.logged).toEqual([
      {
        fields: {
          err: expect.objectContaining({ message: "cannot read /var/lib/secret" }),
          method: "POST",
          path: "/api/v1/checks/dead-asset-spike/acme/run",
        },
        message: "a request failed",
      },
    ]);
  });

  it.each([
    { error: new FlatlineError("conflict", "under way"), status: 409, code: "CONFLICT", message: "under way" },
    { error: new FlatlineError("store_busy", "busy"), status: 503, code: "SERVICE_UNAVAILABLE", message: "busy" },
    {
      error: new FlatlineError("unavailable", "stopping"),
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      message: "stopping",
    },
    {
      error: new FlatlineError("store_unusable", "/var/x is broken"),
      status: 500,
      code: "INTERNAL_SERVER_ERROR",
      message: "internal error",
    },
    {
      error: new FlatlineError("internal", "bug in x"),
      status: 500,
      code: "INTERNAL_SERVER_ERROR",
      message: "internal error",
    },
  ])("to $error.code is $status $code", async ({ error, status, code, message }) => {
    const web = await start();
    web.world.run = async () => {
      throw error;
    };

    const answer = await ask(web, "POST /api/v1/checks/dead-asset-spike/acme/run", bearer);

    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ message, code });
  });

  it("to what is not HTTP is JSON too", async () => {
    const web = await start();

    const answer = await sendRaw(web.port, "HELLO\r\n\r\n");

    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\n\r\n\{"message":"Bad Request","code":"BAD_REQUEST"\}$/);
  });

  it("to a head that is too large is 431", async () => {
    const web = await start();

    const answer = await sendRaw(
      web.port,
      `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"REQUEST_HEADER_FIELDS_TOO_LARGE"');
  });
});

describe("/-/", () => {
  it("healthy is 503 with the reasons when something has stalled", async () => {
    const web = await start();
    web.world.healthReasons = ["the scheduler has stalled"];

    const answer = await ask(web, "GET /-/healthy");

    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      issues: [{ message: "the scheduler has stalled" }],
    });
    expect((await ask(web, "GET /-/ready")).status).toBe(200);
  });

  it("ready is 503 while stopping", async () => {
    const web = await start();
    web.world.readyReasons = ["stopping"];

    expect((await ask(web, "GET /-/ready")).status).toBe(503);
    expect((await ask(web, "GET /-/healthy")).status).toBe(200);
  });

  it("reload answers 200, and every problem of a bad file", async () => {
    const web = await start();
    const good = await ask(web, "POST /-/reload", bearer);
    web.world.reload = async () => {
      throw new FlatlineError("invalid_config", "the configuration has 2 problems\na.yaml:1:1: x\na.yaml:2:1: y");
    };

    const bad = await ask(web, "POST /-/reload", bearer);

    expect(good.status).toBe(200);
    expect(bad.status).toBe(400);
    expect(await bad.json()).toMatchObject({
      code: "BAD_REQUEST",
      issues: [{ message: "a.yaml:1:1: x" }, { message: "a.yaml:2:1: y" }],
    });
  });

  it.each(["", "{", "a=b"])("reload does not mind a body that nobody asked for: %j", async (body) => {
    const web = await start();

    for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
      const answer = await fetch(`${web.url}/-/reload`, {
        method: "POST",
        body,
        headers: { ...bearer, "content-type": type },
      });
      expect(answer.status).toBe(200);
    }
  });
});

describe("listening", () => {
  it("on a port that is taken is refused with what to change", async () => {
    const web = await start();

    await expect(startWeb({}, web.port)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(
        /^cannot listen on 127\.0\.0\.1:\d+: the port is taken: is another flatline running\?$/,
      ),
    });
  });
});

describe("slow and idle clients", () => {
  const timeouts = { headersMs: 200, requestMs: 400, keepAliveMs: 200, checkMs: 50 };

  it.each([
    { name: "that does not end its head", text: "GET / HTTP/1.1\r\nHost: localhost\r\n" },
    {
      name: "that does not end its body",
      text: `POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    },
  ])("one $name gets 408 and is cut off", async ({ text }) => {
    const web = await start({ timeouts });

    const answer = await sendRaw(web.port, text);

    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toContain('"code":"REQUEST_TIMEOUT"');
  });

  it("one that asks nothing more is let go", async () => {
    const web = await start({ timeouts });

    const answer = await sendRaw(web.port, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");

    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("idle ones do not keep the server from closing, nor does one that hangs for longer than the grace", async () => {
    const web = await startWeb();
    const asked = new Promise<void>((resolve) => {
      web.world.run = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const idle = await fetch(`${web.url}/-/healthy`);
    await idle.text();
    const silent = connect(web.port, "127.0.0.1").on("error", () => undefined);
    await once(silent, "connect");
    const hanging = ask(web, "POST /api/v1/checks/dead-asset-spike/acme/run", bearer).then(
      () => "answered",
      () => "cut off",
    );
    await asked;

    const startedAtMs = performance.now();
    await web.close(100);

    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
    expect(await hanging).toBe("cut off");
    silent.destroy();
  });

  it("one that is being answered gets its answer while the server closes", async () => {
    const web = await startWeb();
    let finish: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      web.world.run = async () => {
        resolve();
        await new Promise<void>((done) => (finish = done));
        return resultReport();
      };
    });
    const answer = ask(web, "POST /api/v1/checks/dead-asset-spike/acme/run", bearer);
    await asked;

    const closed = web.close(10_000);
    finish();

    expect((await answer).status).toBe(200);
    await closed;
  });
});

describe("/", () => {
  it("lists the organizations with their severity, the worst first, everything escaped", async () => {
    const web = await start();
    const odd = `<script>alert("x")</script>&'`;
    web.world.snapshots = [
      snapshotOf(resultReport({ severity: "ok", slug: "fine" })),
      snapshotOf(errorReport({ slug: odd })),
      snapshotOf(resultReport({ severity: "fail", slug: "bad" })),
      snapshotOf(null, { slug: "new" }),
    ];

    const answer = await ask(web, "GET /");
    const html = await answer.text();

    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(html).not.toContain("<script>");
    expect(html).not.toContain(" style=");
    const rows = [...html.matchAll(/<tr\s+class="row (\w+)"[^>]*>.*?<a\s+href="([^"]*)"[^>]*>([^<]*)<\/a/gs)];
    expect(rows.map(([, severity, , slug]) => [severity, slug])).toEqual([
      ["fail", "bad"],
      ["unknown", "&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62;&#38;&#39;"],
      ["unknown", "new"],
      ["ok", "fine"],
    ]);
    expect(rows[1]?.[2]).toBe(`/o/${encodeURIComponent(odd).replace("'", "&#39;")}`);
  });

  it("allows what it serves itself and nothing inline", async () => {
    const web = await start();

    const policy = (await ask(web, "GET /")).headers.get("content-security-policy");

    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
  });

  it("shows the first hundred, and the way to the others", async () => {
    const web = await start();
    web.world.snapshots = Array.from({ length: 510 }, (_, index) => snapshotOf(null, { slug: `s${index}` }));

    const first = await (await ask(web, "GET /")).text();
    const last = await (await ask(web, "GET /?page=6")).text();

    expect(first.match(/class="row /g)).toHaveLength(100);
    expect(first).toContain('href="/?page=2"');
    expect(last.match(/class="row /g)).toHaveLength(10);
  });

  it.each([
    ["severity", "/?severity=fail", ["bad"]],
    ["text", "/?q=FIN", ["fine"]],
    ["an order", "/?sort=slug", ["bad", "fine"]],
    ["the other order", "/?sort=slug&dir=desc", ["fine", "bad"]],
    ["nothing that is known", "/?severity=red&sort=x&page=nine", ["bad", "fine"]],
  ])("filters and sorts by the query: %s", async (_rule, path, slugs) => {
    const web = await start();
    web.world.snapshots = [
      snapshotOf(resultReport({ severity: "ok", slug: "fine" })),
      snapshotOf(resultReport({ severity: "fail", slug: "bad" })),
    ];

    const html = await (await ask(web, `GET ${path}`)).text();

    expect([...html.matchAll(/data-slug="([^"]*)"/g)].map(([, slug]) => slug)).toEqual(slugs);
  });

  it("never draws what is unknown as ok or as 0", async () => {
    const web = await start();
    web.world.snapshots = [snapshotOf(errorReport({ slug: "dark" }))];

    const html = await (await ask(web, "GET /")).text();

    expect(html).toContain("1 of 1 could not be checked.");
    expect(html).toMatch(/class="num c-count">–</);
  });
});

describe("/api/v1/outbox/{id}", () => {
  it.each([
    ["POST", "/retry"],
    ["DELETE", ""],
  ])("%s%s needs the token, and a notification that is there", async (method, path) => {
    const web = await start();
    const entry = {
      receiver: "ops",
      recipient: null,
      state: "dead",
      attempts: 1,
      createdAtMs: 0,
      nextAttemptAtMs: 0,
    } as const;
    web.world.outbox = [{ ...entry, id: "n1", lastError: "HTTP 410", subjects: [], payload: "{}" }];
    const send = (id: string, headers: Record<string, string>) =>
      fetch(`${web.url}/api/v1/outbox/${id}${path}`, { method, headers });

    const statuses = [
      await send("n1", {}),
      await send("n1", basic),
      await send("n1", bearer),
      await send("n2", bearer),
    ];

    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 204, 404]);
  });
});

describe("the operator's pages", () => {
  it.each(["/receivers", "/queue", "/config"])("%s: 401 without the token, 200 with it either way", async (path) => {
    const web = await start();

    const none = await ask(web, `GET ${path}`);
    const wrong = await fetch(web.url + path, { headers: { authorization: "Bearer no", accept: "text/html" } });
    const withBearer = await fetch(web.url + path, { headers: bearer });
    const withBasic = await fetch(web.url + path, { headers: basic });

    expect([none.status, wrong.status, withBearer.status, withBasic.status]).toEqual([401, 401, 200, 200]);
    expect(await wrong.text()).toContain('name="token"');
  });

  it("ask by a page that has the field, and by the browser's dialog only where scripts cannot log in", async () => {
    const web = await start();
    const challenge = async (path: string): Promise<string | null> =>
      (await fetch(web.url + path, { headers: { accept: "text/html" } })).headers.get("www-authenticate");

    expect([await challenge("/config"), await challenge("/config?basic")]).toEqual([
      null,
      expect.stringContaining("Basic"),
    ]);
    web.world.access = { ...nobody, tokens: [oneToken(token)], publicRead: false };
    expect([await challenge("/"), await challenge("/config")]).toEqual([
      expect.stringContaining("Basic"),
      expect.stringContaining("Basic"),
    ]);
  });

  it("show a dead letter with what it is about, as text", async () => {
    const web = await start();
    const entry = {
      receiver: "ops",
      recipient: null,
      state: "dead",
      attempts: 3,
      createdAtMs: 0,
      nextAttemptAtMs: 0,
    } as const;
    const payload = JSON.stringify({ alerts: [{ slug: "<b>acme", check: "dead-asset-spike", event: "firing" }] });
    web.world.outbox = [{ ...entry, id: "n1", lastError: "HTTP 410 <i>", subjects: [], payload }];

    const html = await (await fetch(`${web.url}/receivers`, { headers: bearer })).text();

    expect(html).toContain("&#60;b&#62;acme");
    expect(html).toContain("HTTP 410 &#60;i&#62;");
    expect(html).toContain('value="n1"');
  });

  it("answer a script without the dialog of the browser", async () => {
    const web = await start();
    const headers = { accept: "text/html", "x-requested-with": "flatline" };

    const first = await fetch(`${web.url}/config`, { headers });
    const wrong = await fetch(`${web.url}/config`, { headers: { ...headers, authorization: "Bearer no" } });

    // The first is no error: a browser would write it onto its console.
    expect([first.status, first.headers.get("www-authenticate")]).toEqual([200, null]);
    expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([401, null]);
  });

  it("are closed when no token is configured", async () => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [], publicRead: true };

    const answer = await fetch(`${web.url}/config`, { headers: { accept: "text/html" } });

    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("server.token");
  });
});

describe("what is not there", () => {
  it.each([
    ["/nope", "There is no page here."],
    ["/o/nobody", "No such organization is configured."],
  ])("is a page for a browser: %s", async (path, words) => {
    const web = await start();

    const answer = await fetch(web.url + path, { headers: { accept: "text/html" } });

    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    const html = await answer.text();
    expect(html).toContain(words);
    expect(html).toContain('class="masthead"');
  });

  it.each(["/nope", "/api/v1/nope", "/-/nope", "/assets/nope.js"])("is JSON for everything else: %s", async (path) => {
    const web = await start();
    const accept = path === "/nope" ? "*/*" : "text/html";

    const answer = await fetch(web.url + path, { headers: { accept } });

    expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ code: "NOT_FOUND" })]);
  });
});

describe("/api/v2", () => {
  it("is a plugin's own: its routes, its 404, its authentication", async () => {
    const web = await start({
      plugins: [
        async (scope) => {
          scope.get("/hello", async () => ({ hello: "world" }));
          scope.post("/echo", async (request) => request.body);
          scope.setNotFoundHandler((_request, reply) => void reply.code(401).send({ code: "UNAUTHORIZED" }));
        },
      ],
    });
    web.world.access = { ...nobody, tokens: [oneToken(token)], publicRead: false };

    const hello = await ask(web, "GET /api/v2/hello");
    const echo = await fetch(`${web.url}/api/v2/echo`, {
      method: "POST",
      body: '{"a":1}',
      headers: { "content-type": "application/json" },
    });
    const unknown = await ask(web, "GET /api/v2/nowhere");

    expect(await hello.json()).toEqual({ hello: "world" });
    expect(hello.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await echo.json()).toEqual({ a: 1 });
    expect([unknown.status, await unknown.json()]).toEqual([401, { code: "UNAUTHORIZED" }]);
  });
});
