import type { Reporter, TestCase } from "vitest/node";

const shown = 10;
const say = (text: string): boolean => process.stdout.write(`\n${text}\n`);

/** Ends a run of the tests with its ten slowest ones, and with each that was skipped, which fails the run in CI. */
export const slowestReporter: Reporter = {
  onTestRunEnd: (modules) => {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const slowest = tests
      .map((test) => ({ test, seconds: (test.diagnostic()?.duration ?? 0) / 1_000 }))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, shown);
    const skipped = tests.filter((test) => test.result().state === "skipped");
    if (tests.length > shown)
      say(
        [
          "The slowest tests:",
          ...slowest.map(({ test, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${nameOf(test)}`),
        ].join("\n"),
      );
    if (skipped.length > 0) say(["Skipped:", ...skipped.map((test) => `  ${nameOf(test)}`)].join("\n"));
    if (skipped.length > 0 && process.env["CI"] !== undefined) process.exitCode = 1;
  },
};

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId}: ${test.fullName}`;
}
