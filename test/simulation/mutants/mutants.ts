import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs, promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

// Half a day of each source finds most of them.
const shortSeeds = 4;
const daysOf = (seed: number): number => (seed <= shortSeeds ? 0.5 : 3);
// What was found so far is in docs/reliability.md. Of real time: a mutant may go round in circles.
const seedTimeoutMs = 600_000;
const copied = ["src", "test/simulation", "test/support", "package.json", "tsconfig.json"];

interface Found {
  readonly seed: number;
  readonly violation: string;
}

interface Tried {
  readonly name: string;
  /** null: it survived. */
  readonly found: Found | null;
  readonly cpuSeconds: number;
}

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    // Ten minutes of two cores.
    "cpu-seconds": { type: "string", default: "1200" },
  },
});
const mostCpuSeconds = Number(values["cpu-seconds"]);
const patches = (await readdir(import.meta.dirname)).filter((file) => file.endsWith(".patch")).toSorted();
const wanted = patches.filter((file) => values.only.length === 0 || values.only.includes(basename(file, ".patch")));
if (wanted.length === 0) {
  process.stderr.write("usage: npm run simulate:mutants -- [--only NAME]… [--cpu-seconds N]\n");
  process.exit(64);
}

// An oracle that objects to the sources as they are finds everything.
for (let seed = 1; seed <= shortSeeds; seed++) {
  const { violation } = await trySeed(root, seed);
  if (violation === null) continue;
  process.stderr.write(`seed ${seed} is violated without a mutant: ${violation}\n`);
  process.exit(1);
}
say("| mutant | found by seed | CPU seconds | as |");
say("| --- | --- | --- | --- |");
for (const patch of wanted) {
  const { name, found, cpuSeconds } = await tryMutant(patch);
  say(`| ${name} | ${found?.seed ?? "**survived**"} | ${Math.ceil(cpuSeconds)} | ${found?.violation ?? ""} |`);
  if (found === null) process.exitCode = 1;
}

/** Lives through one seed after the other with the patch applied to a copy of the sources. */
async function tryMutant(patch: string): Promise<Tried> {
  const name = basename(patch, ".patch");
  const folder = await mkdtemp(join(tmpdir(), "flatline-mutant-"));
  try {
    for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await run("git", ["apply", join(import.meta.dirname, patch)], { cwd: folder });
    let cpuSeconds = 0;
    for (let seed = 1; cpuSeconds < mostCpuSeconds; seed++) {
      const { violation, cpuSeconds: took } = await trySeed(folder, seed);
      cpuSeconds += took;
      if (violation !== null) return { name, found: { seed, violation }, cpuSeconds };
    }
    return { name, found: null, cpuSeconds };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function trySeed(folder: string, seed: number): Promise<{ violation: string | null; cpuSeconds: number }> {
  const args = ["test/simulation/main.ts", "--seed", String(seed), "--days", String(daysOf(seed)), "--first"];
  try {
    const { stdout } = await run(process.execPath, args, { cwd: folder, timeout: seedTimeoutMs });
    return { violation: null, cpuSeconds: cpuOf(stdout) };
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    // Its second line is the first violation; without one the process crashed, or did not end.
    const violation = stdout.split("\n")[1]?.trim() ?? lastLineOf(stderr);
    return { violation: violation.replaceAll("|", "/"), cpuSeconds: cpuOf(stdout) };
  }
}

function cpuOf(stdout: string): number {
  return Number(/"cpuSeconds":([\d.]+)/.exec(stdout)?.[1] ?? 0);
}

function lastLineOf(stderr: string): string {
  return `crash: ${stderr.split("\n").find((line) => line.includes("Error")) ?? "no answer"}`;
}
