import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { freePort } from "../../support/free-port.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const [, tour = ""] = /## API v2[^]*?```sh\n([^`]+)\n```/.exec(readme) ?? [];
const lines = tour.split("\n");
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

let folder: DaemonFolder;
let daemon: Daemon;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  // As config.example.yaml, but on a free port and with a store of its own.
  await folder.configure(`
source: { type: embedded, preload: [{ events: ${root}examples/events.csv.gz, rebase: true }, { fixture: ${root}examples/fixture.yaml }] }
organizations: [ads-hosts, adware-hosts, risk-hosts, tracker-hosts]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
  daemon = await startDaemon([], { cwd: folder.path });
});

afterAll(async () => {
  await daemon.kill();
  await folder.close();
});

/** As pasted into a shell, but for where the daemon listens and which configuration it runs on. */
function run(line: string): Promise<{ readonly exitCode: number | null; readonly stdout: string }> {
  const command = line
    .replace("http://127.0.0.1:9640", daemon.url)
    .replace("npx flatline", `'${process.execPath}' '${root}bin/flatline.js'`)
    .replace("-c config.example.yaml", "-c flatline.yaml")
    .replace(/^curl /, "curl --fail ");
  return new Promise((resolve) => {
    const child = spawn("bash", ["-c", command], { cwd: folder.path, stdio: ["ignore", "pipe", "inherit"] });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.on("close", (exitCode) => resolve({ exitCode, stdout }));
  });
}

const [, chapter = ""] = /## Your own organizations([^]*?)\n## /.exec(readme) ?? [];
const [, quickStart = ""] = /```sh\n([^`]+)```/.exec(chapter) ?? [];
const [, heredoc = ""] = /<<'END'\n([^]+?\n)END\n/.exec(quickStart) ?? [];
const [, written = ""] = /```yaml\n([^`]+)```/.exec(chapter) ?? [];

describe("the README's way to the first alert", () => {
  it("is five commands", () => {
    const commands = quickStart.replace(heredoc, "").replace("END\n", "").trim().split("\n");

    expect(commands.map((command) => command.split(/[ =]/, 3).join(" "))).toEqual([
      "npm ci",
      "export FLATLINE_API_KEY …",
      "cat > flatline.yaml",
      "npx flatline notify",
      "npx flatline run",
    ]);
  });

  it("writes a file that git leaves alone", () => {
    const { status } = spawnSync("git", ["check-ignore", "--quiet", "--no-index", "flatline.yaml"], { cwd: root });

    // 128: a copy without git.
    expect([0, 128]).toContain(status);
  });

  it("ends with the platform's verdict in Slack, pasted into a shell as it stands but for the three things of one's own", async () => {
    const platform = await startScriptedUpstream();
    platform.otherwise(({ headers, body }) => {
      const { slug } = JSON.parse(body) as { slug: string };
      if (headers["x-api-key"] !== "key-of-mine") return { kind: "answer", status: 401 };
      const spike = { severity: "fail", ok: false, observed: { currentCount: 5_119, expectedCount: 11.1 } } as const;
      return {
        kind: "answer",
        body: sampleHealthcheck({ scope: { slug }, ...(slug === "acme" ? spike : { severity: "ok", ok: true }) }),
      };
    });
    const slack = await startHttpSink((response) => response.end("ok"));
    await using place = await makeProgramFolder();
    // What they do in a clone is in tests of their own: this one must not write into it.
    await place.write("npm", `#!/bin/sh\n[ "$*" = ci ]\n`);
    await place.write(
      "npx",
      `#!/bin/sh\n[ "$1" = flatline ] && shift && exec '${process.execPath}' '${root}bin/flatline.js' "$@"\n`,
    );
    for (const name of ["npm", "npx"]) await chmod(join(place.path, name), 0o755);
    const pasted = quickStart
      .replace("https://security.example.com/api/v2", platform.baseUrl)
      .replace("FLATLINE_API_KEY=…", "FLATLINE_API_KEY=key-of-mine")
      .replace("https://hooks.slack.com/services/…", `${slack.url}/services/a`);
    const env = { PATH: `${place.path}:${process.env["PATH"]}`, FLATLINE_LISTEN: `127.0.0.1:${await freePort()}` };
    const shell = spawn("bash", ["-e", "-c", pasted], { cwd: place.path, env, detached: true, stdio: "pipe" });
    let said = "";
    for (const output of [shell.stdout, shell.stderr]) output.setEncoding("utf8").on("data", (text) => (said += text));

    try {
      await eventually(() => {
        if (shell.exitCode !== null) throw new Error(said);
        return slack.requests.length === 2;
      });
      const [test = "", alert = ""] = slack.requests.map(({ body }) => body.replaceAll("\u00a0", " "));
      expect(test).toContain("[TEST]");
      expect(alert).toMatch(/fail[^]*acme[^]*5,119 deaths/);
      expect(alert).not.toContain("globex");
      expect(said).toContain("trust-slack: accepted, HTTP 200: ok\n");
    } finally {
      // The shell with the daemon that it waits for.
      if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL");
      await Promise.all([platform.close(), slack.close()]);
    }
  });
});

describe("the README's container", () => {
  const [, command = ""] = /```sh\ndocker build [^\n]*\n(docker run [^`]+)```/.exec(readme) ?? [];
  const passed = [...command.matchAll(/ -e (\w+)/g)].map(([, name = ""]) => name);
  const configurations = [heredoc, written].map((text) => [/type: (\w+)/.exec(text)?.[1] ?? "", text]);

  it.each(configurations)("is given every variable that its configuration needs: %s", async (_type, text = "") => {
    await using place = await makeProgramFolder(text);
    // A container has no other variables; flags without a value take those of the shell.
    const env = Object.fromEntries(passed.map((name) => [name, "https://hooks.slack.com/services/a"]));

    const { exitCode, stderr } = await runProgram(["config", "check"], { cwd: place.path, env });

    // A note is no error: what the first configuration leaves out is said.
    expect([exitCode, stderr.replaceAll(/^note: alerting\.externalUrl .*\n/gm, "")]).toEqual([0, ""]);
  });

  it("is for both configurations", () => {
    expect(configurations.map(([type]) => type)).toEqual(["remote", "embedded"]);
    expect(command).toContain("/etc/flatline/flatline.yaml");
  });
});

describe("the README's API tour", () => {
  it("asks for all three operations", () => {
    expect(lines.length).toBeGreaterThan(8);
    expect(tour).toMatch(/dead-asset-spike[^]*organization\/reports[^]*\/review/);
  });

  it.skipIf(!hasCurl).each(lines)(`works${hasCurl ? "" : " (skipped: no curl)"}: %s`, async (line) => {
    const { exitCode, stdout } = await run(line);

    expect(exitCode).toBe(0);
    expect(stdout).not.toBe("");
  });
});
