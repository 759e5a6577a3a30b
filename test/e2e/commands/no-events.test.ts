import { describe, expect, it } from "vitest";

import { runCli } from "../../support/program/cli-run.ts";
import { makeDaemonFolder } from "../../support/program/daemon.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon } from "../../support/program/program.ts";

const embedded = (organizations: string, more = ""): string => `
source: { type: embedded, preload: [{ events: events.csv }] }
organizations: ${organizations}
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:0", token: token-of-the-tests }
storage: { path: flatline.db }
${more}`;
const bearer = { authorization: "Bearer token-of-the-tests", "content-type": "application/json" };
const events = "at,slug\n2026-01-01T00:00:00Z,acme\n";

interface Row {
  readonly slug: string;
  readonly severity: string;
  readonly error: { readonly reason: string; readonly message: string } | null;
}

async function check(organizations: string, more?: string): Promise<{ exitCode: number; rows: readonly Row[] }> {
  await using folder = await makeProgramFolder(embedded(organizations, more));
  await folder.write("events.csv", events);
  const { exitCode, stdout } = await runCli(["check", "--json"], { cwd: folder.path });
  return { exitCode, rows: JSON.parse(stdout) as Row[] };
}

describe("an organization of which no event was ever stored", () => {
  it("is unknown on the command line, beside those that are known, with the slug that was probably meant", async () => {
    const { exitCode, rows } = await check("[acme, acmee, globex]");

    expect(exitCode).toBe(3);
    expect(rows).toMatchObject([
      { slug: "acme", severity: "ok", error: null },
      { slug: "acmee", severity: "unknown", error: { reason: "no_events" } },
      { slug: "globex", severity: "unknown", error: { reason: "no_events" } },
    ]);
    expect(rows[1]?.error?.message).toContain('did you mean "acme"?');
    expect(rows[2]?.error?.message).not.toContain("did you mean");
  });

  it.each([
    { where: "for the organization", organizations: "[{ slug: globex, whenNoEvents: ok }]", more: "" },
    { where: "in defaults", organizations: "[globex]", more: "defaults: { whenNoEvents: ok }" },
  ])("is evaluated where whenNoEvents is ok $where", async ({ organizations, more }) => {
    expect(await check(organizations, more)).toMatchObject({ exitCode: 0, rows: [{ severity: "ok" }] });
  });

  it("is unknown in the daemon until its first event, and alerts; API v2 answers by the API's rule", async () => {
    const folder = await makeDaemonFolder();
    try {
      await folder.configure(`
defaults: { schedule: "* * * * * *", alert: { unknownAfter: 2 } }
organizations: [acme]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:0", token: token-of-the-tests }
`);
      const app = await folder.start();
      const url = app.address()?.url ?? "";
      const severity = 'flatline_check_severity{check="dead-asset-spike",slug="acme",severity=';
      const metrics = () => readText(`${url}/metrics`);

      await eventually(async () => (await metrics()).includes(`${severity}"unknown"} 1`));
      await eventually(async () =>
        (await metrics()).includes('flatline_alert_firing{check="dead-asset-spike",slug="acme",severity="unknown"} 1'),
      );
      expect(await metrics()).toMatch(
        /flatline_check_errors_total\{check="dead-asset-spike",reason="no_events"\} [1-9]/,
      );

      const { stdout } = await runCli(["keys", "create", "--organization", "acme", "--json", "--url", url], {
        cwd: folder.path,
      });
      const { key } = JSON.parse(stdout) as { key: string };
      const answered = await eventually(async () => {
        const response = await fetch(`${url}/api/v2/healthchecks/assets/dead-asset-spike`, {
          method: "POST",
          headers: { "x-api-key": key, "content-type": "application/json" },
          body: JSON.stringify({ slug: "acme" }),
        });
        return response.status === 200 ? ((await response.json()) as object) : false;
      });
      expect(answered).toMatchObject({ severity: "ok", ok: true });

      await folder.addDeaths("acme", { lastHour: 1, perDay: 1 });
      await eventually(async () => (await metrics()).includes(`${severity}"ok"} 1`));
    } finally {
      await folder.close();
    }
  });
});

describe("a slug that sends events and is not configured", () => {
  it("is unwatched: in the log once, in the metrics and over HTTP, until it is configured", async () => {
    await using folder = await makeProgramFolder(embedded("[acme]"));
    await folder.write("events.csv", `${events}2026-01-02T00:00:00Z,globex\n2026-01-01T00:00:00Z,globex\n`);
    const daemon = await startDaemon([], { cwd: folder.path });
    try {
      const gauge = async () => /^flatline_unwatched_slugs (\d+)$/m.exec(await readText(`${daemon.url}/metrics`))?.[1];
      const listed = async () =>
        (await (await fetch(`${daemon.url}/api/v1/unwatched`, { headers: bearer })).json()) as object;
      const globex = {
        slug: "globex",
        events: 2,
        firstAt: "2026-01-01T00:00:00.000Z",
        lastAt: "2026-01-02T00:00:00.000Z",
      };

      expect(await gauge()).toBe("1");
      expect(await listed()).toEqual({ slugs: [globex] });
      expect((await fetch(`${daemon.url}/api/v1/unwatched`)).status).toBe(401);

      const body = JSON.stringify([
        { at: "2026-01-03T00:00:00Z", slug: "globex", status: "SEEN" },
        { at: "2026-01-01T00:00:00Z", slug: "aaa" },
      ]);
      await fetch(`${daemon.url}/api/v1/events`, { method: "POST", headers: bearer, body });
      expect(await gauge()).toBe("2");
      expect(await listed()).toMatchObject({
        slugs: [
          { slug: "aaa", events: 1 },
          { ...globex, events: 3, lastAt: "2026-01-03T00:00:00.000Z" },
        ],
      });

      await folder.write("flatline.yaml", embedded("[acme, globex, aaa]"));
      await fetch(`${daemon.url}/-/reload`, { method: "POST", headers: bearer });
      expect(await gauge()).toBe("0");
      expect(await listed()).toEqual({ slugs: [] });

      const warnings = daemon
        .stderr()
        .split("\n")
        .filter((line) => line.includes("not configured are stored"));
      expect(warnings.map((line) => /"slug":"(\w+)"/.exec(line)?.[1])).toEqual(["globex", "aaa"]);
    } finally {
      await daemon.kill();
    }
  });
});
