import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";

import { reasonMeanings } from "./reasons.ts";

describe("reasons", () => {
  it("are in docs/alerts.md with the same meaning, and no others are", async () => {
    const text = await readFile(new URL("../../../docs/alerts.md", import.meta.url), "utf8");
    const section = text.slice(text.indexOf("## Reasons"));

    const rows = [...section.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, name, meaning]) => [name, meaning]);

    expect(Object.fromEntries(rows)).toEqual(reasonMeanings);
  });
});
