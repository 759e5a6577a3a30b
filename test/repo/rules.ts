import { posix } from "node:path";

import { importsOf, type SourceFile } from "./source-files.ts";

/** One rule of CONVENTIONS that no linter knows: every place that breaks it, as `path:line: what`. */
export interface Rule {
  readonly name: string;
  readonly violations: (file: SourceFile) => string[];
}

/**
 * Who may import whom, by folder of src/. `from X: types` is written `X (types)`: only `import type` may go there. A folder
 * may always import itself; tests may import anything.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  base: [],
  spike: ["base"],
  contract: ["base", "spike"],
  evidence: ["base", "contract", "spike"],
  store: ["base", "contract", "spike"],
  config: ["base", "contract", "spike", "checks", "receivers"],
  metrics: ["base", "contract", "spike", "checks"],
  client: ["base", "contract"],
  service: ["base", "contract", "spike", "store"],
  sources: ["base", "contract", "spike"],
  checks: ["base", "contract", "spike", "store (types)"],
  alerting: ["base", "contract", "checks", "store", "metrics"],
  receivers: ["base", "contract", "checks", "alerting (types)"],
  monitor: ["base", "contract", "checks", "alerting", "store", "metrics"],
  backtest: ["base", "contract", "spike", "checks", "alerting", "monitor", "store (types)"],
  discovery: ["base", "contract", "config", "store"],
  web: ["base", "contract", "checks", "store", "metrics", "service"],
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
    "web",
  ],
  commands: [
    "daemon",
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
    "web",
  ],
  cli: ["commands", "daemon", "config", "client", "contract", "base"],
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
  yaml: ["config", "service", "cli"],
  "prom-client": ["metrics"],
  standardwebhooks: ["receivers"],
  liquidjs: ["receivers", "config"],
  pino: ["base"],
};

interface Exception {
  readonly path: string;
  readonly rule: string;
  readonly reason: string;
}

/** May look into another's message: nothing else says what happened. */
const readsMessages: Readonly<Record<string, string>> = {
  "src/cli/program.ts": "commander names the unknown option in its message only",
  "src/sources/clickhouse-errors.ts": "ClickHouse's client throws plain errors; its server has one code for two causes",
  "src/sources/postgres-errors.ts": "pg throws plain errors; PostgreSQL has one SQLSTATE for two causes",
  "src/store/engine/postgres-error.ts": "pg throws plain errors",
  "src/spike/findings.ts": "the finding is of flatline's own wording, and the API has no field for the number",
};

/** Every place that may break a rule, with its reason. An exception that nothing needs any more fails the test. */
export const exceptions: readonly Exception[] = [
  { path: "src/base/time.ts", rule: "clock", reason: "the clock itself" },
  { path: "src/cli/main.ts", rule: "process", reason: "the edge to the process" },
  { path: "src/cli/main.ts", rule: "import-does-nothing", reason: "the program's entry" },
  {
    path: "src/store/events/ingest-worker.ts",
    rule: "import-does-nothing",
    reason: "the entry of the ingest thread; in any other thread it does nothing",
  },
  {
    path: "src/web/client/main.ts",
    rule: "import-does-nothing",
    reason: "the entry of what runs in the browser",
  },
  {
    path: "src/web/client/theme.ts",
    rule: "import-does-nothing",
    reason: "a plain script that runs before anything is drawn",
  },
  ...["main", "stream", "overview", "actions", "choices", "silence", "acts", "dead-assets", "listing", "copy"].map(
    (name) => ({
      path: `src/web/client/${name}.ts`,
      rule: "clock",
      reason: "runs in a browser, which has no clock of ours",
    }),
  ),
  {
    path: "src/client/upstream-text.ts",
    rule: "errors",
    reason: "caught in the same file, as JSON.parse's own errors",
  },
  ...Object.entries(readsMessages).map(([path, reason]) => ({ path, rule: "messages", reason })),
];

const room = (path: string): string | null => /^src\/([^/]+)\//.exec(path)?.[1] ?? null;
const isTest = (path: string): boolean => path.endsWith(".test.ts") || path.startsWith("test/");

/** Violations for each line of the file's code that the pattern matches. */
function linesMatching(file: SourceFile, pattern: RegExp, what: string, lines = file.code): string[] {
  return lines.split("\n").flatMap((line, index) => {
    const match = pattern.exec(line);
    return match === null ? [] : [`${file.path}:${index + 1}: ${what} (${match[0].trim()})`];
  });
}

function importViolations(file: SourceFile): string[] {
  const from = room(file.path);
  if (from === null || isTest(file.path)) return [];
  const allowed = importTable[from];
  if (allowed === undefined) return [`${file.path}:1: src/${from} is not in the import table`];
  return importsOf(file).flatMap(({ specifier, isTypeOnly, line }) => {
    if (!specifier.startsWith(".")) return [];
    const target = posix.join(posix.dirname(file.path), specifier);
    const to = room(target) ?? target;
    if (to === from || allowed.includes(to) || (isTypeOnly && allowed.includes(`${to} (types)`))) return [];
    return [`${file.path}:${line}: ${from} may not import ${to} (${specifier})`];
  });
}

function packageViolations(file: SourceFile): string[] {
  const from = room(file.path);
  if (from === null || isTest(file.path)) return [];
  return importsOf(file).flatMap(({ specifier, line }) => {
    const homes = packageHomes[specifier];
    if (homes === undefined || homes.includes(from)) return [];
    return [`${file.path}:${line}: ${specifier} belongs to ${homes.join(", ")}`];
  });
}

function specifierViolations(file: SourceFile): string[] {
  return importsOf(file).flatMap(({ specifier, line }) =>
    /^\.{1,2}\//.test(specifier) && !/\.(?:ts|json)$/.test(specifier)
      ? [`${file.path}:${line}: the specifier has no .ts ending (${specifier})`]
      : [],
  );
}

function nameViolations({ path }: SourceFile): string[] {
  const name = posix.basename(path);
  const found: string[] = [];
  // Migrations have their number first.
  if (!/^(?:\d{4}-)?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.config)?\.ts$/.test(name))
    found.push(`${path}:1: the file's name is not kebab-case`);
  const forbidden = path
    .replace(/(?:\.test)?\.ts$/, "")
    .split("/")
    .find((part) => ["utils", "util", "helpers", "helper", "common", "misc", "types", "lib"].includes(part));
  if (forbidden !== undefined) found.push(`${path}:1: "${forbidden}" says nothing about what is in it`);
  return found;
}

// What may stand at the beginning of a line of a module that does nothing when it is imported, as prettier formats it.
const declaration =
  /^(?:$|\s|import\b|export\b|const\b|function\b|async function\b|class\b|abstract class\b|interface\b|type\b|declare\b|[})\]>`|#$])/;

function sideEffects(file: SourceFile): string[] {
  if (!file.path.startsWith("src/") || isTest(file.path)) return [];
  return file.code
    .split("\n")
    .flatMap((line, index) =>
      declaration.test(line) ? [] : [`${file.path}:${index + 1}: importing a module does nothing (${line.trim()})`],
    );
}

/** The comments alone, each on its line. */
function commentsOf({ text, code }: SourceFile): string {
  const lines = code.split("\n");
  return text
    .split("\n")
    .map((line, index) => {
      const comment = line.slice((lines[index] ?? "").trimEnd().length).trimStart();
      return /^(?:\/\/|\/?\*)/.test(comment) ? comment : "";
    })
    .join("\n");
}

const inSource = ({ path }: SourceFile): boolean => path.startsWith("src/") && !isTest(path);

/** The rules by name; `exceptions` refer to these names. */
export const rules: readonly Rule[] = [
  { name: "imports", violations: importViolations },
  { name: "packages", violations: packageViolations },
  { name: "specifiers", violations: specifierViolations },
  { name: "names", violations: nameViolations },
  {
    name: "clock",
    violations: (file) =>
      inSource(file)
        ? linesMatching(
            file,
            /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.(?:now|timeOrigin)\b|\bset(?:Timeout|Interval)\b|\bAbortSignal\.timeout\b|\bprocess\.(?:hrtime|uptime)\b/,
            "only base/time.ts reads the clock or sets timers",
          )
        : [],
  },
  {
    name: "process",
    violations: (file) =>
      inSource(file)
        ? [
            ...linesMatching(file, /(?<![\w.])(?:globalThis\.)?process\.\w+/, "only cli/main.ts touches the process"),
            ...importsOf(file)
              .filter(({ specifier }) => specifier === "node:process")
              .map(({ line }) => `${file.path}:${line}: only cli/main.ts touches the process (node:process)`),
          ]
        : [],
  },
  { name: "import-does-nothing", violations: sideEffects },
  {
    name: "errors",
    violations: (file) =>
      inSource(file) && !/^src\/(?:base|spike)\//.test(file.path)
        ? linesMatching(
            file,
            // commander's own class is how its argument parsers refuse.
            /\bthrow new (?!FlatlineError\b|InvalidArgumentError\b)\w*/,
            "every thrown error is a FlatlineError",
          )
        : [],
  },
  {
    name: "messages",
    violations: (file) =>
      inSource(file)
        ? linesMatching(
            file,
            // Of words that a library may change at any release; its codes, and the fields of zod's issues, it does not.
            /\bmessage\b\)?\.(?:match|matchAll|replace|replaceAll|search|startsWith|endsWith|includes|indexOf)\(|\.(?:test|exec)\((?:\w+\??\.)*message\b/,
            "a message is for people: nothing is read out of it",
          )
        : [],
  },
  {
    name: "one-wording",
    violations: (file) =>
      inSource(file) && file.path !== "src/contract/issues.ts"
        ? linesMatching(
            file,
            /\.error\.issues\b|\bZodError\b|\$Zod(?:Raw)?Issue/,
            "readWith of contract/issues.ts words it",
          )
        : [],
  },
  {
    name: "source-kind",
    violations: (file) =>
      inSource(file) && !/^src\/(?:config|sources)\//.test(file.path)
        ? linesMatching(
            file,
            /[!=]==\s*"(?:remote|embedded|clickhouse)"/,
            "config/schema/source-kinds.ts says what a source can: nobody else asks which it is",
            file.text,
          )
        : [],
  },
  {
    name: "todo",
    violations: (file) =>
      linesMatching(file, /\b(?:TODO|FIXME|XXX)\b(?!\s*\(#\d+\))/, "has no issue number", commentsOf(file)),
  },
];

/** Violations without the listed exceptions. */
export function violationsOf(rule: Rule, files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !exceptions.some((one) => one.path === path && one.rule === rule.name))
    .flatMap((file) => rule.violations(file));
}
