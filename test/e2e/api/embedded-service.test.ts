import { writeFile } from "node:fs/promises";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { platformFixture, platformKeys, startPlatformServer } from "../../support/far-side/platform-server.ts";

let folder: DaemonFolder;

beforeEach(async () => {
  folder = await makeDaemonFolder();
});

afterEach(() => folder.close());

const embedded = (listen: string): string => `
source: { type: embedded }
organizations: [acme, globex]
server: { listen: "${listen}" }
storage: { path: flatline.db }
`;

function cli(args: readonly string[], typed?: string): Promise<CliOutcome> {
  const env = { NO_COLOR: "1" };
  return runCli(args, typed === undefined ? { cwd: folder.path, env } : { cwd: folder.path, env, typed });
}

async function importFixture(): Promise<CliOutcome> {
  await writeFile(path.join(folder.path, "fixture.json"), JSON.stringify(platformFixture()));
  return cli(["import", "fixture", "fixture.json"]);
}

async function statusWith(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/api/v2/organization/reports?slug=acme`, { headers: { "x-api-key": key } });
  await response.text();
  return response.status;
}

describe("beside a running daemon", () => {
  it("a key is made, listed and revoked, and the daemon sees it at once", async () => {
    await folder.configure(embedded(`127.0.0.1:${await freePort()}`));
    const app = await folder.start();
    const url = app.address()?.url ?? "";

    const made = await cli(["keys", "create", "--organization", "acme", "globex", "--role", "staff", "--name", "soc"]);
    const key = made.stdout.trim();
    const reachable = await statusWith(url, key);
    const listed = await cli(["keys", "list", "--json"]);
    const [row] = JSON.parse(listed.stdout) as { id: string }[];
    const revoked = await cli(["keys", "revoke", row?.id ?? ""]);
    const again = await cli(["keys", "revoke", row?.id ?? ""]);

    expect(reachable).toBe(200);
    expect(await statusWith(url, key)).toBe(401);
    expect(row).toEqual({
      id: expect.any(String),
      name: "soc",
      role: "staff",
      organizations: ["acme", "globex"],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect([made.exitCode, revoked.exitCode, again.exitCode]).toEqual([0, 0, 64]);
    expect(`${listed.stdout}${revoked.stdout}${made.stderr}`).not.toContain(key);
    expect(JSON.parse((await cli(["keys", "list", "--json"])).stdout)).toEqual([]);
  });

  it("a fixture is imported and served, and what it asks for is counted", async () => {
    await folder.configure(embedded(`127.0.0.1:${await freePort()}`));
    const app = await folder.start();
    const url = app.address()?.url ?? "";
    const before = await statusWith(url, platformKeys.acme);

    const imported = await importFixture();

    expect([imported.exitCode, imported.stdout]).toEqual([
      0,
      "imported 2 organizations, 5 keys, 22 assets, 1 legitimacy rule, 22 reports, 22 proposals\n",
    ]);
    expect([before, await statusWith(url, platformKeys.acme)]).toEqual([401, 200]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('flatline_api_requests_total{operation="list_reports",code="401"} 1');
    expect(metrics).toContain('flatline_api_requests_total{operation="list_reports",code="200"} 1');
    expect(metrics).not.toContain(platformKeys.acme);
  });

  it("there is no API with a remote source, and no keys of it", async () => {
    const remote = embedded(`127.0.0.1:${await freePort()}`)
      .replace("type: embedded", "type: remote, baseUrl: http://127.0.0.1:1/api/v2, apiKey: k")
      .replace("server: {", "server: { token: root,");
    await folder.configure(remote);
    const app = await folder.start();

    const response = await fetch(`${app.address()?.url}/api/v2/openapi.json`, { headers: { "x-api-key": "k" } });
    const keys = await cli(["keys", "create", "--organization", "acme"]);
    const listed = await fetch(`${app.address()?.url}/api/v1/keys`, { headers: { authorization: "Bearer root" } });

    expect([response.status, listed.status]).toEqual([404, 409]);
    expect([keys.exitCode, keys.stderr]).toEqual([64, expect.stringContaining("source.type: embedded")]);
  });
});

describe("reports list in process", () => {
  beforeEach(async () => {
    await folder.configure(embedded("127.0.0.1:0"));
    await importFixture();
  });

  it("shows a page and how to go on", async () => {
    const { exitCode, stdout, stderr } = await cli(["reports", "list", "--slug", "acme", "--limit", "2"]);

    expect(exitCode).toBe(0);
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      expect.stringMatching(/^ID +CREATED +STATUS +SOURCE +PROPOSALS +ASSET +TITLE$/),
      expect.stringMatching(/^9301 .* TODO +API +301 queued +URL https:\/\/phish-301\.test\/login +report of 301$/),
    ]);
    const cursor = /--cursor (\S+)/.exec(stderr)?.[1] ?? "";
    const next = await cli(["reports", "list", "--slug", "acme", "--limit", "2", "--json", "--cursor", cursor]);
    expect(next.stdout.split("\n").map((line) => /"id":(\d+)/.exec(line)?.[1])).toEqual(["9303", "9304", undefined]);
  });
});

describe("reports list of a service", () => {
  it("follows every cursor with --all, over the wire", async () => {
    const server = await startPlatformServer();
    await folder.configure(`
source: { type: remote, baseUrl: "${server.baseUrl}", apiKey: ${platformKeys.acme} }
organizations: [acme]
`);

    const { exitCode, stdout, stderr } = await cli(["reports", "list", "--all", "--json", "--limit", "10"]);
    await server.close();

    expect([exitCode, stdout.trim().split("\n").length, stderr]).toEqual([0, 21, ""]);
  });
});
