import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { freePort } from "../../support/free-port.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, runProgram } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const [, chapter = ""] = /## Your own organizations([^]*?)\n## /.exec(readme) ?? [];
const [, quickStart = ""] = /```sh\n([^`]+)```/.exec(chapter) ?? [];
const [, heredoc = ""] = /<<'END'\n([^]+?\n)END\n/.exec(quickStart) ?? [];

describe("the README's way to the first alert", () => {
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
    await place.write(
      "npx",
      `#!/bin/sh\n[ "$1" = flatline ] && shift && exec '${process.execPath}' '${root}bin/flatline.js' "$@"\n`,
    );
    await chmod(join(place.path, "npx"), 0o755);
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

  it("is given every variable that its configuration needs", async () => {
    await using place = await makeProgramFolder(heredoc);
    // A container has no other variables; flags without a value take those of the shell.
    const env = Object.fromEntries(passed.map((name) => [name, "https://hooks.slack.com/services/a"]));

    const { exitCode, stderr } = await runProgram(["config", "check"], { cwd: place.path, env });

    expect([exitCode, stderr]).toEqual([0, ""]);
  });

  it("reads the configuration that the README writes", () => {
    expect(command).toContain('-v "$PWD/flatline.yaml:/etc/flatline/flatline.yaml:ro"');
  });
});

describe("the README", () => {
  it("has no command but those that a test runs", () => {
    const commands = [...readme.matchAll(/```sh\n([^`]+)```/g)].flatMap(([, block = ""]) =>
      block
        .replace(heredoc, "")
        .replaceAll("\\\n", "")
        .trim()
        .split("\n")
        .filter((line) => line !== "END"),
    );

    expect(commands.map((command) => command.split(/[ =]/, 3).join(" "))).toEqual([
      // deploy/first-start.test.ts has the two commands of `npm start`; an `npm ci` was before this test.
      "npm ci &&",
      "npm ci &&",
      // Above.
      "export FLATLINE_API_KEY …",
      "cat > flatline.yaml",
      "npx flatline notify",
      "npx flatline run",
      // deploy/container.test.ts
      "docker build -t",
      "docker run --read-only",
    ]);
  });
});
