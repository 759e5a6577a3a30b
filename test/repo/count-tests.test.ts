import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, it } from "vitest";

const script = fileURLToPath(new URL("../../scripts/count-tests.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "flatline-count-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Assertion = { readonly fullName: string; readonly status: string };
const ended = (fullName: string, status: string): Assertion => ({ fullName, status });

/** Runs the script over results as vitest's JSON reporter writes them: of each run, its files and their tests. */
function count(runs: readonly Readonly<Record<string, readonly Assertion[]>>[], storage = "storage.conf") {
  const paths = runs.map((files, index) => {
    const path = join(folder, `${index}.json`);
    const testResults = Object.entries(files).map(([name, assertionResults]) => ({ name, assertionResults }));
    const success = testResults.every((file) => file.assertionResults.every(({ status }) => status !== "failed"));
    writeFileSync(path, JSON.stringify({ success, testResults }));
    return path;
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...paths], {
    encoding: "utf8",
    env: { ...process.env, FLATLINE_TEST_CONTAINERS_STORAGE_CONF: storage },
  });
  return { exitCode: status, stdout, stderr };
}

it("counts a file that ran again as it ran last, whatever its skipped tests were called before", () => {
  const short = {
    "a.test.ts": [ended("the image (skipped: no storage) runs", "skipped")],
    "b.test.ts": [ended("adds", "passed")],
  };
  const long = { "a.test.ts": [ended("the image runs", "passed")] };

  expect(count([short, long])).toEqual({ exitCode: 0, stdout: "2 passed, 0 failed, 0 skipped\n", stderr: "" });
});

it.each(["skipped", "todo", "pending"])("fails when a test ran in no run: %s", (status) => {
  expect(count([{ "a.test.ts": [ended("adds", status)] }])).toEqual({
    exitCode: 1,
    stdout: "0 passed, 0 failed, 1 skipped\n",
    stderr: "skipped: a.test.ts: adds\n",
  });
});

it("lets the image's tests be skipped where no base image can be had, and them alone", () => {
  const image = { "test/e2e/deploy/container.test.ts": [ended("runs", "skipped")] };

  expect(count([image], "").exitCode).toBe(0);
  expect(count([image]).exitCode).toBe(1);
});

it("fails on a failure of any run, and names it", () => {
  const failing = { "a.test.ts": [ended("adds", "failed")], "b.test.ts": [ended("waits", "passed")] };

  expect(count([failing])).toEqual({
    exitCode: 1,
    stdout: "1 passed, 1 failed, 0 skipped\n",
    stderr: "failed: a.test.ts: adds\n",
  });
  expect(count([failing, { "a.test.ts": [ended("adds", "passed")] }]).exitCode).toBe(1);
});

it("fails without the results of a run", () => {
  const { status } = spawnSync(process.execPath, [script, "/nowhere/results.json"], { encoding: "utf8" });

  expect(status).toBe(1);
});
