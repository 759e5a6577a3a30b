import { describe, expect, it } from "vitest";

import { exceptions, importTable, rules, violationsOf } from "./rules.ts";
import { importsOf, readSourceFiles, sourceFile } from "./source-files.ts";

const source = readSourceFiles("src");
const all = [...source, ...readSourceFiles("test"), ...readSourceFiles("scripts")];

/** What each rule must see; one that sees nothing would pass for ever. */
const samples: readonly { readonly rule: string; readonly path: string; readonly text: string }[] = [
  { rule: "imports", path: "src/spike/a.ts", text: 'import { b } from "../contract/severity.ts";' },
  { rule: "imports", path: "src/web/a.ts", text: 'import {\n  b,\n} from "../config/config.ts";' },
  { rule: "imports", path: "src/receivers/a.ts", text: 'import { b } from "../alerting/deliver/outbox.ts";' },
  { rule: "imports", path: "src/monitor/a.ts", text: 'export { b } from "../app.ts";' },
  { rule: "imports", path: "src/store/a.ts", text: 'const b = await import("../service/b.ts");' },
  { rule: "imports", path: "src/elsewhere/a.ts", text: "" },
  { rule: "packages", path: "src/web/a.ts", text: 'import { Kysely } from "kysely";' },
  { rule: "specifiers", path: "src/web/a.ts", text: 'import { b } from "./b.js";' },
  { rule: "names", path: "src/web/someThing.ts", text: "" },
  { rule: "names", path: "src/web/utils.ts", text: "" },
  { rule: "names", path: "test/lib/a.ts", text: "" },
  { rule: "clock", path: "src/web/a.ts", text: "const a = Date.now();" },
  { rule: "clock", path: "src/web/a.ts", text: "const a = () => new Date().toISOString();" },
  { rule: "clock", path: "src/web/a.ts", text: 'import { setTimeout as delay } from "node:timers/promises";' },
  { rule: "clock", path: "src/web/a.ts", text: "const a = `${performance.now()}`;" },
  { rule: "process", path: "src/web/a.ts", text: "const a = process.env;" },
  { rule: "process", path: "src/web/a.ts", text: 'import { env } from "node:process";' },
  { rule: "import-does-nothing", path: "src/web/a.ts", text: "start();" },
  { rule: "import-does-nothing", path: "src/web/a.ts", text: 'const a = /"/;\nstart();' },
  { rule: "import-does-nothing", path: "src/web/a.ts", text: "let count = 0;" },
  { rule: "errors", path: "src/web/a.ts", text: 'throw new TypeError("no");' },
  { rule: "messages", path: "src/web/a.ts", text: 'const a = issue.message.startsWith("Invalid input");' },
  { rule: "messages", path: "src/web/a.ts", text: 'const a = message.replace(/^CronPattern: /, "");' },
  { rule: "messages", path: "src/web/a.ts", text: "if (/too (?:small|big)/i.test(error.message)) return;" },
  { rule: "one-wording", path: "src/web/a.ts", text: "const [first] = parsed.error.issues;" },
  { rule: "todo", path: "src/web/a.ts", text: ["//", "TODO", "later"].join(" ") },
  { rule: "source-kind", path: "src/daemon/a.ts", text: 'if (source.type === "embedded") open();' },
];

/** What must not be taken for a violation. */
const harmless: readonly { readonly rule: string; readonly path: string; readonly text: string }[] = [
  { rule: "imports", path: "src/receivers/a.ts", text: 'import type { B } from "../alerting/notify/notification.ts";' },
  { rule: "imports", path: "src/web/a.ts", text: '// import { b } from "../config/config.ts";' },
  { rule: "imports", path: "src/web/a.test.ts", text: 'import { b } from "../config/config.ts";' },
  { rule: "clock", path: "src/web/a.ts", text: "/** Reads Date.now() */\nconst a = new Date(nowMs);" },
  { rule: "process", path: "src/web/a.ts", text: '// process.env\nconst a = "process.env";' },
  {
    rule: "import-does-nothing",
    path: "src/web/a.ts",
    text: "/** Starts. */\nexport function start(): void {\n  run();\n}",
  },
  { rule: "errors", path: "src/web/a.ts", text: 'throw new FlatlineError("usage", "no");' },
  { rule: "messages", path: "src/web/a.ts", text: 'if (error.code === "ENOENT") say(error.message);' },
  { rule: "todo", path: "src/web/a.ts", text: 'const status = "TODO"; // as the API has it' },
  {
    rule: "import-does-nothing",
    path: "src/web/a.ts",
    text: "export const page = (a: string) => `<p>\n<b>${a}</b>\nend`;",
  },
];

describe("the source", () => {
  it.each(rules)("keeps the rule: $name", (rule) => {
    expect(violationsOf(rule, all)).toEqual([]);
  });

  it.each(exceptions)("still needs the exception of $path from $rule", ({ path, rule: name }) => {
    const file = all.find((one) => one.path === path);
    const rule = rules.find((one) => one.name === name);

    expect(file === undefined ? [] : rule?.violations(file)).not.toEqual([]);
  });

  it("has every folder of src in the import table, and no other", () => {
    const folders = new Set(source.flatMap(({ path }) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []));

    expect([...folders].toSorted()).toEqual(Object.keys(importTable).toSorted());
  });

  it("imports no files in a circle, types apart", () => {
    expect(circlesIn(source.filter(({ path }) => !path.endsWith(".test.ts")))).toEqual([]);
  });
});

describe("the rules", () => {
  it.each(samples)("$rule: sees $text in $path", ({ rule: name, path, text }) => {
    const rule = rules.find((one) => one.name === name);

    expect(rule?.violations(sourceFile(path, text))).toHaveLength(1);
  });

  it.each(harmless)("$rule: lets $text in $path be", ({ rule: name, path, text }) => {
    const rule = rules.find((one) => one.name === name);

    expect(rule?.violations(sourceFile(path, text))).toEqual([]);
  });

  it("are each shown by a sample", () => {
    expect(new Set(samples.map(({ rule }) => rule))).toEqual(new Set(rules.map(({ name }) => name)));
  });
});

/** Circles of value imports, each from its first file in order of names. */
function circlesIn(files: readonly { path: string; text: string; code: string }[]): string[] {
  const graph = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ specifier, isTypeOnly }) => specifier.startsWith(".") && !isTypeOnly)
        .map(({ specifier }) => new URL(specifier, `file:///${file.path}`).pathname.slice(1)),
    ]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) circles.push([...trail.slice(start), path].join(" → "));
    if (start !== -1 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return circles;
}
