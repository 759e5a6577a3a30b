import { defineConfig } from "oxlint";

/**
 * Who may import whom, by folder of src/; docs/architecture.md shows the same table. `store: types` is written
 * `store (types)`: only `import type` may go there. A folder may always import itself; tests may import anything.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  base: [],
  spike: ["base"],
  contract: ["base", "spike"],
  evidence: ["base", "contract", "spike", "words"],
  store: ["base", "contract", "spike"],
  config: ["base", "contract", "spike", "checks", "receivers"],
  metrics: ["base", "contract", "spike", "checks"],
  client: ["base", "contract"],
  service: ["base", "contract", "spike", "store"],
  sources: ["base", "contract", "spike"],
  checks: ["base", "contract", "spike", "store (types)"],
  alerting: ["base", "spike", "contract", "checks", "store", "metrics", "words"],
  words: ["base", "spike", "contract", "checks", "alerting (types)", "store (types)"],
  receivers: ["base", "contract", "checks", "words", "alerting"],
  monitor: ["base", "contract", "checks", "alerting", "store", "metrics"],
  backtest: ["base", "contract", "spike", "evidence", "checks", "alerting", "monitor", "store (types)"],
  discovery: ["base", "contract", "config", "store"],
  web: [
    "base",
    "spike",
    "contract",
    "evidence",
    "config",
    "checks",
    "alerting",
    "store",
    "metrics",
    "service",
    "words",
  ],
  look: ["base", "contract", "evidence", "store", "metrics"],
  daemon: [
    "base",
    "spike",
    "contract",
    "evidence",
    "config",
    "discovery",
    "client",
    "store",
    "service",
    "sources",
    "checks",
    "monitor",
    "backtest",
    "alerting",
    "receivers",
    "metrics",
    "look",
    "words",
    "web",
  ],
  cli: [
    "daemon",
    "base",
    "spike",
    "contract",
    "config",
    "discovery",
    "client",
    "store",
    "checks",
    "monitor",
    "backtest",
    "alerting",
    "words",
    "web",
  ],
};

/** Packages that belong to one part of the program, so that they can be exchanged there. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  kysely: ["store"],
  "node:sqlite": ["store"],
  croner: ["base"],
  "@clickhouse/client": ["sources"],
  commander: ["cli"],
  fastify: ["web", "service", "daemon"],
  "find-my-way": ["web"],
  yaml: ["base", "config", "service", "cli"],
  "prom-client": ["metrics"],
  standardwebhooks: ["receivers"],
  liquidjs: ["receivers", "config"],
  pino: ["base"],
};

const deepestFolder = 4;
const rooms = Object.keys(importTable);
const clockMessage = "Only base/time.ts reads the clock or sets timers: take a Clock.";
const processMessage = "Only cli/main.ts touches the process.";

/** The rule of what the files of one room, `depth` folders below it, may not import. */
function restrictedImports(room: string, depth: number): ["error", { readonly patterns: object[] }] {
  const up = String.raw`^${String.raw`\.\./`.repeat(depth + 1)}`;
  const allowed = importTable[room] ?? [];
  const others = rooms.filter((other) => other !== room && !allowed.includes(other));
  const patterns = [
    ...others.map((other) => ({
      regex: `${up}${other}/`,
      allowTypeImports: allowed.includes(`${other} (types)`),
      message: `${room} may not import ${other} (oxlint.config.ts).`,
    })),
    ...Object.entries(packageHomes)
      .filter(([, homes]) => !homes.includes(room))
      .map(([name, homes]) => ({ regex: `^${name}$`, message: `${name} belongs to ${homes.join(", ")}.` })),
    ...(room === "cli" ? [] : [{ regex: "^node:process$", message: processMessage }]),
    ...(room === "base" ? [] : [{ regex: "^node:timers", message: clockMessage }]),
  ];
  return ["error", { patterns }];
}

export default defineConfig({
  plugins: ["typescript", "unicorn", "import", "promise", "node"],
  categories: { correctness: "error", suspicious: "error" },
  ignorePatterns: ["dist", "dist.*", "node_modules"],
  rules: {
    "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    "import/no-default-export": "error",
    "import/no-cycle": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/no-unnecessary-type-parameters": "off",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "no-warning-comments": "error",
    "no-console": "error",
    eqeqeq: "error",
    "no-empty": "error",
    "no-await-in-loop": "off",
    "no-shadow": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "import/no-named-as-default-member": "off",
    "import/no-unassigned-import": "off",
  },
  overrides: [
    {
      files: ["src/**/*.ts"],
      rules: {
        "no-restricted-globals": [
          "error",
          { name: "process", message: processMessage },
          { name: "setTimeout", message: clockMessage },
          { name: "setInterval", message: clockMessage },
          { name: "performance", message: clockMessage },
        ],
        "no-restricted-properties": [
          "error",
          { object: "Date", property: "now", message: clockMessage },
          { object: "AbortSignal", property: "timeout", message: clockMessage },
        ],
      },
    },
    ...rooms.flatMap((room) =>
      Array.from({ length: deepestFolder }, (_, depth) => ({
        files: [`src/${room}/${"*/".repeat(depth)}*.ts`],
        rules: { "no-restricted-imports": restrictedImports(room, depth) },
      })),
    ),
    {
      // The clock itself, the edges to the process, and what runs in a browser, which has no clock of ours.
      files: ["src/base/time.ts", "src/cli/main.ts", "src/web/browser/**"],
      rules: { "no-restricted-globals": "off", "no-restricted-properties": "off", "no-restricted-imports": "off" },
    },
    {
      files: ["vitest.config.ts", "oxlint.config.ts", "bench/**", "scripts/**"],
      rules: { "import/no-default-export": "off", "no-console": "off" },
    },
    {
      files: ["**/*.test.ts", "test/**"],
      rules: {
        "max-lines": "off",
        "no-restricted-globals": "off",
        "no-restricted-properties": "off",
        "no-restricted-imports": "off",
      },
    },
  ],
});
