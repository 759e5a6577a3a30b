import { describe, expect, it } from "vitest";

import { importTable } from "../../oxlint.config.ts";
import { readFiles, readText, type ProjectFile } from "./project-files.ts";

// What oxlint has no rule for. The other rules about source are in oxlint.config.ts, unused code is in knip.json.
const rules = [
  {
    rule: "every thrown error is a FlatlineError",
    // commander's own class is how its argument parsers refuse; JSON.parse's errors are caught in the same file.
    pattern:
      /^(?!\s*(?:\/\/|\/?\*)).*\bthrow new (?!FlatlineError\b|InvalidArgumentError\b|BadRow\b|RefusedEvents\b)\w*/,
    files: /^src\/(?!base\/|spike\/|client\/upstream-text\.ts)/,
    sample: '  throw new TypeError("no");',
  },
  {
    rule: "only base/time.ts reads the clock",
    pattern: /^(?!\s*(?:\/\/|\/?\*)).*\bnew Date\(\s*\)/,
    files: /^src\/(?!base\/time\.ts|web\/client\/)/,
    sample: "const at = new Date().toISOString();",
  },
] as const;

const source = readFiles("src", { tests: false });

function violations({ pattern, files }: (typeof rules)[number], { path, text }: ProjectFile): string[] {
  if (!files.test(path)) return [];
  return text
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []));
}

describe("src", () => {
  it.each(rules)("keeps the rule: $rule", (rule) => {
    expect(violations(rule, { path: "src/web/a.ts", text: rule.sample })).toHaveLength(1);
    expect(source.flatMap((file) => violations(rule, file))).toEqual([]);
  });

  it("has every folder in the table of who may import whom, and docs/architecture.md shows that table", () => {
    const folders = new Set(source.flatMap(({ path }) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []));
    const rows = [...readText("docs/architecture.md").matchAll(/^\| `(\w+)\/`\s*\|[^|]*\|([^|]*)\|$/gm)];
    const documented = rows.map(([, room = "", cell = ""]) => [
      room,
      cell.trim() === "–" ? [] : cell.trim().split(", "),
    ]);

    expect([...folders].toSorted()).toEqual(Object.keys(importTable).toSorted());
    expect(Object.fromEntries(documented)).toEqual(importTable);
  });
});
