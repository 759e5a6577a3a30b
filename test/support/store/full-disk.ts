import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder whose disk can be full from one moment to the next; gone at the end of its block. */
export interface FullDisk extends AsyncDisposable {
  readonly path: string;
  /** From now on nothing that `pid` writes to a file there gets a place. */
  fill(pid: number): Promise<void>;
  /** There is room again. */
  free(pid: number): Promise<void>;
}

/** One way to a disk that is really full. */
export interface FullDiskWay {
  readonly name: string;
  /** Why it is unavailable here; null if it is available. */
  readonly skipReason: string | null;
  make(): Promise<FullDisk>;
}

const tmpfsBytes = 16 * 1_024 ** 2;

/** The kernel refuses each write of one process (EFBIG): needs no rights. Pipes, and so its log, are not meant. */
const limited: FullDiskWay = {
  name: "no file of the process may grow (RLIMIT_FSIZE)",
  skipReason: spawnSync("prlimit", ["--version"]).status === 0 ? null : "prlimit is not installed",
  make: async () => {
    const path = await mkdtemp(join(tmpdir(), "flatline-limited-"));
    return {
      path,
      fill: async (pid) => run("prlimit", ["--pid", String(pid), "--fsize=0:"]),
      free: async (pid) => run("prlimit", ["--pid", String(pid), "--fsize=unlimited:"]),
      [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
    };
  },
};

/** A small file system that another file fills to its last byte (ENOSPC): needs the right to mount. */
const filled: FullDiskWay = {
  name: "the file system is full (tmpfs)",
  skipReason: whyNoMount(),
  make: async () => {
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
  },
};

export const fullDisks: readonly FullDiskWay[] = [limited, filled];

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
