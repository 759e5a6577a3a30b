import type { Reporter, TestCase } from "vitest/node";

const shown = 10;
const say = (lines: readonly string[]): boolean => process.stdout.write(`\n${lines.join("\n")}\n`);

/**
 * Ends a run of the tests with its ten slowest ones, and with a line for each that failed or was skipped, which fails
 * the run in CI. The end of CI repeats these lines (.ci/run).
 */
export const endingReporter: Reporter = {
  onTestRunEnd: (modules, errors) => {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const slowest = tests
      .map((test) => ({ test, seconds: (test.diagnostic()?.duration ?? 0) / 1_000 }))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, shown);
    const inState = (state: "failed" | "skipped"): TestCase[] => tests.filter((test) => test.result().state === state);
    const skipped = inState("skipped");
    if (tests.length > shown)
      say([
        "The slowest tests:",
        ...slowest.map(({ test, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${nameOf(test)}`),
      ]);
    const ended = [
      ...modules.filter((module) => module.errors().length > 0).map((module) => `Failed: ${module.relativeModuleId}`),
      ...inState("failed").map((test) => `Failed: ${nameOf(test)}`),
      ...skipped.map((test) => `Skipped: ${nameOf(test)}`),
      ...errors.map((error) => `Failed outside of a test: ${error.message.split("\n", 1)[0] ?? ""}`),
    ];
    if (ended.length > 0) say(ended);
    if (skipped.length > 0 && process.env["CI"] !== undefined) process.exitCode = 1;
  },
};

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId}: ${test.fullName}`;
}
