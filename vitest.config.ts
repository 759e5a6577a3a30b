import { defineConfig } from "vitest/config";

import { endingReporter } from "./test/support/ending-reporter.ts";

// The tiers, by folder and name:
//   x.test.ts            `npm test`; below test/e2e: CI
//   x.engines.test.ts    once for each database of the store: SQLite in `npm test`, PostgreSQL in CI
//   x.postgres.test.ts   CI, with a real PostgreSQL
//   x.slow.test.ts       CI: more than 2 s, or a program of a Debian package
//   x.long.test.ts       the long tests (`npm run test:long`), which run all others, too: at full length, with fresh seeds
const named = (...suffixes: string[]): string[] => suffixes.map((suffix) => `**/*.${suffix}.test.ts`);
const everywhere = ["src/**/*.test.ts", "test/**/*.test.ts"];
const build = "test/support/program/build-once.ts";
const image = "test/e2e/deploy/container.test.ts";
const postgres = "test/support/postgres/once.ts";
const onSqlite = { length: "short", engines: ["SQLite"] } as const;

export default defineConfig({
  test: {
    // What hangs, not what is slow: a test that is correct passes on a machine that is busy with other things, too.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 50_000 } },
    pool: "forks",
    // A worker reads each module once, not once for each file: half of the processor time of the small ones.
    isolate: false,
    maxWorkers: 2,
    reporters: ["default", endingReporter],
    setupFiles: ["test/support/known-seeds.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: everywhere,
          exclude: ["test/e2e/**", "test/kubernetes/**", ...named("postgres", "slow", "long")],
          provide: onSqlite,
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: named("engines", "postgres"),
          globalSetup: [postgres],
          provide: { length: "short", engines: ["PostgreSQL"] },
        },
      },
      {
        extends: true,
        test: {
          name: "program",
          include: [
            "test/e2e/{api,commands,faults,deploy}/**/*.test.ts",
            "test/kubernetes/*.test.ts",
            ...named("slow"),
          ],
          exclude: [image, ...named("long")],
          globalSetup: [build, postgres],
          provide: onSqlite,
        },
      },
      {
        extends: true,
        test: { name: "image", include: [image], globalSetup: [build], provide: onSqlite },
      },
      {
        extends: true,
        test: {
          name: "page",
          include: ["test/e2e/page/**/*.test.ts"],
          exclude: named("long"),
          globalSetup: [build],
          provide: onSqlite,
        },
      },
      {
        extends: true,
        test: {
          name: "long",
          include: everywhere,
          globalSetup: [build, postgres],
          provide: { length: "long", engines: ["SQLite", "PostgreSQL", "ClickHouse"] },
        },
      },
    ],
  },
});
