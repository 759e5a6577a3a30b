import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ["test/support/build-once.ts", "test/support/postgres-once.ts"],
    pool: "forks",
    // Many tests wait for something: a worker more than cores keeps both busy.
    maxWorkers: 3,
  },
});
