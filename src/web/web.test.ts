import { describe, expect, it } from "vitest";

import { ask, useWebs, bearer, sendRaw, startWeb, token } from "../../test/support/web-harness.ts";
import { FlatlineError } from "../base/errors.ts";

const start = useWebs();

const publicReads = [
  "GET /metrics",
  "GET /probe?slug=acme",
  "GET /api/v1/checks",
  "GET /api/v1/checks/dead-asset-spike/acme",
  "GET /api/v1/alerts",
  "GET /",
];
const openReads = ["GET /-/healthy", "GET /-/ready"];

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
    ["PUT /assets/page.css?again", "GET, HEAD"],
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
      expect(headers.get("referrer-policy")).toBe(route === "GET /" ? "same-origin" : "no-referrer");
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
    {
      error: new FlatlineError("store_busy", "the store /var/x is locked by another process"),
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      message: "the store is locked by another process",
    },
    {
      error: new FlatlineError("unavailable", "stopping"),
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      message: "stopping",
    },
    {
      error: new FlatlineError("store_unusable", "the store /var/x cannot be used: the disk is full"),
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      message: "the store cannot be used: the disk is full",
    },
    {
      error: new FlatlineError("store_unusable", "/var/x is broken"),
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      message: "the store cannot be used",
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

    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, status === 503 ? "1" : null]);
    expect(await answer.json()).toEqual({ message, code });
  });

  it.each([
    ["POST /nowhere", 404],
    ["PUT /nowhere", 404],
    ["POST /api/v1/silences", 401],
    ["POST /api/v1/hooks/pagerduty/pager", 403],
    ["POST /metrics", 405],
  ])("to %s is %i without a byte of the body", async (route, status) => {
    const web = await start({
      timeouts: { headersMs: 1_000, requestMs: 2_000, keepAliveMs: 1_000, answerMs: 10_000, checkMs: 50 },
    });

    const answer = await sendRaw(
      web.port,
      `${route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
        "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
    );

    expect(answer.split("\r\n")[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it.each(["POST /-/reload", "POST /api/v1/checks/dead-asset-spike/acme/run"])(
    "to %s, which takes no argument, does not wait for a body",
    async (route) => {
      const web = await start({
        timeouts: { headersMs: 1_000, requestMs: 2_000, keepAliveMs: 1_000, answerMs: 10_000, checkMs: 50 },
      });

      const answer = await sendRaw(
        web.port,
        `${route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
          `Authorization: Bearer ${token}\r\nContent-Length: 1000000\r\n\r\n{`,
      );

      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

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
});

describe("listening", () => {
  it("on a port that is taken is refused with what to change", async () => {
    const web = await start();

    await expect(startWeb({}, web.port)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(`^cannot listen on 127\\.0\\.0\\.1:${web.port}: the port is taken`),
    });
  });
});
