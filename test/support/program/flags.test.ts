import { spawnSync } from "node:child_process";

import { describe, expect, it } from "vitest";

const script = `
  import { readFlags, readNumber, refuse } from ${JSON.stringify(new URL("flags.ts", import.meta.url).href)};
  const usage = "usage: count [--from N] [--by STEP]";
  const values = readFlags(usage, { from: { type: "string", default: "1" }, by: { type: "string", default: "1" } });
  const from = readNumber("from", values.from, { least: 1, usage });
  const by = readNumber("by", values.by, { least: 0.01, isWhole: false, usage });
  if (by > 9) refuse("nobody counts by more than 9", usage);
  console.log(from, by);
`;

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script, "--", ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("flags of a script", () => {
  it.each([
    [[], "1 1\n"],
    [["--from", "3", "--by=0.5"], "3 0.5\n"],
    [["--bogus", "--help"], "usage: count [--from N] [--by STEP]\n"],
  ])("are read: %j", (args, stdout) => {
    expect(run(...args)).toEqual({ status: 0, stdout, stderr: "" });
  });

  it.each([
    [["--bogus"], "Unknown option '--bogus'"],
    [["--from"], "Option '--from <value>' argument missing"],
    [["extra"], "Unexpected argument 'extra'"],
    [["--from", "0"], "--from must be a whole number from 1 on"],
    [["--from", "1.5"], "--from must be a whole number from 1 on"],
    [["--by", ""], "--by must be a number from 0.01 on"],
    [["--by", "x"], "--by must be a number from 0.01 on"],
    [["--by", "10"], "nobody counts by more than 9"],
  ])("are refused with the usage: %j", (args, message) => {
    const { status, stdout, stderr } = run(...args);

    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr.endsWith("\nusage: count [--from N] [--by STEP]\n")).toBe(true);
    expect(stderr).not.toContain("    at ");
  });
});
