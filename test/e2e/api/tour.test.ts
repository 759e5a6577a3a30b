import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { useDaemonFolder } from "../../support/program/daemon.ts";
import { startDaemon, type Daemon } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const page = readFileSync(new URL("../../../docs/http.md", import.meta.url), "utf8");
const example = "http://127.0.0.1:9640";
const lines = blocks("sh").flatMap((block) => block.split("\n"));
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`\`\`\`${language}\n([^\`]+)\n\`\`\``, "g"))].map(([, block = ""]) => block);
}

const folder = useDaemonFolder();
let daemon: Daemon;

beforeAll(async () => {
  // As config.example.yaml, but on a free port and with the reports alone.
  await folder.configure(`
source: { type: embedded, preload: [{ fixture: ${root}examples/fixture.yaml }] }
organizations: [ads-hosts, adware-hosts, risk-hosts, tracker-hosts]
server: { listen: "127.0.0.1:0" }
`);
  daemon = await startDaemon([], { cwd: folder.path });
});

afterAll(async () => {
  await daemon.kill();
});

/** Runs a program to its end without holding this one up, which is not the one that it asks. */
async function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  return text(child.stdout);
}

describe("docs/http.md", () => {
  it.skipIf(!hasCurl)(
    `has a tour whose every line answers as it says${hasCurl ? "" : " (skipped: no curl)"}`,
    async () => {
      // Line by line into one shell, as somebody pastes them; of each answer the status is wanted.
      const script = lines
        .map((line) => line.replace(example, daemon.url))
        .map((line) =>
          /^curl .*# \d{3}$/.test(line) ? line.replace(/^curl /, "curl -o /dev/null -w '%{http_code}\\n' ") : line,
        );

      const answered = await run("bash", ["-c", script.join("\n")]);

      const promised = lines.flatMap((line) => /# (\d{3})$/.exec(line)?.[1] ?? []);
      expect(promised.length).toBeGreaterThan(15);
      expect(answered.trim().split("\n")).toEqual(promised);
    },
  );

  it("has an example of the client library that works", async () => {
    const [code = ""] = blocks("ts");

    const printed = await run(process.execPath, ["--input-type=module", "-e", code.replace(example, daemon.url)]);

    expect(printed.trim().split("\n")).toContain("9002");
  });
});
