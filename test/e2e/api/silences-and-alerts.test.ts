import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import {
  alertOf,
  listAlerts,
  useDaemonFolder,
  makeDaemonFolder,
  type DaemonFolder,
  type LiveAlert,
} from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const token = "a-token-of-the-tests";
const bearer = { authorization: `Bearer ${token}` };

const folder = useDaemonFolder();
let sink: HttpSink;

function configText(withToken = token): string {
  return `
source: { type: embedded }
defaults: { schedule: "@yearly", alert: { repeatInterval: 0s } }
organizations:
  - { slug: acme, labels: { team: trust } }
  - { slug: slow, alert: { for: 1h } }
  - { slug: calm, whenNoEvents: ok }
alerting: { groupWait: 0s, groupInterval: 1s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}" }]
silences: [{ schedule: "0 2 * * 6", duration: 2h, timezone: Europe/Berlin, slug: calm, comment: backup }]
server: { listen: "${folder.listen}", token: "${withToken}" }
storage: { path: flatline.db }
`;
}

function flatline(...args: string[]): Promise<CliOutcome> {
  return runCli(args, { cwd: folder.path, env: { USER: "kim", HTTP_PROXY: "http://127.0.0.1:9" } });
}

const live = (): Promise<readonly LiveAlert[]> => listAlerts(folder.url, token);
const ofAcme = (): Promise<LiveAlert> => alertOf(folder.url, token, "acme");

beforeAll(async () => {
  sink = await startHttpSink((response) => response.end("ok"));
  await folder.configure(configText());
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("slow", { lastHour: 60, perDay: 3 });
  await folder.start();
  await eventually(async () => (await live()).length === 2);
});
afterAll(async () => {
  await sink.close();
});

describe("alerts", () => {
  it("are listed: what fires, then what is pending", async () => {
    expect((await live()).map(({ slug, state }) => [slug, state])).toEqual([
      ["acme", "firing"],
      ["slow", "pending"],
    ]);
  });

  it("have the comments of their incident, and those of acts", async () => {
    const { id, incidentNumber } = await ofAcme();
    const comment = (number: string, text: string): Promise<CliOutcome> =>
      flatline("incidents", "comment", number, text, "--slug", "acme");

    await flatline("incidents", "ack", String(incidentNumber), "--comment", "on it");
    const commented = await comment(String(incidentNumber), "see https://login.acme.example/a");
    const shown = await flatline("incidents", "show", String(incidentNumber));
    const all = (await (await fetch(`${folder.url}/api/v1/alerts/${id}`, { headers: bearer })).json()) as {
      comments: unknown;
    };
    const open = await (await fetch(`${folder.url}/api/v1/alerts/${id}`)).text();

    expect(commented).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("commented on: 1 organization\n") });
    expect(shown.stdout).toMatch(/: see hxxps:\/\/login\[\.\]acme\[\.\]example\/a$/m);
    const said = { at: expect.stringMatching(/Z$/), actor: "token", note: "kim" };
    expect(all.comments).toEqual([
      { ...said, text: "on it", act: "acknowledge" },
      { ...said, text: "see https://login.acme.example/a", act: null },
    ]);
    expect(open).not.toMatch(/comments|login/);
    expect((await comment("nobody", "x")).exitCode).toBe(64);
    expect((await comment(String(incidentNumber), " ")).stderr).toContain("comment: is empty");
    expect((await comment(String(incidentNumber), "x".repeat(1_001))).exitCode).toBe(64);
  });

  it("are reported with their incident as Markdown, names only to who may read them", async () => {
    const { incidentNumber: number } = await ofAcme();

    const { exitCode, stdout } = await flatline("incidents", "show", String(number), "--markdown");
    const path = `${folder.url}/api/v1/incidents/${number}/report`;
    const open = await fetch(path);
    const given = await fetch(path, { headers: bearer });

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`^# Incident ${number}: .acme.: 9\\d deaths`));
    expect(stdout).toMatch(/^- \S+Z: Acknowledged by `kim` \(`token`\); «`on it`»$/m);
    expect(stdout).toContain("; «`see hxxps://login[.]acme[.]example/a`»\n");
    expect(await open.text()).not.toMatch(/kim|on it|login/);
    expect(open.status).toBe(200);
    expect([given.status, given.headers.get("content-type")]).toEqual([200, "text/markdown; charset=utf-8"]);
    expect((await flatline("incidents", "show", "nobody", "--markdown")).exitCode).toBe(64);
  });
});

describe("flatline silence", () => {
  it("adds one that holds at once, lists it, and ends it", async () => {
    const added = await flatline("silence", "add", "ac*", "--comment", "migration", "--duration", "90m", "--json");
    const made = JSON.parse(added.stdout) as { id: string; startsAt: string; endsAt: string };
    const heldBack = await ofAcme();
    const listed = await flatline("silence", "list");
    const ended = await flatline("silence", "expire", made.id);
    const again = await flatline("silence", "expire", made.id);

    expect(added).toMatchObject({ exitCode: 0, stderr: "" });
    expect(made).toMatchObject({
      slug: "ac*",
      check: null,
      createdBy: "token",
      note: "kim",
      origin: "runtime",
      state: "active",
    });
    const lengthMs = Date.parse(made.endsAt) - Date.parse(made.startsAt);
    expect(Math.abs(lengthMs - 90 * 60_000)).toBeLessThan(5_000);
    expect(heldBack.silenced).toBe(true);
    expect(listed.stdout).toMatch(/^\(configuration\) +\w+ +calm +0 2 \* \* 6 for 2h \(Europe\/Berlin\) +backup$/m);
    expect(listed.stdout).toMatch(new RegExp(String.raw`^${made.id} +active +ac\* .* kim \(token\) +migration$`, "m"));
    expect([ended.exitCode, ended.stdout]).toEqual([0, `${made.id}: ended\n`]);
    expect((await ofAcme()).silenced).toBe(false);
    expect([again.exitCode, again.stderr]).toEqual([
      64,
      `flatline: ${made.id}: no such silence, or it has ended already\n`,
    ]);
  });

  it("takes a start, an end, a check and who made it", async () => {
    const who = ["--comment", "later", "--check", "dead-asset-spike", "--by", "Robin"];
    const when = ["--starts-at", "2090-01-01T00:00:00Z", "--until", "2090-01-01T06:00:00+02:00"];

    const { exitCode, stdout } = await flatline("silence", "add", "acme", ...who, ...when);

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/: acme dead-asset-spike is silenced 2090-01-01T00:00:00Z to 2090-01-01T04:00:00Z\n$/);
    const listed = JSON.parse((await flatline("silence", "list", "--json")).stdout) as object[];
    expect(listed).toContainEqual(
      expect.objectContaining({ createdBy: "token", note: "Robin", state: "pending", comment: "later" }),
    );
  });

  it.each([
    ["31d", "a silence lasts at most 30 days"],
    ["1h --until 2090-01-01T00:00:00Z", "give one of them"],
  ])("refuses --duration %s", async (flags, said) => {
    const line = `silence add acme --comment x --duration ${flags}`;

    expect(await flatline(...line.split(" "))).toMatchObject({ exitCode: 64, stderr: expect.stringContaining(said) });
  });

  it.each([
    ["acmee", 'no organization is called acmee; did you mean "acme"?'],
    ["umbrella", "no organization is called umbrella"],
    ["eu-*", "no organization matches eu-*"],
  ])("refuses %s, which nobody has, unless it is told that this is meant", async (slug, said) => {
    const count = async (): Promise<number> =>
      (JSON.parse((await flatline("silence", "list", "--json")).stdout) as object[]).length;
    const before = await count();

    const refused = await flatline("silence", "add", slug, "--comment", "typo");
    const between = await count();
    const elsewhere = ["--url", folder.url];
    const meant = await flatline("silence", "add", slug, "--comment", "to come", "--allow-unknown", ...elsewhere);

    expect([refused.exitCode, refused.stdout, between]).toEqual([64, "", before]);
    expect(refused.stderr).toBe(
      `flatline: ${said}\n  nothing was silenced; --allow-unknown silences it all the same\n`,
    );
    expect([meant.exitCode, meant.stderr, await count()]).toEqual([0, "", before + 1]);
  });
});

describe("a command that asks the daemon, without the daemon's secrets", () => {
  // Each command is declared by `asking`: one that reads what is public, one that needs the token, one that acts, and texts.
  const commands: (readonly [string, ...string[]])[] = [
    ["status"],
    ["gate", "acme"],
    ["silence", "list"],
    ["silence", "add", "later", "--comment", "x", "--allow-unknown"],
    ["incidents", "show", "1", "--markdown"],
  ];
  /** As the daemon has it, with secrets that only its own environment has. */
  const ofDaemon = (): string => `
source: { type: remote, baseUrl: "https://platform.example/api/v2", apiKey: "\${file:/nowhere/key}" }
organizations: [{ slug: acme, apiKey: "\${ACME_KEY}" }]
receivers: [{ name: chat, type: slack, url: "\${SLACK_WEBHOOK_URL}" }]
heartbeat: { url: "\${file:/nowhere/heartbeat}" }
server: { listen: "${folder.listen}", token: "\${MY_TOKEN}", linkSecret: "\${file:/nowhere/link}", tokens: [{ name: bot, token: "\${file:/nowhere/bot}", may: [ingest] }] }
storage: { url: "\${DATABASE_URL}" }
`;
  /** With a named token only, of which nothing but the text matters here. */
  const ofNamed = (): string =>
    `server: { listen: "${folder.listen}", token: "\${NONE:-}", tokens: [{ name: bot, token: "\${MY_TOKEN}" }, { name: other, token: "\${file:/nowhere/other}" }] }`;
  let empty: DaemonFolder;
  let tokenFile: string;

  beforeAll(async () => {
    empty = await makeDaemonFolder();
    tokenFile = join(empty.path, "my-token");
    await writeFile(tokenFile, `${token}\n`);
    await writeFile(join(empty.path, "daemon.yaml"), ofDaemon());
    await writeFile(join(empty.path, "named.yaml"), ofNamed());
    await writeFile(join(empty.path, "tokenless.yaml"), configText(""));
    await writeFile(join(empty.path, "broken.yaml"), "receivers: [{");
  });
  afterAll(() => empty.close());

  const ask = (args: readonly string[], env: Record<string, string> = {}): Promise<CliOutcome> =>
    runCli(args, { cwd: empty.path, env: { USER: "kim", ...env } });

  it.each(commands)("takes address and token from its file alone, or needs none with flags: %j", async (...args) => {
    const elsewhere = ["--url", folder.url, "--token-file", "my-token"];
    const ways = [["-c", "daemon.yaml"], elsewhere, [...elsewhere, "-c", "broken.yaml"]];

    for (const way of ways) {
      const { exitCode, stdout, stderr } = await ask([...args, ...way], { MY_TOKEN: token });

      expect([exitCode <= 2, stderr]).toEqual([true, ""]);
      expect(stdout).not.toBe("");
    }
  });

  it.each<[string, string[], Record<string, string>]>([
    ["$FLATLINE_URL and $FLATLINE_TOKEN", [], { FLATLINE_URL: "URL", FLATLINE_TOKEN: token }],
    [
      "--url in place of $FLATLINE_URL",
      ["--url", "URL"],
      { FLATLINE_URL: "http://127.0.0.1:1", FLATLINE_TOKEN: token },
    ],
    [
      "--token-file in place of $FLATLINE_TOKEN",
      ["--token-file", "my-token"],
      { FLATLINE_URL: "URL", FLATLINE_TOKEN: "x" },
    ],
    ["$FLATLINE_URL and the file's token", ["-c", "daemon.yaml"], { FLATLINE_URL: "URL", MY_TOKEN: token }],
    ["the file's address and $FLATLINE_TOKEN", ["-c", "daemon.yaml"], { FLATLINE_TOKEN: token }],
    ["the first of the file's tokens", ["-c", "named.yaml"], { MY_TOKEN: token }],
  ])("takes %s", async (_name, flags, env) => {
    const { exitCode, stderr } = await ask(
      ["silence", "list", ...flags.map((flag) => (flag === "URL" ? folder.url : flag))],
      Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === "URL" ? folder.url : value])),
    );

    expect([exitCode, stderr]).toEqual([0, ""]);
  });

  it("reads what is public without a file and without a token", async () => {
    const { exitCode, stdout, stderr } = await ask(["incidents", "list"], { FLATLINE_URL: folder.url });

    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("deaths");
    const closed = await ask(["silence", "list"], { FLATLINE_URL: folder.url });
    expect(closed.exitCode).toBe(77);
    expect(closed.stderr).toMatch(/this needs a token: .*--token-file or \$FLATLINE_TOKEN/);
  });

  it.each<[string, string[], Record<string, string>, number, RegExp]>([
    ["no address", ["silence", "list"], {}, 78, /no configuration file.*--url or \$FLATLINE_URL/],
    [
      "no token",
      ["silence", "list"],
      { FLATLINE_URL: "http://127.0.0.1:1" },
      69,
      /no flatline answers at http:\/\/127\.0\.0\.1:1: /,
    ],
    [
      "no token in its file",
      ["silence", "list", "-c", "tokenless.yaml"],
      {},
      77,
      /this needs a token: set server\.token in the configuration/,
    ],
    [
      "a token that its file has from an unset variable",
      ["silence", "list", "-c", "daemon.yaml"],
      {},
      78,
      /a problem\ndaemon\.yaml:6:\d+: server\.token: environment variable MY_TOKEN is not set/,
    ],
    ["a file that is no YAML", ["silence", "list", "-c", "broken.yaml"], {}, 78, /broken\.yaml:1:/],
    [
      "a file of a token that is not there",
      ["silence", "list", "--token-file", "none"],
      { FLATLINE_URL: "http://127.0.0.1:1" },
      64,
      /--token-file: the file .*none does not exist/,
    ],
    [
      "a token that no header can hold",
      ["silence", "list"],
      { FLATLINE_URL: "http://127.0.0.1:1", FLATLINE_TOKEN: "a b" },
      64,
      /\$FLATLINE_TOKEN must be printable ASCII/,
    ],
    [
      "an address that is none",
      ["silence", "list"],
      { FLATLINE_URL: "localhost", FLATLINE_TOKEN: "x" },
      64,
      /\$FLATLINE_URL must be the address/,
    ],
    [
      "a token that is not the daemon's",
      ["silence", "list", "-c", "daemon.yaml"],
      { FLATLINE_TOKEN: "another" },
      77,
      /\$FLATLINE_TOKEN is not the one that the daemon runs with/,
    ],
  ])("says what is wrong with %s", async (_name, args, env, wanted, said) => {
    const { exitCode, stdout, stderr } = await ask(args, env);

    expect([exitCode, stdout]).toEqual([wanted, ""]);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain("SLACK_WEBHOOK_URL");
  });

  it.each<[string, number, string, string]>([
    ["a page", 200, "<html>", "an answer that is no JSON"],
    ["other JSON", 200, "[]", "an answer that this version does not know"],
    ["a redirect", 302, "", "HTTP 302"],
    ["a refusal in other words", 500, "oops", "HTTP 500"],
  ])("tells of something else that answers with %s", async (_name, status, body, said) => {
    const other = await startHttpSink((response) => response.writeHead(status, { location: sink.url }).end(body));

    const { exitCode, stderr } = await ask(["incidents", "list", "--url", other.url]);

    await other.close();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`does not answer as flatline does: ${said}`);
  });

  it("asks of health the address of its file, whatever else the file lacks", async () => {
    const { exitCode, stdout } = await ask(["healthcheck", "-c", "daemon.yaml"]);

    expect([exitCode, stdout]).toEqual([0, '{"status":"ok"}\n']);
  });
});
