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
  /** The test that finds it [a life of the simulation]. */
  readonly test?: string;
}

/** Found before and after any change of the tests, and of what they mutate. */
export const mutants: readonly Mutant[] = [
  {
    name: "acknowledge-before-delivery",
    promise: "a message is kept until its receiver has accepted it",
  },
  {
    name: "skip-an-outbox-row",
    promise: "every receiver of an alert is notified of it",
  },
  {
    name: "swap-two-commits",
    promise: "what was queued is marked in the transaction that fills the outbox",
  },
  {
    name: "repeat-under-another-id",
    promise: "a repeated message has the id of the first",
  },
  {
    name: "send-out-of-order",
    promise: "messages of an incident come in the order of what happened",
  },
  {
    name: "end-an-alert-on-an-unknown-run",
    promise: "a run without a result decides nothing about a verdict alert",
  },
  {
    name: "forget-for-after-a-restart",
    promise: "the clocks of an alert survive the death of the process",
  },
  {
    name: "stand-still-after-the-clock-was-set-back",
    promise: "every check is run when it is due, whatever the clock does",
  },
  {
    name: "count-an-edge-twice",
    promise: "a death on the edge of a window is counted in one of them",
  },
  {
    name: "count-repeated-events",
    promise: "an event that comes again is counted once",
  },
  {
    name: "count-an-organization-twice",
    promise: "an organization counts once for a fleet verdict",
  },
  {
    name: "open-a-second-incident",
    promise: "alerts that begin together are one incident",
  },
  {
    name: "release-the-gate-while-a-wrong-checker-fires",
    promise: "a gate opens only for what releases it",
  },
  {
    name: "hold-on-after-a-judgement",
    promise: "a gate that nothing holds opens",
  },
  {
    name: "do-half-of-an-act",
    promise: "an act is done to every member that it names as done",
  },
  {
    name: "drop-the-fence",
    promise: "a process that another one has taken over from writes nothing any more",
    test: "src/store/writer.postgres.test.ts",
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

/** Lives through a seed in a process of its own, until the first violation. Rejects when it ends without a verdict. */
export async function live(
  folder: string,
  { seed, days }: { readonly seed: number; readonly days: number },
): Promise<{ readonly stdout: string; readonly isViolated: boolean }> {
  const args = ["test/simulation/main.ts", "--seed", String(seed), "--days", String(days), "--first"];
  try {
    const { stdout } = await run(process.execPath, args, { cwd: folder, timeout: timeoutMs });
    return { stdout, isViolated: false };
  } catch (error) {
    const { stdout = "", killed = false } = error as { readonly stdout?: string; readonly killed?: boolean };
    // A judge that crashed has not judged.
    if (!killed && !/"violations":[1-9]/.test(stdout)) throw error;
    return { stdout, isViolated: true };
  }
}

/** Runs a test; returns whether it passes. */
export async function runTest(folder: string, test: string): Promise<boolean> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const args = [
    vitest,
    "run",
    "--project",
    test.includes(".postgres.") ? "postgres" : "unit",
    "--maxWorkers",
    "1",
    test,
  ];
  return run(process.execPath, args, { cwd: folder, timeout: timeoutMs }).then(
    () => true,
    () => false,
  );
}
