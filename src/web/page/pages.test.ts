import { describe, expect, it } from "vitest";

import { FlatlineError } from "../../base/errors.ts";
import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { ask, useWebs, basic, bearer, nobody, snapshotOf } from "../../../test/support/web-harness.ts";

const start = useWebs();

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

  it("says once that an organization is unknown, whichever of its checks gave no result", async () => {
    const web = await start();
    const unseen = [errorReport({ slug: "dark" }), errorReport({ slug: "dark", check: "event-flow" })];
    web.world.snapshots = unseen.map((report) => snapshotOf(report));

    const html = await (await ask(web, "GET /")).text();

    expect(html).toContain("1 of 1 could not be checked.");
    expect(html).not.toContain("The check event-flow of dark");
  });

  it("never draws what is unknown as ok or as 0", async () => {
    const web = await start();
    web.world.snapshots = [snapshotOf(errorReport({ slug: "dark" }))];

    const html = await (await ask(web, "GET /")).text();

    expect(html).toContain("1 of 1 could not be checked.");
    expect(html).toMatch(/class="num c-count">–</);
  });
});

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
    ["that shows it", "/", {}],
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
