import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { minuteMs, secondMs } from "../../../src/base/time.ts";
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
const [, shown = ""] = /\n\n```\n([^`]+)\n```/.exec(readme) ?? [];

/** A shell with commands of the README, and what they have said so far; it ends with all that it started. */
interface Shell extends Disposable {
  said(): string;
  exitCode(): number | null;
}

function startShell(commands: string, cwd: string, env: Readonly<Record<string, string>>): Shell {
  const shell = spawn("bash", ["-e", "-c", commands], { cwd, env, detached: true, stdio: "pipe" });
  let said = "";
  for (const output of [shell.stdout, shell.stderr]) output.setEncoding("utf8").on("data", (text) => (said += text));
  return {
    said: () => said,
    exitCode: () => shell.exitCode,
    [Symbol.dispose]: () => {
      if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL");
    },
  };
}

describe("the README's npm start", () => {
  it("says what the README shows", { timeout: 3 * minuteMs }, async () => {
    const [, start = ""] = /^npm ci && (npm start)\b/m.exec(readme) ?? [];
    await using place = await makeProgramFolder();
    const port = String(await freePort());
    await mkdir(join(place.path, "scripts"));
    for (const name of ["bin", "examples"]) await symlink(join(root, name), join(place.path, name));
    for (const name of ["package.json", "config.example.yaml", "scripts/clean-example.js"]) {
      await place.write(name, readFileSync(join(root, name), "utf8").replace("9640", port));
    }
    const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: place.path };
    const shape = (text: string): string => text.replaceAll(/[\d,.]*\d/g, "0");

    using shell = startShell(`${start} -- --log-format pretty`, place.path, env);
    const missing = (): string[] =>
      shown.split("\n").filter((line) => !shape(shell.said()).includes(`\n${shape(line)}\n`));

    await expect.poll(missing, { timeout: 2 * minuteMs }).toEqual([]);
    expect(shown.split("\n")).toHaveLength(5);
  });
});

describe("the README's way to the first alert", () => {
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
    using shell = startShell(pasted, place.path, env);

    try {
      await eventually(() => {
        if (shell.exitCode() !== null) throw new Error(shell.said());
        return slack.requests.length === 2;
      }, 50 * secondMs);
      const [test = "", alert = ""] = slack.requests.map(({ body }) => body.replaceAll("\u00a0", " "));
      expect(test).toContain("[TEST]");
      expect(alert).toMatch(/acme: 5,119 deaths in 24 h/);
      expect(alert).not.toContain("globex");
      expect(shell.said()).toContain("flatline.yaml: ok, 2 organizations, 1 receiver\n");
      expect(shell.said()).toContain("trust-slack: accepted, HTTP 200: ok\n");
    } finally {
      await Promise.all([platform.close(), slack.close()]);
    }
  });
});

describe("the README's backtest", () => {
  it("reads an export with its columns", async () => {
    const [, flags = ""] = /```sh\nnpx flatline (backtest [^`]+)```/.exec(readme) ?? [];
    const rows = Array.from({ length: 205 }, (_, index) => {
      const day = index < 60 ? 21 : 1 + (index % 29);
      return `acme,2026-10-${String(day).padStart(2, "0")} 12:00:00,https://${index}.example/,gone,captcha\n`;
    });
    await using place = await makeProgramFolder();
    await place.write("dump.csv", `customer,changed_at,asset_url,new_state,why\n${rows.join("")}`);
    const args = flags.replaceAll("\\\n", " ").replaceAll("'", "").trim().split(/\s+/);

    const { exitCode, stdout, stderr } = await runProgram(args, { cwd: place.path, env: {} });

    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(" 205 deaths")]);
    expect(stdout).toMatch(/^INCIDENT [^]* 2026-10-21T[^\n]* acme\n/);
  });
});
