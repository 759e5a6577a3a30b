import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { beforeAll, describe, expect, it } from "vitest";

import type { Outcome } from "./fuzz.ts";
import { targets } from "./targets/targets.ts";
import { isLong } from "../support/tier.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
// The second one is new each night: npm run fuzz -- --seed SEED --times 6
const seeds = isLong ? [1, randomInt(1_000, 1_000_000)] : [1];
const times = isLong ? 6 : 1;

// In a process of its own: its memory is measured, and what it throws at nobody ends it.
describe.each(seeds)("input of seed %i", (seed) => {
  const outcomes = new Map<string, Outcome>();
  let exit = "";

  beforeAll(async () => {
    const args = ["--expose-gc", main, "--seed", String(seed), "--times", String(times)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    for (const line of stdout.split("\n").filter((one) => one !== "")) {
      const outcome = JSON.parse(line) as Outcome;
      outcomes.set(outcome.target, outcome);
    }
    exit = stderr;
  }, 600_000);

  it.each(targets)("to $name is answered as promised, however it was changed", ({ name, tries }) => {
    const outcome = outcomes.get(name);

    expect(outcome, exit).toMatchObject({ failure: null, tries: tries * times });
    expect(outcome?.accepted).toBeGreaterThan((tries * times) / 30);
  });
});
