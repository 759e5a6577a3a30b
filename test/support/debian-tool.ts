import { spawnSync } from "node:child_process";

/** A program that comes in a Debian package: CI installs it, a bare machine may lack it. */
export interface DebianTool {
  readonly isMissing: boolean;
  /** For the name of a test: empty, or why it is skipped. */
  readonly note: string;
  /** Runs it to its end, at most a minute, in a folder. */
  run(args: readonly string[], cwd: string): { readonly status: number | null; stdout: string; stderr: string };
}

/** Finds `command` on the PATH. */
export function debianTool(command: string, packageName: string): DebianTool {
  const isMissing = spawnSync("sh", ["-c", 'command -v "$0"', command]).status !== 0;
  return {
    isMissing,
    note: isMissing ? ` (skipped: ${command} is not installed, Debian's package ${packageName})` : "",
    run: (args, cwd) => {
      const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: 60_000 });
      return { status, stdout, stderr };
    },
  };
}
