import { readdir } from "node:fs/promises";

import { describe, expect, it } from "vitest";

import { runCli } from "../../support/program/cli-run.ts";
import { createDatabase } from "../../support/postgres/postgres.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { runProgram } from "../../support/program/program.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";

const config = (storage: string): string => `
source: { type: embedded, preload: [{ events: events.csv }] }
organizations: [acme]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:1", token: token-of-the-tests }
storage: ${storage}
`;
const files = { "events.csv": "at,slug\n2026-01-01T00:00:00Z,acme\n" };
const readers = [
  "backtest",
  "keys list",
  "outbox retry 1",
  "reports list",
  "proposals review 1 --asset-id 1 --decision REJECT --reject-reason irrelevant --yes",
  "backup copy.db",
];

describe("without a store", () => {
  it.each(readers)("%s says so, exits 66 and makes none", async (command) => {
    await using folder = await makeProgramFolder(config("{ path: data/flatline.db }"));
    for (const [name, content] of Object.entries(files)) await folder.write(name, content);
    const before = await readdir(folder.path);

    const { exitCode, stdout, stderr } = await runCli(command.split(" "), { cwd: folder.path });

    expect(stderr).toContain(`flatline: there is no store at ${folder.path}/data/flatline.db`);
    expect(stderr).toContain("`flatline run`, `flatline import` and `flatline keys create`");
    expect({ exitCode, stdout }).toEqual({ exitCode: 66, stdout: "" });
    expect(await readdir(folder.path)).toEqual(before);
  });

  it.each(["check", "check acme --at 2026-01-01T12:00:00Z"])(
    "%s evaluates what is preloaded, and makes none",
    async (command) => {
      await using folder = await makeProgramFolder(config("{ path: data/flatline.db }"));
      for (const [name, content] of Object.entries(files)) await folder.write(name, content);
      const before = await readdir(folder.path);

      const { exitCode, stdout, stderr } = await runCli([...command.split(" "), "--json"], { cwd: folder.path });

      expect(stderr).toContain(`flatline: there is no store at ${folder.path}/data/flatline.db`);
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject([{ slug: "acme", severity: "ok" }]);
      expect(await readdir(folder.path)).toEqual(before);
    },
  );

  it("an empty database is none, and gets no tables", async () => {
    const database = await createDatabase("empty");
    await using folder = await makeProgramFolder(config(`{ url: "${database.url.reveal()}" }`));
    for (const [name, content] of Object.entries(files)) await folder.write(name, content);

    const { exitCode, stderr } = await runCli(["outbox", "list"], { cwd: folder.path });
    const checked = await runCli(["check"], { cwd: folder.path });

    const message =
      /^flatline: there is no store at 127\.0\.0\.1:\d+\/\w+, and this command does not create one: .*\n$/;
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(66);
    expect(checked.stderr).toMatch(message);
    expect(checked.exitCode).toBe(0);
    await database.drop();
  });

  it("a database that is not there is named, with the reason", async () => {
    const database = await createDatabase("empty");
    const gone = new URL(database.url.reveal());
    gone.pathname = "/nowhere";
    await using folder = await makeProgramFolder(config(`{ url: "${gone.href}" }`));

    const { exitCode, stderr } = await runCli(["outbox", "list"], { cwd: folder.path });
    await database.drop();

    expect(stderr).toMatch(/the store 127\.0\.0\.1:\d+\/nowhere cannot be used: database "nowhere" does not exist/);
    expect(stderr).not.toMatch(/p(%40|@)ss/);
    expect(exitCode).toBe(74);
  });

  it("a remote service is checked all the same", async () => {
    const upstream = await startScriptedUpstream();
    upstream.otherwise(() => ({ kind: "answer", body: sampleHealthcheck({ scope: { slug: "acme" } }) }));
    await using folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
organizations: [acme]
storage: { path: data/flatline.db }
`);

    const { exitCode } = await runProgram(["check"], { cwd: folder.path });

    expect(exitCode).toBe(0);
    expect(await readdir(folder.path)).toEqual(["flatline.yaml"]);
    await upstream.close();
  });
});
