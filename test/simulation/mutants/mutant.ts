import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const root = join(import.meta.dirname, "../../..");
const copied = ["src", "test/simulation", "test/support", "package.json", "tsconfig.json"];

export interface Lived {
  readonly stdout: string;
  readonly stderr: string;
  /** Or crashed. */
  readonly isViolated: boolean;
}

/** Works with a copy of the sources to which a patch of this folder is applied. */
export async function withMutant<Result>(patch: string, work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-mutant-"));
  try {
    for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await run("git", ["apply", join(import.meta.dirname, patch)], { cwd: folder });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Lives through a seed in a process of its own, until the first violation. */
export async function live(
  folder: string,
  options: { readonly seed: number; readonly days: number; readonly replicas?: number; readonly timeoutMs: number },
): Promise<Lived> {
  const { seed, days, replicas = 0, timeoutMs } = options;
  const numbers = ["--seed", String(seed), "--days", String(days), "--replicas", String(replicas)];
  const args = ["test/simulation/main.ts", ...numbers, "--first"];
  try {
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder, timeout: timeoutMs });
    return { stdout, stderr, isViolated: false };
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    return { stdout, stderr, isViolated: true };
  }
}
