import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { installPackage } from "../../support/program/installed-package.ts";

// It asks npm's registry, as a newcomer does.
it("npm install flatline node@24 works in an empty folder, whatever Node.js the machine has", async () => {
  await using installed = await installPackage();
  // Not below the installed folder: npm looks for a package.json upwards, and would install into what is linked there.
  const place = await mkdtemp(join(tmpdir(), "flatline-newcomer-"));
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  await cp(installed.tarball, join(place, "flatline.tgz"));
  // Without the project's own node@24 on the PATH.
  const path = (process.env["PATH"] ?? "").split(":").filter((entry) => !entry.includes("node_modules"));
  const run = (command: string, ...args: string[]): SpawnSyncReturns<string> =>
    spawnSync(command, args, {
      cwd: place,
      encoding: "utf8",
      timeout: 180_000,
      env: { PATH: path.join(":"), HOME: process.env["HOME"] },
    });

  const installing = run("npm", "install", "--no-audit", "--no-fund", "./flatline.tgz", "node@24");
  const version = run("npx", "flatline", "--version");
  const check = run("npx", "flatline", "check", "-c", "node_modules/flatline/config.example.yaml");

  expect(installing.status, installing.stderr).toBe(0);
  expect([version.status, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  expect([check.status, check.stdout]).toEqual([0, expect.stringContaining("ads-hosts")]);
}, 300_000);
