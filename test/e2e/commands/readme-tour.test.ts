import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";

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

describe("the README's container", () => {
  const [, command = ""] = /```sh\ndocker build [^\n]*\n(docker run [^`]+)```/.exec(readme) ?? [];
  const passed = [...command.matchAll(/ -e (\w+)/g)].map(([, name = ""]) => name);
  const [, chapter = ""] = /## Your own organizations([^]*?)\n## /.exec(readme) ?? [];
  const configurations = [...chapter.matchAll(/```yaml\n([^`]+)```/g)].map(([, text = ""]) => [
    /type: (\w+)/.exec(text)?.[1] ?? "",
    text.replaceAll(/^ {3}/gm, ""),
  ]);

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
