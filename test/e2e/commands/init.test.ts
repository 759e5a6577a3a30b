import { spawn } from "node:child_process";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { debianTool } from "../../support/debian-tool.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const script = debianTool("script", "bsdutils");

let platform: ScriptedUpstream;
let folder: ProgramFolder;

beforeAll(async () => {
  platform = await startScriptedUpstream();
  platform.otherwise(({ headers, body }) => {
    if (headers["x-api-key"] !== "key-of-mine") return { kind: "answer", status: 401 };
    const { slug } = JSON.parse(body) as { slug: string };
    if (slug === "nobody") return { kind: "answer", status: 404 };
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity: "ok", ok: true }) };
  });
});
afterAll(() => platform.close());
beforeEach(async () => {
  folder = await makeProgramFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const slack = "https://hooks.slack.example/services/hush";

/** `flatline init` with the flags, or the answers of a person. */
function init(
  args: readonly string[],
  options: { env?: Record<string, string>; typed?: string } = {},
): Promise<CliOutcome> {
  return runCli(["init", ...args], { cwd: folder.path, ...options, env: { NO_COLOR: "1", ...options.env } });
}

const flags = (...slugs: string[]): string[] => ["--base-url", platform.baseUrl, "--slug", ...slugs];
const key = { FLATLINE_API_KEY: "key-of-mine" };
const read = (name: string): Promise<string> => readFile(join(folder.path, name), "utf8");
const modeOf = async (name: string): Promise<number> => (await stat(join(folder.path, name))).mode & 0o777;
const isThere = (name: string): Promise<boolean> =>
  read(name).then(
    () => true,
    () => false,
  );

describe("flatline init", () => {
  it("asks for what it needs, shows the answers and writes what config check takes", async () => {
    const typed = `${platform.baseUrl}\nkey-of-mine\nacme, globex\n${slack}\n\n`;

    const { exitCode, stdout, stderr } = await init([], { typed });

    expect([exitCode, stderr]).toEqual([0, expect.not.stringMatching(/key-of-mine|hush/)]);
    expect(stdout).toMatch(/^ok +acme [^]*^ok +globex /m);
    expect(stdout).toContain("next:\n  flatline notify test trust-slack\n  flatline run\n");
    expect(await read("secrets/api-key")).toBe("key-of-mine\n");
    expect(await read("secrets/slack-url")).toBe(`${slack}\n`);
    expect(await read("flatline.yaml")).toContain("externalUrl: http://127.0.0.1:9640 ");
    expect(await runCli(["config", "check"], { cwd: folder.path })).toEqual({
      exitCode: 0,
      stdout: "flatline.yaml: ok, 2 organizations, 1 receiver\n",
      stderr: "",
    });
  });

  it("takes flags and variables without a terminal", async () => {
    const made = await init(flags("acme"), { env: key });

    expect(made).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringMatching(/^ok +acme /m) });
    expect([await modeOf("secrets"), await modeOf("secrets/api-key"), await modeOf("secrets/token")]).toEqual([
      0o700, 0o600, 0o600,
    ]);
    expect((await read("secrets/token")).trim()).toMatch(/^[\w-]{43}$/);
    expect(await read("flatline.yaml")).not.toContain("key-of-mine");
  });

  it("reads secrets from files, and asks nobody with --no-check", async () => {
    await folder.write("key", "other\n");
    await folder.write("hook", `${slack}\n`);

    const made = await init([
      ...flags("acme"),
      "--api-key-file",
      "key",
      "--slack-url-file",
      "hook",
      "--no-check",
      "-c",
      "a.yaml",
    ]);

    expect(made).toMatchObject({
      exitCode: 0,
      stderr: "",
      stdout: expect.stringContaining("flatline run -c a.yaml\n"),
    });
    expect([await read("secrets/api-key"), await read("secrets/slack-url")]).toEqual(["other\n", `${slack}\n`]);
  });

  it("keeps a slug what it is, whatever YAML makes of it", async () => {
    await init([...flags("on", "12", "a: b", "\u0024{HOME}", "#1"), "--no-check"], { env: key });

    const { stdout } = await runCli(["config", "show", "--json"], { cwd: folder.path });
    const { organizations } = JSON.parse(stdout) as { organizations: { slug: string }[] };
    expect(organizations.map(({ slug }) => slug)).toEqual(["on", "12", "a: b", "\u0024{HOME}", "#1"]);
  });

  it.each(["flatline.yaml", "secrets/api-key", "secrets/token"])(
    "leaves %s alone, and replaces it with --force, for its owner alone",
    async (name) => {
      await init([...flags("acme"), "--no-check"], { env: { FLATLINE_API_KEY: "first" } });
      for (const one of ["flatline.yaml", "secrets/api-key", "secrets/token"]) await rm(join(folder.path, one));
      await folder.write(name, "old\n");

      const again = await init([...flags("acme"), "--no-check"], { env: key });
      const kept = await read(name);
      const forced = await init([...flags("acme"), "--no-check", "--force"], { env: key });

      expect(again).toEqual({
        exitCode: 64,
        stdout: "",
        stderr: `flatline: ${name}: exists already; --force replaces it, -c FILE names another place\n`,
      });
      expect(kept).toBe("old\n");
      expect([forced.exitCode, await read(name)]).toEqual([0, expect.not.stringMatching(/^old$/m)]);
      expect(await modeOf("secrets/api-key")).toBe(0o600);
    },
  );

  it.each(["embedded", "remote", "postgres", "clickhouse"])(
    "writes for --source %s what config check takes",
    async (source) => {
      const made = await init(["--source", source]);
      const again = await init(["--source", source]);
      const { stdout } = await runCli(["config", "check"], { cwd: folder.path });

      expect(made.stdout).toContain("flatline.yaml: written");
      expect(again).toMatchObject({ exitCode: 64, stderr: expect.stringContaining("flatline.yaml: exists already") });
      expect(stdout).toContain("flatline.yaml: ok, 1 organization, 1 receiver");
      expect((await init(["--source", source, "-c", "-"])).stdout).toBe(await read("flatline.yaml"));
    },
  );

  it.each<[string, () => string[], number, string]>([
    [
      "nothing at all",
      () => [],
      64,
      "without a terminal init needs --base-url, --api-key-file or $FLATLINE_API_KEY, --slug; or --source TYPE, which writes a commented file",
    ],
    [
      "an address that is none",
      () => ["--base-url", "security.example.com"],
      64,
      "--base-url must be an address that begins with http:// or https://",
    ],
    [
      "a key's file that is missing",
      () => [...flags("a"), "--api-key-file", "no"],
      66,
      "--api-key-file no: cannot be read: ",
    ],
    ["standard output", () => ["-c", "-"], 64, "-c -: standard output goes with --source only"],
  ])("refuses %s in one line", async (_name, args, exitCode, message) => {
    const outcome = await init(args());

    expect(outcome).toMatchObject({ exitCode, stdout: "" });
    expect(outcome.stderr).toMatch(/^flatline: [^\n]*\n$/);
    expect(outcome.stderr).toContain(message);
  });

  it("writes nothing when the platform refuses the key, and says so once for each organization", async () => {
    const outcome = await init(flags("acme", "globex"), { env: { FLATLINE_API_KEY: "key-of-another" } });

    expect(outcome.exitCode).toBe(69);
    expect(outcome.stdout).toMatch(/^unknown +acme .*unauthorized/m);
    expect(outcome.stderr).toBe(
      "flatline: no answer for acme, globex, so nothing was written; correct what the table says, or write with --no-check\n",
    );
    expect(`${outcome.stdout}${outcome.stderr}`).not.toContain("key-of-another");
    expect(await isThere("secrets/api-key")).toBe(false);
  });

  it.skipIf(script.isMissing)(`shows on a terminal all but the secrets${script.note}`, async () => {
    const command = `exec '${process.execPath}' '${root}bin/flatline.js' init`;
    const child = spawn("script", ["-qefc", command, "/dev/null"], {
      cwd: folder.path,
      env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", NO_COLOR: "1" },
    });
    let screen = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
    const ended = new Promise((resolve) => child.on("close", resolve));

    for (const [question, answer] of [
      ["Address of", platform.baseUrl],
      ["API key", "key-of-mine"],
      ["Organizations", "acme"],
      ["Slack webhook", slack],
      ["Where people", ""],
    ] as const) {
      await eventually(() => screen.includes(question));
      child.stdin.write(`${answer}\r`);
    }

    expect([await ended, screen]).toEqual([0, expect.stringContaining(platform.baseUrl)]);
    expect(screen).toMatch(/ok +acme /);
    expect(screen).not.toMatch(/key-of-mine|hush/);
    expect(await read("secrets/api-key")).toBe("key-of-mine\n");
  });
});
