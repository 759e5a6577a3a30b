import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { runProgram } from "../../support/program/program.ts";

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-compiled-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Starts the program, which must run whether it keeps compiled code or not. */
async function start(env: Readonly<Record<string, string>>): Promise<void> {
  const { exitCode, stderr } = await runProgram(["--version"], { cwd: folder, env });
  expect([exitCode, stderr]).toEqual([0, ""]);
}

/** How many files there are below a folder. */
async function filesIn(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

async function modeOf(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o777;
}

async function makeFolder(name: string, mode: number): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  // The umask does not hold for this one.
  await chmod(path, mode);
  return path;
}

describe("compiled code", () => {
  it("is kept in a folder of the user's own, and never in the shared one for temporary files", async () => {
    const temporary = await makeFolder("tmp", 0o1777);
    const home = await makeFolder("home", 0o755);

    await start({ TMPDIR: temporary, HOME: home });

    expect(await readdir(temporary)).toEqual([]);
    expect(await modeOf(join(home, ".cache/flatline"))).toBe(0o700);
    expect(await filesIn(join(home, ".cache/flatline"))).toBeGreaterThan(0);
  });

  interface Place {
    readonly name: string;
    readonly env: () => Promise<Record<string, string>>;
  }

  const shared: readonly Place[] = [
    {
      name: "the folder can be written by others",
      env: async () => {
        await makeFolder("flatline", 0o777);
        return { XDG_CACHE_HOME: folder };
      },
    },
    {
      name: "a folder above can be written by the group, which could put another one in its place",
      env: async () => ({ XDG_CACHE_HOME: await makeFolder("cache", 0o775) }),
    },
    {
      name: "the folder itself is a link",
      env: async () => {
        await symlink(await makeFolder("cache", 0o777), join(folder, "flatline"));
        return { XDG_CACHE_HOME: folder };
      },
    },
    { name: "the path is relative", env: async () => ({ XDG_CACHE_HOME: "cache" }) },
  ];

  // Only root can give a folder to somebody else.
  const foreign: readonly Place[] = [
    {
      name: "the folder belongs to another user",
      env: async () => {
        await chown(await makeFolder("flatline", 0o700), nobody, nobody);
        return { XDG_CACHE_HOME: folder };
      },
    },
  ];

  it.each(isRoot ? [...shared, ...foreign] : shared)("is kept nowhere when $name", async ({ env }) => {
    const given = await env();

    await start({ TMPDIR: folder, HOME: folder, ...given });

    expect(await filesIn(folder)).toBe(0);
  });
});
