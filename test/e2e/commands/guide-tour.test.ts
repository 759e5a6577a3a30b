import { spawn, type ChildProcess } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const guide = await readFile(join(root, "docs/guide.md"), "utf8");
const commands = [...guide.matchAll(/```sh\n([^`]+)```/g)].flatMap(([, block = ""]) => block.trim().split("\n"));
const [, config = ""] = /```yaml\n([^`]+)```/.exec(guide) ?? [];

/** Each command whose output stands below it, in a block of text; other commands and words may stand in between. */
const shown = new Map(
  [...guide.matchAll(/```sh\n([^`]+)```(?:(?!```sh)[^])*?```text\n([^]+?)```/g)].map(
    ([, block = "", output = ""]) => [block.trim().split("\n").at(-1) ?? "", output] as const,
  ),
);

/** What is run in another terminal, which has the token only. */
const [, asClient = ""] = /\n## 7\. ((?:(?!\n## )[^])*)/.exec(guide) ?? [];

/** The exit code that the guide names where it is not 0. */
const exitCodes: Readonly<Record<string, number>> = { "npx flatline check": 2 };

let folder: string;
let slack: HttpSink;
let environment: Record<string, string>;
let daemon: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-guide-"));
  slack = await startHttpSink((response) => response.end("ok"));
  await cp(join(root, "examples"), join(folder, "examples"), { recursive: true });
  // As the guide has it, but for its ten seconds of groupWait.
  await writeFile(join(folder, "flatline.yaml"), `${config}alerting: { groupWait: 1s }\n`);
  // The guide's port may be taken.
  const listen = `127.0.0.1:${await freePort()}`;
  environment = { PATH: process.env["PATH"] ?? "", HOME: folder, FLATLINE_LISTEN: listen };
});

afterAll(async () => {
  daemon?.kill("SIGKILL");
  await slack.close();
  await rm(folder, { recursive: true, force: true });
});

function start(line: string): ChildProcess {
  const command = line
    .replace("npx flatline", `exec '${process.execPath}' '${root}bin/flatline.js'`)
    .replace("127.0.0.1:9640", environment["FLATLINE_LISTEN"] ?? "");
  const { SLACK_WEBHOOK_URL: _slack, ...ofClient } = environment;
  const env = asClient.includes(`\n${line}\n`) ? ofClient : environment;
  return spawn("bash", ["-c", command], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

async function run(
  line: string,
): Promise<{ readonly exitCode: number | null; readonly stdout: string; stderr: string }> {
  const child = start(line);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { exitCode, stdout, stderr };
}

describe("docs/guide.md", () => {
  it.each(commands)(
    "works as it stands: %s",
    async (line) => {
      const assignment = /^export (\w+)="(.*)"$/.exec(line);
      if (assignment !== null) {
        const [, name = "", value = ""] = assignment;
        environment[name] =
          name === "SLACK_WEBHOOK_URL" ? `${slack.url}/services/a` : (await run(`echo "${value}"`)).stdout.trim();
        expect(environment[name]).not.toBe("");
        return;
      }
      if (line === "npx flatline run") {
        daemon = start(line);
        const told = await eventually(
          () => slack.requests.find(({ body }) => body.includes("2 of 4 organizations spike since")) ?? null,
          25_000,
        );
        expect(told.body.replaceAll("\u00a0", " ")).toContain("ads-hosts: 5,108 more deaths than usual (459×)");
        return;
      }

      const { exitCode, stdout, stderr } = await run(line);

      expect([exitCode, stderr.replaceAll(/^.*rows.*\n/gm, "")]).toEqual([exitCodes[line] ?? 0, expect.any(String)]);
      // The sample is moved to now, so its spikes begin at another time each day.
      const said = stdout.replaceAll(/began about (?:\d{1,2} [A-Z][a-z]{2} )?\d\d:\d\d UTC/g, "began about 09:40 UTC");
      expect(said).toBe(shown.get(line) ?? stdout);
      expect(said).not.toBe("");
    },
    40_000,
  );

  it("has sent Slack a test, the alerts, and the sample incident's two", () => {
    const texts = slack.requests.map(({ body }) => (JSON.parse(body) as { readonly text: string }).text);

    expect(texts).toEqual([
      expect.stringContaining("[TEST]"),
      expect.stringContaining("2 of 4 organizations spike since"),
      expect.stringContaining("[TEST] test: 120 deaths"),
      expect.stringContaining("[TEST] test spiked for"),
    ]);
  });
});
