import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { refreshConfigurationDocs } from "../../scripts/configuration-docs.ts";

describe("docs/configuration.md", () => {
  it("has the reference that the schema makes; npm run generate makes it anew", async () => {
    const markdown = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

    expect(await refreshConfigurationDocs(markdown)).toBe(markdown);
  });
});
