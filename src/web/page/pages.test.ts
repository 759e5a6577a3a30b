import { describe, expect, it } from "vitest";

import { FlatlineError } from "../../base/errors.ts";
import { ask, useWebs, basic, bearer, nobody } from "../../../test/support/web-harness.ts";

const start = useWebs();

describe("the operator's pages", () => {
  it.each(["/receivers", "/queue", "/config"])("%s: 401 without the token, 200 with it either way", async (path) => {
    const web = await start();

    const none = await ask(web, `GET ${path}`);
    const wrong = await fetch(web.url + path, { headers: { authorization: "Bearer no" } });
    const withBearer = await fetch(web.url + path, { headers: bearer });
    const withBasic = await fetch(web.url + path, { headers: basic });

    expect([none.status, wrong.status, withBearer.status, withBasic.status]).toEqual([401, 401, 200, 200]);
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
    const subjects = ["a-fleet", "dead-asset-spike/<b>acme/verdict", "sentinel/<b>acme/verdict"];
    web.world.outbox = [{ ...entry, id: "n1", lastError: "HTTP 410 <i>", subjects }];

    const html = await (await fetch(`${web.url}/receivers`, { headers: bearer })).text();

    expect(html).toContain("&#60;b&#62;acme");
    expect(html).toContain("HTTP 410 &#60;i&#62;");
    expect(html).toContain('value="n1"');
  });

  it("are closed when no token is configured", async () => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [], publicRead: true };

    const answer = await fetch(`${web.url}/config`, { headers: { accept: "text/html" } });

    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("server.token");
  });
});

describe("while the store cannot be read, a page", () => {
  it.each([
    ["that is not there", "/nothing", {}],
    ["that needs the token", "/receivers", bearer],
  ])("%s says so", async (_, path, headers) => {
    const web = await start();
    web.world.beforeRead = async () => {
      throw new FlatlineError("store_busy", "the database is locked");
    };

    const answer = await ask(web, `GET ${path}`, { accept: "text/html", ...headers });

    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await answer.text()).toContain("flatline cannot read its store.");
  });
});
