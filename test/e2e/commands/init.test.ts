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
let chat: ScriptedUpstream;
let folder: ProgramFolder;

beforeAll(async () => {
  chat = await startScriptedUpstream();
  chat.otherwise(({ path }) => ({ kind: "answer", status: path.includes("gone") ? 410 : 200, body: "ok" }));
  platform = await startScriptedUpstream();
  platform.otherwise(({ headers, body }) => {
    if (headers["x-api-key"] !== "key-of-mine") return { kind: "answer", status: 401 };
    const { slug } = JSON.parse(body) as { slug: string };
    if (slug === "nobody") return { kind: "answer", status: 404 };
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity: "ok", ok: true }) };
  });
});
afterAll(async () => {
  await platform.close();
  await chat.close();
});
beforeEach(async () => {
  folder = await makeProgramFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const slack = (): string => `${chat.baseUrl}/services/hush`;

/** `flatline init` with the flags, without a terminal. */
function init(args: readonly string[], options: { env?: Record<string, string> } = {}): Promise<CliOutcome> {
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
  it.each([
    ["msteams", "https://teams.example/hush", []],
    ["webhook", "https://ops.example/hush", []],
    ["pagerduty", "R0UT1NG", []],
    [
      "email",
      "smtps://mail.example.com",
      ["--mail-from", "flatline@example.com", "--mail-to", "a@example.com", "b@example.com"],
    ],
  ])("writes for %s, over events of one's own, what config check takes", async (tell, secret, more) => {
    const args = ["--source", "embedded", "--slug", "acme", "--tell", tell, ...more, "--no-check"];

    const made = await init(args, { env: { FLATLINE_TELL: secret } });
    const { stdout, stderr } = await runCli(["config", "check"], { cwd: folder.path });

    expect(made.stdout).toMatch(
      /^next:\n {2}flatline import events FILE\n.*--map.*--ignore.*\n.*--timezone.*\n {2}flatline run\n/m,
    );
    expect([stdout, stderr]).toEqual(["flatline.yaml: ok, 1 organization, 1 receiver\n", ""]);
    expect([await read(`secrets/${tell}`), await read("flatline.yaml")]).toEqual([
      `${secret}\n`,
      expect.not.stringContaining("hush"),
    ]);
  });

  it("takes flags and variables without a terminal", async () => {
    const made = await init(flags("acme"), { env: key });

    expect(made).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringMatching(/^ok +acme /m) });
    const modes = ["secrets", "secrets/api-key", "secrets/token", "flatline.yaml"].map((name) => modeOf(name));
    expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o600, 0o600]);
    expect((await read("secrets/token")).trim()).toMatch(/^[\w-]{43}$/);
    expect(await read("flatline.yaml")).not.toContain("key-of-mine");
  });

  it("says who answers at an address that is not this machine's", async () => {
    const made = await init([...flags("acme"), "--no-check", "--external-url", "https://flatline.example.com/"], {
      env: key,
    });

    expect(made.stdout).toContain(
      "then sign in at https://flatline.example.com/sign-in with the token in secrets/token\nflatline listens on this machine alone: ",
    );
    expect(await read("flatline.yaml")).toContain("listen: 127.0.0.1:9640\n");
  });

  it("listens at the port of this machine that people open", async () => {
    await init([...flags("acme"), "--no-check", "--external-url", "http://127.0.0.1:9700/"], { env: key });

    expect(await read("flatline.yaml")).toContain("listen: 127.0.0.1:9700\n");
  });

  it("sends the test itself while another program answers where flatline will listen", async () => {
    const args = [...flags("acme"), "--tell", "webhook", "--external-url", new URL(chat.baseUrl).origin];

    const made = await init(args, { env: { ...key, FLATLINE_TELL: slack(), npm_command: "exec" } });

    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^webhook: accepted, /m) });
    expect(made.stdout).toContain("next:\n  npx flatline run\n");
  });

  it("reads secrets from files, and asks nobody with --no-check", async () => {
    await folder.write("key", "other\n");
    await folder.write("hook", `${slack()}\n`);

    const more = "--api-key-file key --tell slack --tell-file hook --no-check -c a.yaml";
    const made = await init([...flags("acme"), ...more.split(" ")]);

    expect(made).toMatchObject({
      exitCode: 0,
      stderr: "",
      stdout: expect.stringContaining("flatline run -c a.yaml\n"),
    });
    expect([await read("secrets/api-key"), await read("secrets/slack")]).toEqual(["other\n", `${slack()}\n`]);
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

  it.each<[string, () => string[], number, string]>([
    [
      "nothing at all",
      () => [],
      64,
      "without a terminal init needs --base-url, --api-key-file or $FLATLINE_API_KEY, --slug",
    ],
    [
      "an address that is none",
      () => ["--base-url", "security.example.com"],
      64,
      "--base-url must be an address that begins with http:// or https://",
    ],
    [
      "an address that is empty, as that of a variable that is not set",
      () => ["--source", "embedded", "--slug", "a", "--external-url", ""],
      64,
      "--external-url must be an address that begins with http:// or https://",
    ],
    [
      "a key's file that is missing",
      () => [...flags("a"), "--api-key-file", "no"],
      64,
      "--api-key-file: the file no does not exist",
    ],
    [
      "mail without its addresses",
      () => ["--source", "embedded", "--slug", "a", "--tell", "email"],
      64,
      "init needs --tell-file or $FLATLINE_TELL, --mail-from, --mail-to",
    ],
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
      "flatline: no answer for acme, globex, so nothing was written; correct what is said above, or write with --no-check\n",
    );
    expect(`${outcome.stdout}${outcome.stderr}`).not.toContain("key-of-another");
    expect(await isThere("secrets/api-key")).toBe(false);
  });

  it("writes nothing when who is told refuses", async () => {
    const told = { ...key, FLATLINE_TELL: `${chat.baseUrl}/gone` };

    const outcome = await init([...flags("acme"), "--tell", "webhook"], { env: told });

    expect(outcome).toMatchObject({
      exitCode: 69,
      stderr: expect.stringContaining("no answer for webhook, so nothing"),
    });
    expect(outcome.stdout).toMatch(/^webhook: not accepted, /m);
    expect(await isThere("flatline.yaml")).toBe(false);
  });

  /** Types the keys of each answer when its question has come; returns the exit code and what the terminal showed. */
  async function onTerminal(...answers: readonly (readonly [question: string, keys: string])[]) {
    const command = `exec '${process.execPath}' '${root}bin/flatline.js' init`;
    const child = spawn("script", ["-qefc", command, "/dev/null"], {
      cwd: folder.path,
      env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", NO_COLOR: "1" },
    });
    let screen = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
    const ended = new Promise((resolve) => child.on("close", resolve));
    for (const [question, keys] of answers) {
      await eventually(() => screen.includes(question));
      child.stdin.write(keys);
    }
    return { exitCode: await ended, screen };
  }

  it.skipIf(script.isMissing)(`asks on a terminal, tries both, and shows no secret${script.note}`, async () => {
    const { exitCode, screen } = await onTerminal(
      ["Source: ", "\r"],
      ["Address of", "security.example.com\r"],
      ["must be an address", `\u0015${platform.baseUrl}\r`],
      ["API key", "key-of-mine\r"],
      ["Organizations", "acme, globex\r"],
      ["Who is told", "slack\r"],
      ["Slack webhook", `${slack()}\r`],
      ["Where people", "\r"],
    );

    expect([exitCode, screen]).toEqual([0, expect.stringMatching(/^ok +acme [^]*^ok +globex [^]*^slack: accepted, /m)]);
    expect(screen).toContain("next:\r\n  flatline run\r\nthen sign in at http://127.0.0.1:9640/sign-in");
    expect(screen).toMatch(/\na message comes at most 5 minutes \(schedule\) and 10 seconds .*after the events\r\n/);
    expect(screen).not.toMatch(/key-of-mine|hush/);
    expect(chat.requests.at(-1)?.body).toContain("[TEST]");
    expect([await read("secrets/api-key"), await read("secrets/slack")]).toEqual(["key-of-mine\n", `${slack()}\n`]);
    expect(await read("flatline.yaml")).toContain("externalUrl: http://127.0.0.1:9640\n");
    expect(await runCli(["config", "check"], { cwd: folder.path })).toEqual({
      exitCode: 0,
      stdout: "flatline.yaml: ok, 2 organizations, 1 receiver\n",
      stderr: "",
    });
  });

  it.skipIf(script.isMissing).each([
    ["not with Enter", "\r", 69, false],
    ["with y", "y\r", 0, true],
  ])(`writes what got no answer only when told to: %s${script.note}`, async (_, keys, code, isWritten) => {
    const { exitCode, screen } = await onTerminal(
      ["Source: ", "\r"],
      ["Address of", `${platform.baseUrl}\r`],
      ["API key", "key-of-another\r"],
      ["Organizations", "acme\r"],
      ["Who is told", "\r"],
      ["Where people", "\r"],
      ["Write the files all the same?", keys],
    );

    expect([exitCode, screen]).toEqual([code, expect.stringMatching(/^unknown +acme .*unauthorized/m)]);
    expect(await isThere("flatline.yaml")).toBe(isWritten);
  });

  it.skipIf(script.isMissing).each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])(`writes nothing after %s${script.note}`, async (_, keys) => {
    const { exitCode, screen } = await onTerminal(["Source: ", "\r"], ["Address of", keys]);

    expect([exitCode, screen]).toEqual([69, expect.stringContaining("flatline: stopped: nothing was written\r\n")]);
    expect(await isThere("flatline.yaml")).toBe(false);
  });
});
