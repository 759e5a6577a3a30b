import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { runCli } from "../../support/program/cli-run.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

let folder: DaemonFolder;

beforeEach(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
organizations: [globex]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:${await freePort()}" }
`);
  await folder.addDeaths("acme", { lastHour: 3, perDay: 1 });
  await folder.addDeaths("globex", { lastHour: 3, perDay: 1 });
});
afterEach(() => folder.close());

const forget = (...args: string[]) => runCli(["forget", ...args], { cwd: folder.path });

describe("flatline forget", () => {
  it("removes what is stored of an organization beside a daemon, says how much, and writes it down", async () => {
    await folder.start();
    const { exitCode, stdout } = await forget("acme", "--yes", "--json");

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      events: 8,
      history: 0,
      alerts: 0,
      silences: 0,
      markers: 0,
      keys: 0,
      records: 0,
    });
    const acts = await folder.withStore(({ audit }) => audit.list({ limit: 9 }));
    expect(acts).toMatchObject([
      { action: "forget", slug: "acme", via: "cli", actor: "tester", detail: { events: 8 } },
    ]);
    expect(await forget("acme", "--yes")).toMatchObject({ exitCode: 64 });
  });

  it("removes events of a time, of what is configured, too", async () => {
    const from = new Date(Date.now() - 3_600_000).toISOString();

    const { stdout } = await forget("globex", "--events", "--from", from, "--yes", "--json");

    expect(JSON.parse(stdout)).toMatchObject({ events: 1, history: 0 });
    const [act] = await folder.withStore(({ audit }) => audit.list({ limit: 1 }));
    expect(act).toMatchObject({ action: "forget", slug: "globex", detail: { events: 1, from } });
    expect((await forget("globex", "--from", from, "--yes")).exitCode).toBe(64);
  });

  it.each([
    { rule: "without --yes", args: ["acme"], says: "nothing was removed; --yes removes them" },
    { rule: "what is configured, before it asks", args: ["globex"], says: '"globex" is configured: take it out of' },
    { rule: "what it does not know, before it asks", args: ["acmee"], says: 'of "acmee"; did you mean "acme"?' },
    { rule: "what is configured", args: ["globex", "--yes"], says: '"globex" is configured: take it out of' },
    { rule: "what it does not know", args: ["acmee", "--yes"], says: 'of "acmee"; did you mean "acme"?' },
  ])("refuses $rule, and removes nothing", async ({ args, says }) => {
    const { exitCode, stderr } = await forget(...args);

    expect(exitCode).toBe(64);
    expect(stderr).toContain(says);
    expect(await folder.withStore(({ events }) => events.slugs())).toEqual(["acme", "globex"]);
  });
});
