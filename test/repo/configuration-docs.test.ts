import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const schema = JSON.parse(readFileSync(new URL("../../flatline.schema.json", import.meta.url), "utf8")) as unknown;

/** Every key in the schema as `key: its description`, wherever it stands. */
function describedKeys(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const properties = "properties" in node ? Object.entries(node.properties as Record<string, unknown>) : [];
  const names = properties.map(([key]) => key);
  const own = properties.flatMap(([key, child]) => {
    // The twin of a secret is said of all of them at once.
    if (key.endsWith("File") && names.includes(key.slice(0, -"File".length))) return [];
    const { description, const: only } = child as { readonly description?: string; readonly const?: unknown };
    // A `type` is the head of a section.
    return description === undefined || only !== undefined ? [] : [plain(`${key}: ${description}`)];
  });
  return [...own, ...Object.values(node).flatMap(describedKeys)];
}

/** Without what Markdown's formatter may write in two ways. */
function plain(text: string): string {
  return text.replaceAll(/[\\*_]/g, "");
}

describe("docs/configuration.md", () => {
  it("describes every key of the schema, those in lists included", () => {
    const markdown = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
    const rows = [
      ...markdown.matchAll(/^- \[?`(?:[\w.[\]]+\.)?(\w+)`(?:\]\(#\w+\))?: (?:[^.[]|\[`[^`]*`\])+\. (.*)$/gm),
    ];
    const described = new Set(rows.map(([, key, description]) => plain(`${key}: ${description}`)));
    const keys = [...new Set(describedKeys(schema))];

    expect(keys.length).toBeGreaterThan(100);
    expect(keys.filter((key) => !described.has(key))).toEqual([]);
  });
});
