import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const tmpfsBytes = 16 * 1_024 ** 2;

/** A folder whose disk can be full from one moment to the next; gone at the end of its block. */
export interface FullDisk extends AsyncDisposable {
  readonly path: string;
  /** From now on nothing that is written to a file there gets a place. */
  fill(): Promise<void>;
  /** There is room again. */
  free(): Promise<void>;
}

/** Why there is none here; null: there is. */
export const fullDiskSkipReason: string | null = whyNoMount();

/** Makes a small file system, which another file fills to its last byte (ENOSPC): needs the right to mount. */
export async function makeFullDisk(): Promise<FullDisk> {
  const path = await mkdtemp(join(tmpdir(), "flatline-filled-"));
  mount(path);
  return {
    path,
    fill: async () => {
      const error = await writeFile(join(path, "filler"), Buffer.alloc(tmpfsBytes)).catch((cause: unknown) => cause);
      if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOSPC")
        throw new Error("the file system was not filled", { cause: error });
    },
    free: () => rm(join(path, "filler")),
    [Symbol.asyncDispose]: async () => {
      run("umount", ["--lazy", path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

function mount(path: string): void {
  run("mount", ["-t", "tmpfs", "-o", `size=${tmpfsBytes}`, "tmpfs", path]);
}

function whyNoMount(): string | null {
  const path = mkdtempSync(join(tmpdir(), "flatline-mount-"));
  try {
    mount(path);
    run("umount", [path]);
    return null;
  } catch {
    return "no file system may be mounted here (only root may)";
  } finally {
    rmdirSync(path);
  }
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
}
