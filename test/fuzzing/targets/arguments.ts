import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import * as fc from "fast-check";

import { runCli } from "../../support/program/cli-run.ts";
import { freePort } from "../../support/free-port.ts";
import { commandPaths } from "../../support/program/command-paths.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { complaintsOfText } from "../promises.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// A daemon that was started is stopped after this; the rest has ended by then.
const endsAfterMs = 300;

/** A command line: ends with a code of the table and, if it fails, a message, and writes nowhere but where it was started. */
export const argumentsTarget: Target = { name: "arguments", tries: 150, open };

/** One command as its help describes it. */
interface Described {
  readonly path: readonly string[];
  /** What stands for each required argument. */
  readonly required: readonly string[];
  readonly flags: readonly { readonly name: string; readonly value: string | null }[];
}

const files: Readonly<Record<string, string>> = {
  "events.csv": "slug,at,status\nacme,2026-01-15T12:00:00Z,DETECTED_AS_DEAD\n",
  "fixture.yaml": "organizations: [{ slug: acme }]\n",
};

/** A value that is right, by what the help calls it. */
const values: Readonly<Record<string, string>> = {
  file: "events.csv",
  time: "2026-01-15T12:00:00Z",
  duration: "90m",
  id: "0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e",
  n: "3",
  x: "2.5",
  url: "http://127.0.0.1:9",
  receiver: "ops",
  shell: "bash",
  verdict: "checker",
};

// No NUL: the system passes none. Long ones are as long as an argument may be on Linux (128 KiB).
const odd = [
  ["", " ", "-", "--", "---", "-x", "-c", "--json", "--json=yes", "--unknown", "--unknown=1", "--config", "=", "--="],
  [
    "--limit=",
    "--help",
    "-V",
    "help",
    "*",
    "[",
    "(",
    "{}",
    "[]",
    "null",
    "true",
    "__proto__",
    "constructor",
    "toString",
  ],
  ["0", "-0", "-1", "1.5", "1e3", "1e400", "NaN", "Infinity", "0x10", "9007199254740993", "9".repeat(400)],
  ["2026-13-45", "2026-02-30T25:00:00Z", "0000-01-01", "99999999999999999999", "-5m", "1000000000d", "5 m", "PT5M"],
  ["folder", "folder/", "folder/missing/file", ".", "./", "missing", "flatline.yaml", "events.csv", "data"],
  ["acme", "ACME", "nobody", "acme globex", "acme,globex", "eu-*", "%s%n", "$(id)", "`id`", "';--", "a=b"],
  [
    "\n",
    "a\nb",
    "\t",
    "\r\n",
    "\u0007",
    "\u001b[31mred",
    "\u009b2J",
    "\u202eacme",
    "\u{1F4A3}",
    "\ufeff",
    "é",
    "e\u0301",
  ],
  ["http://", "http://[", "https://127.0.0.1:99999", "ftp://a", "file:///etc/passwd", "http://127.0.0.1:1/%zz"],
  ["a".repeat(100_000), "-".repeat(100_000), `--${"b".repeat(100_000)}`, "1".repeat(100_000), "[".repeat(50_000)],
].flat();

async function open(): Promise<OpenTarget> {
  const scratch = mkdtempSync(join(tmpdir(), "flatline-arguments-"));
  const folder = join(scratch, "work");
  const described = await describeCommands();
  const config = configOn(await freePort());
  const known = codes();
  // What is written to the process's own folder, and not to that of the command, shows there too.
  const cwd = process.cwd();
  process.chdir(scratch);
  let accepted = 0;

  function prepare(): void {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, "folder"), { recursive: true });
    for (const [name, text] of Object.entries({ ...files, "flatline.yaml": config }))
      writeFileSync(join(folder, name), text);
  }

  async function attempt(args: readonly string[]): Promise<readonly string[]> {
    prepare();
    const { exitCode, stdout, stderr } = await runCli(args, { cwd: folder, signal: AbortSignal.timeout(endsAfterMs) });
    const complaints = [...complaintsOfText(stdout), ...complaintsOfText(stderr)];
    if (!known.has(exitCode) || exitCode === 70) complaints.push(`exits with ${exitCode}: ${stderr.slice(0, 1_000)}`);
    // A command that has others below it prints its help when none is named. What is done for several ids fails for each.
    const isExplained = stderr.startsWith("Usage: ") || /^flatline: /m.test(stderr);
    if (exitCode >= 64 && !isExplained)
      complaints.push(`exits with ${exitCode} without a message: ${stderr.slice(0, 1_000)}`);
    if (exitCode < 64) accepted++;
    if (readdirSync(scratch).join() !== "work")
      complaints.push(`wrote beside its folder: ${readdirSync(scratch).join()}`);
    return complaints;
  }

  return untyped({
    inputs: fc.constantFrom(...described).chain(changedLine),
    attempt,
    show: (args: readonly string[]) => JSON.stringify(args),
    accepted: () => accepted,
    [Symbol.asyncDispose]: async () => {
      process.chdir(cwd);
      rmSync(scratch, { recursive: true, force: true });
    },
  });
}

/** A line of a command with some of its flags, of which some words are changed. */
function changedLine({ path, required, flags }: Described): fc.Arbitrary<readonly string[]> {
  const some = fc.subarray([...flags], { maxLength: Math.min(4, flags.length) });
  const word = fc.nat({ max: 12 });
  const edit = fc.oneof(
    fc.record({ kind: fc.constant("drop" as const), at: word }),
    fc.record({ kind: fc.constant("repeat" as const), at: word }),
    fc.record({ kind: fc.constant("swap" as const), at: word }),
    fc.record({ kind: fc.constant("replace" as const), at: word, by: fc.constantFrom(...odd) }),
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("value" as const), at: word, by: fc.constantFrom(...odd) }) },
    fc.record({ kind: fc.constant("insert" as const), at: word, by: fc.constantFrom(...odd) }),
    fc.record({ kind: fc.constant("join" as const), at: word, by: fc.constantFrom(...odd) }),
  );
  return fc.record({ some, edits: fc.array(edit, { maxLength: 2 }) }).map(({ some, edits }) => {
    const words = [
      ...path,
      ...required,
      ...some.flatMap(({ name, value }) => (value === null ? [name] : [name, value])),
    ];
    for (const one of edits) {
      const at = one.at % Math.max(1, words.length);
      const here = words[at] ?? "";
      if (one.kind === "drop") words.splice(at, 1);
      else if (one.kind === "repeat") words.splice(at, 0, here);
      else if (one.kind === "swap") words.splice(at, 2, ...words.slice(at, at + 2).toReversed());
      else if (one.kind === "replace") words.splice(at, 1, one.by);
      // The command stays, and one of its values is another.
      else if (one.kind === "value") words.splice(Math.min(words.length, path.length + at), 1, one.by);
      else if (one.kind === "insert") words.splice(at, 0, one.by);
      else words.splice(at, 1, `${here}=${one.by}`);
    }
    return words;
  });
}

/** Every command, as its own help describes it. */
async function describeCommands(): Promise<[Described, ...Described[]]> {
  const helpOf = async (path: readonly string[]): Promise<string> =>
    (await runCli([...path, "--help"], { cwd: tmpdir() })).stdout;
  const [first, ...others] = await Promise.all(
    (await commandPaths(helpOf)).map(async (path) => describe(path, await helpOf(path))),
  );
  if (first === undefined) throw new Error("no command");
  return [first, ...others];
}

function describe(path: readonly string[], help: string): Described {
  const [usage = ""] = /^Usage: .*$/m.exec(help) ?? [];
  const required = [...usage.matchAll(/<([\w-]+)(?:\.\.\.)?>/g)].map(([, name = ""]) => valueOf(name, path));
  // Flags that end the command before it begins are among the odd words.
  const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--(?!help|version)[\w-]+)(?: <([\w-]+)(?:\.\.\.)?>)?/gm)];
  return {
    path,
    required,
    flags: flags.map(([, name = "", value]) => ({
      name,
      value: value === undefined ? null : valueOf(value, path, name),
    })),
  };
}

function valueOf(name: string, path: readonly string[], flag = ""): string {
  if (flag === "--config") return "flatline.yaml";
  if (path.includes("fixture") && name === "file") return "fixture.yaml";
  if (path.includes("backup") || path.includes("restore")) return "copy.db";
  return values[name] ?? "acme";
}

/** The codes that docs/commands.md has. */
function codes(): ReadonlySet<number> {
  const [, section = ""] = readFileSync(join(root, "docs/commands.md"), "utf8").split("## Exit codes");
  const rows = section.matchAll(/^\| ([\d, ]+?) +\|/gm);
  return new Set([...rows].flatMap(([, found = ""]) => found.split(", ").map(Number)));
}

function configOn(port: number): string {
  return `
source: { type: embedded }
organizations: [acme, globex]
receivers: [{ name: ops, type: log }]
server: { listen: "127.0.0.1:${port}", drainTimeout: 1s }
storage: { path: data/flatline.db }
`;
}
