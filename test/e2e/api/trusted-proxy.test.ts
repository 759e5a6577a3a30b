import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

let folder: DaemonFolder;
let port: number;

beforeEach(async () => {
  folder = await makeDaemonFolder();
  port = await freePort();
});
afterEach(() => folder.close());

interface Setup {
  readonly from?: string;
  readonly externalUrl?: string;
  readonly server?: string;
}

async function start({ from = "127.0.0.0/8", externalUrl, server = "token: root" }: Setup = {}): Promise<void> {
  await folder.configure(`
defaults: { schedule: "@yearly", whenNoEvents: ok }
organizations: [acme, globex]
${externalUrl === undefined ? "" : `alerting: { externalUrl: "${externalUrl}" }`}
server:
  listen: "127.0.0.1:${port}"
  trustedProxy:
    from: ["${from}"]
    may: { sre: [operate, admin], guests: [read] }
  ${server}
storage: { path: flatline.db }
`);
  await folder.start();
}

/** Headers as they are: fetch would not send some of them, and no header twice. */
async function ask(
  method: string,
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
): Promise<{ status: number; body: string }> {
  const request = httpRequest({ host: "127.0.0.1", port, method, path, headers });
  request.end();
  const [answer] = (await once(request, "response")) as [IncomingMessage & { statusCode: number }];
  let body = "";
  for await (const chunk of answer) body += String(chunk);
  return { status: answer.statusCode, body };
}

const run = "/api/v1/checks/dead-asset-spike/acme/run";
const own = { "sec-fetch-site": "same-origin" };
const kim = { "x-forwarded-user": "kim", "x-forwarded-groups": "staff, sre" };

async function audit(): Promise<{ actor: string; via: string; action: string }[]> {
  const { body } = await ask("GET", "/api/v1/audit", { authorization: "Bearer root" });
  return (JSON.parse(body) as { entries: { actor: string; via: string; action: string }[] }).entries;
}

describe("identity from a proxy", () => {
  it.each<[string, string, string, Record<string, string | string[]>, number]>([
    ["reads with the rights of a group", "GET", "/api/v1/silences", kim, 200],
    ["acts with the rights of a group", "POST", run, { ...kim, ...own }, 200],
    ["has no right without a group", "GET", "/api/v1/silences", { "x-forwarded-user": "kim" }, 403],
    ["is refused with two users", "GET", "/api/v1/checks", { ...kim, "x-forwarded-user": ["kim", "root"] }, 401],
    [
      "is refused with two lines of groups, of which one may be its own",
      "GET",
      "/api/v1/checks",
      { ...kim, "x-forwarded-groups": ["guests", "sre"] },
      401,
    ],
    ["is refused with an empty user", "GET", "/api/v1/checks", { ...kim, "x-forwarded-user": "" }, 401],
    ["is nobody without a user", "GET", "/api/v1/silences", { "x-forwarded-groups": "sre" }, 401],
    ["gives way to a token", "POST", run, { ...kim, "x-forwarded-groups": "", authorization: "Bearer root" }, 200],
    ["does not write for another site", "POST", run, { ...kim, "sec-fetch-site": "cross-site" }, 403],
    ["does not write for who does not say", "POST", run, kim, 403],
    ["writes for its own origin", "POST", run, { ...kim, origin: "https://flatline.example.com" }, 200],
    ["does not write for another origin", "POST", run, { ...kim, origin: "https://evil.example.com" }, 403],
  ])("%s", async (_rule, method, path, headers, expected) => {
    await start({ externalUrl: "https://flatline.example.com/monitor" });

    const { status } = await ask(method, path, headers);

    expect(status).toBe(expected);
    const acted = method === "POST" && expected === 200;
    expect((await audit()).length).toBe(acted ? 1 : 0);
  });

  const closed = ["/", "/o/acme", "/incidents", "/api/v1/checks", "/api/v1/status"];

  it.each(closed)("sees nothing of %s without the right where reading is closed", async (path) => {
    await start({ server: "publicRead: false" });
    const all = await ask("GET", path, { ...kim, accept: "text/html, */*" });
    const rightless = await ask("GET", path, { "x-forwarded-user": "kim" });
    const nobody = await ask("GET", path, {});

    expect([all.status, rightless.status, nobody.status]).toEqual([200, 403, 401]);
    expect(rightless.body + nobody.body).not.toMatch(/acme|globex/);
    if (!["/o/acme", "/incidents", "/api/v1/status"].includes(path)) expect(all.body).toContain("globex");
  });

  it("is the author of what it does, by the name that it has in UTF-8", async () => {
    await start();

    await ask("POST", run, { ...kim, ...own, "x-forwarded-user": Buffer.from("Zoë").toString("latin1") });

    expect(await audit()).toMatchObject([{ actor: "Zoë", via: "proxy", action: "run" }]);
  });

  it("changes nothing from another address", async () => {
    await start({ from: "10.0.0.0/8" });

    expect((await ask("GET", "/api/v1/silences", kim)).status).toBe(401);
    expect((await ask("GET", "/api/v1/checks", { ...kim, "x-forwarded-user": ["a", "b"] })).status).toBe(200);
    expect((await ask("POST", run, { ...kim, ...own })).status).toBe(401);
  });
});
