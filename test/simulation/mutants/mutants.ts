import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { readFlags, readNumber, refuse } from "../../support/program/flags.ts";
import { live, root, withMutant } from "./mutant.ts";

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

// Half a day of each source finds most of them.
const shortSeeds = 4;
const daysOf = (seed: number): number => (seed <= shortSeeds ? 0.5 : 3);
const replicas = 3;
const replicaDays = 0.05;
// Of real time: a mutant may go round in circles.
const seedTimeoutMs = 600_000;

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

const usage = "usage: npm run simulate:mutants -- [--only NAME]… [--cpu-seconds N]";
const values = readFlags(usage, {
  only: { type: "string", multiple: true, default: [] },
  // Ten minutes of two cores.
  "cpu-seconds": { type: "string", default: "1200" },
});
const mostCpuSeconds = readNumber("cpu-seconds", values["cpu-seconds"], { least: 1, usage });
const patches = (await readdir(import.meta.dirname)).filter((file) => file.endsWith(".patch")).toSorted();
const unknown = values.only.find((name) => !patches.includes(`${name}.patch`));
if (unknown !== undefined) refuse(`there is no mutant ${unknown}`, usage);
const wanted = patches.filter((file) => values.only.length === 0 || values.only.includes(basename(file, ".patch")));

const kinds = await Promise.all(wanted.map(kindOf));
// An oracle that objects to the sources as they are finds everything.
for (const [kind, seed] of [...new Set(kinds.map(({ kind }) => kind))].flatMap((kind) =>
  Array.from({ length: shortSeeds }, (_, index) => [kind, index + 1] as const),
)) {
  const { violation } = await trySeed(root, kind, seed);
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
  return withMutant(patch, async (folder) => {
    let cpuSeconds = 0;
    const { kind, knownSeed } = await kindOf(patch);
    for (const seed of seeds(knownSeed)) {
      const { violation, cpuSeconds: took } = await trySeed(folder, kind, seed);
      cpuSeconds += took;
      if (violation !== null) return { name, found: { seed, violation }, cpuSeconds };
      if (cpuSeconds >= mostCpuSeconds) break;
    }
    return { name, found: null, cpuSeconds };
  });
}

type Kind = "one process" | "replicas";

/** What the first line of a patch may say: that it takes replicas to find it, and the seed that found it before. */
async function kindOf(patch: string): Promise<{ readonly kind: Kind; readonly knownSeed: number | null }> {
  const [, ofReplicas, seed] =
    /^(replicas )?seed (\d+)/.exec(await readFile(join(import.meta.dirname, patch), "utf8")) ?? [];
  return {
    kind: ofReplicas === undefined ? "one process" : "replicas",
    knownSeed: seed === undefined ? null : Number(seed),
  };
}

function* seeds(known: number | null): Generator<number> {
  if (known !== null) yield known;
  for (let seed = 1; ; seed++) if (seed !== known) yield seed;
}

async function trySeed(
  folder: string,
  kind: Kind,
  seed: number,
): Promise<{ violation: string | null; cpuSeconds: number }> {
  const life = kind === "replicas" ? { days: replicaDays, replicas } : { days: daysOf(seed) };
  const { stdout, stderr, isViolated } = await live(folder, { seed, ...life, timeoutMs: seedTimeoutMs });
  const cpuSeconds = Number(/"cpuSeconds":([\d.]+)/.exec(stdout)?.[1] ?? 0);
  // Its second line is the first violation; without one the process crashed, or did not end.
  const violation = isViolated ? (stdout.split("\n")[1]?.trim() ?? lastLineOf(stderr)) : null;
  return { violation: violation?.replaceAll("|", "/") ?? null, cpuSeconds };
}

function lastLineOf(stderr: string): string {
  return `crash: ${stderr.split("\n").find((line) => line.includes("Error")) ?? "no answer"}`;
}
