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

/** What each patch of this folder breaks. They are found before and after any change of the tests, and of what they mutate. */
const promises = {
  "acknowledge-before-delivery": "a message is kept until its receiver has accepted it",
  "skip-an-outbox-row": "every receiver of an alert is notified of it",
  "swap-two-commits": "what was queued is marked in the transaction that fills the outbox",
  "repeat-under-another-id": "a repeated message has the id of the first",
  "send-out-of-order": "messages of an incident come in the order of what happened",
  "end-an-alert-on-an-unknown-run": "a run without a result decides nothing about a verdict alert",
  "forget-for-after-a-restart": "the clocks of an alert survive the death of the process",
  "stand-still-after-the-clock-was-set-back": "every check is run when it is due, whatever the clock does",
  "count-an-edge-twice": "a death on the edge of a window is counted in one of them",
  "count-repeated-events": "an event that comes again is counted once",
  "count-an-organization-twice": "an organization counts once for a fleet verdict",
  "open-a-second-incident": "alerts that begin together are one incident",
  "release-the-gate-while-a-wrong-checker-fires": "a gate opens only for what releases it",
  "hold-on-after-a-judgement": "a gate that nothing holds opens",
  "do-half-of-an-act": "an act is done to every member that it names as done",
  "drop-the-fence": "a process that another one has taken over from writes nothing any more",
};

/** The tests that find those which no life of the simulation does. */
const tests: Readonly<Record<string, string>> = { "drop-the-fence": "src/store/writer.postgres.test.ts" };

export const mutants = Object.entries(promises).map(([name, promise]) => ({ name, promise, test: tests[name] }));

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
  const project = test.includes(".postgres.") ? "postgres" : "unit";
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", project, "--maxWorkers", "1", test];
  return run(process.execPath, args, { cwd: folder, timeout: timeoutMs }).then(
    () => true,
    () => false,
  );
}
