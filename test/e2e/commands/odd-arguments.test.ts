import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { insideOf } from "../../support/odd-input.ts";
import { runCli } from "../../support/program/cli-run.ts";
import { commandPaths } from "../../support/program/command-paths.ts";
import { isLong } from "../../support/tier.ts";

// A daemon that was started is stopped after this; the rest has ended by then.
const endsAfterMs = 300;
const numRuns = isLong ? 3_000 : 60;
const plain =
  "- -- -x -c --json --json=yes --unknown --limit= --yes --dry-run --help help * [ {} null __proto__ constructor 0 -1 " +
  "1e400 NaN 2026-02-30T25:00:00Z now -5m folder folder/missing/file flatline.yaml events.csv acme nobody acme,globex " +
  "eu-* %s%n $(id) http://[ https://127.0.0.1:99999 file:///etc/passwd";
const unseen = ["", " ", "5 m", "a\nb", "\u001b[31mred", "\u202eacme", "\u{1F4A3}"];
const words = fc.constantFrom(
  ...plain.split(" "),
  ...unseen,
  "9".repeat(400),
  "a".repeat(100_000),
  `--${"b".repeat(100_000)}`,
);

let scratch: string;
let folder: string;
let known: ReadonlySet<number>;
let paths: readonly (readonly string[])[];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "flatline-arguments-"));
  folder = join(scratch, "work");
  paths = await commandPaths(async (path) => (await runCli([...path, "--help"], { cwd: scratch })).stdout);
  const [, section = ""] = (await readFile("docs/commands.md", "utf8")).split("## Exit codes");
  known = new Set(
    Array.from(section.matchAll(/^\| ([\d, ]+?) +\|/gm), ([, row = ""]) => row.split(", ").map(Number)).flat(),
  );
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

async function prepare(): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "folder"), { recursive: true });
  await writeFile(join(folder, "events.csv"), "slug,at,status\nacme,2026-01-15T12:00:00Z,DETECTED_AS_DEAD\n");
  const config = `
source: { type: embedded }
organizations: [acme, globex]
receivers: [{ name: ops, type: log }]
server: { listen: "127.0.0.1:${await freePort()}", drainTimeout: 1s }
storage: { path: data/flatline.db }
`;
  await writeFile(join(folder, "flatline.yaml"), config);
}

it("a command ends with a code of the table and says why it failed, whatever its words are", async () => {
  const line = fc.record({ path: fc.nat(), rest: fc.array(words, { maxLength: 5 }) });
  await fc.assert(
    fc.asyncProperty(line, async ({ path, rest }) => {
      await prepare();
      const args = [...(paths[path % paths.length] ?? []), ...rest];
      const outcome = await runCli(args, { cwd: folder, signal: AbortSignal.timeout(endsAfterMs) });
      const { exitCode, stdout, stderr } = outcome;

      expect(known).toContain(exitCode);
      expect(exitCode, stderr).not.toBe(70);
      // A command that has others below it prints its help when none is named.
      if (exitCode >= 64) expect(stderr).toMatch(/^Usage: |^flatline: /m);
      expect(insideOf(stdout + stderr)).toEqual([]);
      expect(await readdir(scratch), "what was written beside its folder").toEqual(["work"]);
    }),
    { numRuns },
  );
}, 600_000);
