import { beforeAll, describe, expect, it } from "vitest";

import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const folder = useDaemonFolder();

function flatline(...args: string[]): Promise<CliOutcome> {
  return runCli(["status", ...args], { cwd: folder.path });
}

beforeAll(async () => {
  await folder.configure(`
organizations: [acme, { slug: calm, whenNoEvents: ok }]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: nowhere, type: webhook, url: "http://127.0.0.1:1/" }]
server: { listen: "${folder.listen}", token: a-token-of-the-tests }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("stranger", { lastHour: 1, perDay: 1 });
});

it("says that none runs before one is started", async () => {
  const { exitCode, stdout } = await flatline();

  expect(stdout).toMatch(/^daemon +◌ none runs on this store/m);
  expect(exitCode).toBe(3);
});

describe("of a running daemon", () => {
  beforeAll(async () => {
    await folder.start();
  });

  it("prints the running daemon on one screen, with the exit code of check", async () => {
    // The first run, the first attempt of a delivery and the list of unwatched slugs come in any order, and rows a second later.
    const isComplete = (screen: string): boolean =>
      [/1 fail/, /connection refused/, /all on time/, /not watched/].every((part) => part.test(screen));
    const { stdout, exitCode } = await eventually(async () => {
      const found = await flatline();
      return isComplete(found.stdout) && found;
    });

    const size = /^store +(.*)$/m.exec(stdout)?.[1] ?? "";
    expect(stdout.replaceAll(/\b\d+ (?:s|min)\b/g, "N s").replace(size, "SIZE"))
      .toBe(`■ acme: 90 deaths in 24 h, 3.0 expected (30.0×). It is still going on: 90 deaths in the last hour, usually 0.1.

severity     ■ 1 fail   ○ 1 ok
alerts       1 firing
takedowns    those of acme are on hold by incident 1: N s
receivers    ▲ nowhere 1 waiting, oldest N s, connection refused
last run     N s ago, all on time
store        SIZE
not watched  1 slug sends events: stranger
daemon       0.0.0, up N s, ${folder.url}
`);
    expect(size).toMatch(/^\d+(?:\.\d)? [kM]B$/);
    expect(exitCode).toBe(2);
  });

  it("prints the answer of the API as JSON", async () => {
    const { stdout } = await flatline("--json");

    expect(JSON.parse(stdout)).toMatchObject({ severity: "fail", gate: { held: 1, longest: { slug: "acme" } } });
  });

  it("leaves receivers and unwatched slugs out without a token", async () => {
    const shown: unknown = await (await fetch(`${folder.url}/api/v1/status`)).json();

    expect(shown).toMatchObject({ organizations: 2 });
    expect(shown).not.toHaveProperty("receivers");
    expect(shown).not.toHaveProperty("unwatched");
  });
});
