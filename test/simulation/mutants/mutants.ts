import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const root = join(import.meta.dirname, "../../..");
const copied = ["src", "test", "package.json", "tsconfig.json", "vitest.config.ts"];
// Of real time: a mutant may go round in circles.
const timeoutMs = 600_000;

/** A patch of this folder. */
export interface Mutant {
  readonly name: string;
  /** What it breaks. */
  readonly promise: string;
  /** A life of the simulation, or a test. */
  readonly foundBy: Life | { readonly test: string };
}

interface Life {
  readonly seed: number;
  readonly days: number;
}

/** Found before and after any change of the tests, and of what they mutate. */
export const mutants: readonly Mutant[] = [
  {
    name: "acknowledge-before-delivery",
    promise: "a message is kept until its receiver has accepted it",
    foundBy: { seed: 2, days: 0.5 },
  },
  {
    name: "skip-an-outbox-row",
    promise: "every receiver of an alert is notified of it",
    foundBy: { seed: 1, days: 0.5 },
  },
  {
    name: "swap-two-commits",
    promise: "what was queued is marked in the transaction that fills the outbox",
    foundBy: { seed: 2, days: 0.5 },
  },
  {
    name: "repeat-under-another-id",
    promise: "a repeated message has the id of the first",
    foundBy: { seed: 1, days: 0.5 },
  },
  {
    name: "send-out-of-order",
    promise: "messages of an incident come in the order of what happened",
    foundBy: { seed: 10, days: 3 },
  },
  {
    name: "end-an-alert-on-an-unknown-run",
    promise: "a run without a result decides nothing about a verdict alert",
    foundBy: { seed: 0, days: 0.5 },
  },
  {
    name: "forget-for-after-a-restart",
    promise: "the clocks of an alert survive the death of the process",
    foundBy: { seed: 0, days: 0.5 },
  },
  {
    name: "stand-still-after-the-clock-was-set-back",
    promise: "every check is run when it is due, whatever the clock does",
    foundBy: { seed: 0, days: 0.5 },
  },
  {
    name: "count-an-edge-twice",
    promise: "a death on the edge of a window is counted in one of them",
    foundBy: { seed: 2, days: 0.5 },
  },
  {
    name: "count-repeated-events",
    promise: "an event that comes again is counted once",
    foundBy: { seed: 2, days: 0.5 },
  },
  {
    name: "count-an-organization-twice",
    promise: "an organization counts once for a fleet verdict",
    foundBy: { seed: 4, days: 0.5 },
  },
  {
    name: "open-a-second-incident",
    promise: "alerts that begin together are one incident",
    foundBy: { seed: 1, days: 0.5 },
  },
  {
    name: "release-the-gate-while-a-wrong-checker-fires",
    promise: "a gate opens only for what releases it",
    foundBy: { seed: 0, days: 0.5 },
  },
  {
    name: "hold-on-after-a-judgement",
    promise: "a gate that nothing holds opens",
    foundBy: { seed: 0, days: 0.5 },
  },
  {
    name: "do-half-of-an-act",
    promise: "an act is done to every member that it names as done",
    foundBy: { seed: 0, days: 0.5 },
  },
  {
    name: "drop-the-fence",
    promise: "a process that another one has taken over from writes nothing any more",
    foundBy: { test: "src/store/runs/owners.engines.test.ts" },
  },
];

/** Returns the patch of a mutant, absolute. */
export function patchOf(name: string): string {
  return join(import.meta.dirname, `${name}.patch`);
}

/** Works with a copy of the sources to which a mutant's patch is applied. */
export async function withMutant<Result>(name: string, work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-mutant-"));
  try {
    for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await run("git", ["apply", patchOf(name)], { cwd: folder });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Lives through a seed in a process of its own, until the first violation or a crash. */
export async function live(
  folder: string,
  { seed, days }: Life,
): Promise<{ readonly stdout: string; readonly isViolated: boolean }> {
  const args = ["test/simulation/main.ts", "--seed", String(seed), "--days", String(days), "--first"];
  try {
    const { stdout } = await run(process.execPath, args, { cwd: folder, timeout: timeoutMs });
    return { stdout, isViolated: false };
  } catch (error) {
    return { stdout: (error as { readonly stdout?: string }).stdout ?? "", isViolated: true };
  }
}

/** Runs a test; returns whether it passes. */
export async function runTest(folder: string, test: string): Promise<boolean> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--project", "unit", "--maxWorkers", "1", test];
  return run(process.execPath, args, { cwd: folder, timeout: timeoutMs }).then(
    () => true,
    () => false,
  );
}
