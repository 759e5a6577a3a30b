import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // What hangs, not what is slow: a test that is correct passes on a machine that is busy with other things, too.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: ["test/support/program/build-once.ts", "test/support/postgres/once.ts"],
    pool: "forks",
    // A worker reads each module once, not once for each file: half of the processor time of the small ones.
    isolate: false,
    // Many tests wait for something: a worker more than cores keeps both busy.
    maxWorkers: 3,
  },
});
