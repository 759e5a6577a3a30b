import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { createJsonSchema, renderJsonSchema, type JsonSchema } from "./json-schema.ts";

const schema = z.fromJSONSchema(createJsonSchema());
const read = (path: string): readonly unknown[] =>
  parseAllDocuments(readFileSync(new URL(path, import.meta.url), "utf8")).map((document) => document.toJS() as unknown);

describe("the JSON Schema", () => {
  it.each(["../testdata/every-key.yaml", "../../../config.example.yaml"])("accepts %s as it is written", (path) => {
    for (const document of read(path)) expect(schema.safeParse(document)).toMatchObject({ success: true });
  });

  it.each([
    ["an unknown key", { recievers: [] }],
    ["a number out of bounds", { source: { type: "embedded", concurrency: 0 } }],
    ["a quoted number", { source: { type: "embedded", concurrency: "16" } }],
    ["a duration that is none", { alerting: { groupWait: "10 seconds" } }],
    ["an unknown type of receiver", { receivers: [{ name: "a", type: "carrier-pigeon" }] }],
    ["an organization without a slug", { organizations: [{ timezone: "UTC" }] }],
  ])("refuses %s", (_rule, more) => {
    const config = { source: { type: "embedded" }, organizations: ["acme"], ...more };

    expect(schema.safeParse(config)).toMatchObject({ success: false });
  });

  it("accepts a reference wherever a form is bound", () => {
    const config = {
      source: { baseUrl: "${BASE_URL}", apiKey: "${KEY}", timeout: "${TIMEOUT:-5s}", retries: "${file:/run/retries}" },
      organizations: ["acme"],
      server: { publicRead: "${READ:-true}" },
      log: { level: "${LEVEL:-info}" },
    };

    expect(schema.safeParse(config)).toMatchObject({ success: true });
  });

  it("offers the built-in values in defaults, not in organizations, where they would override those", () => {
    const { properties } = createJsonSchema() as { properties: Record<string, object> };

    expect(JSON.stringify(properties["defaults"])).toContain('"default":"UTC"');
    expect(JSON.stringify(properties["organizations"])).not.toContain('"default"');
  });

  it("describes every key", () => {
    const missing: string[] = [];
    const look = (node: unknown, path: string): void => {
      if (typeof node !== "object" || node === null) return;
      for (const [keyword, child] of Object.entries(node)) {
        if (keyword === "properties") {
          for (const [key, property] of Object.entries(child as Record<string, object>)) {
            if (!("description" in property)) missing.push(`${path}.${key}`);
          }
        }
        look(child, `${path}.${keyword}`);
      }
    };

    look(createJsonSchema(), "");

    expect(missing).toEqual([]);
  });

  it.each([
    ["a duration with both bounds", "defaults.eventFlow.maxSilence", "From 1m to 365d."],
    ["a duration that may be 0", "defaults.alert.for", "At most 365d."],
    ["a number above a bound", "defaults.eventFlow.maxCoverageDrop", "Above 0, at most 1."],
    ["a number above a bound only", "defaults.thresholds.failMultiplier", "Above 0."],
    ["a share", "defaults.alert.minBaselineCoverage", "From 0 to 1."],
    ["a whole number with both bounds", "defaults.alert.unknownAfter", "From 1 to 10000."],
    ["a whole number with the lower bound only", "defaults.thresholds.minSpikeCount", "At least 1."],
    ["a list", "defaults.sentinel.assets", "At most 1000 items."],
  ])("states the limits of %s", (_what, path, limits) => {
    const found = path
      .split(".")
      .reduce<JsonSchema>(
        (node, key) => (node["properties"] as Record<string, JsonSchema>)[key] ?? {},
        createJsonSchema(),
      );

    expect(found["description"]).toMatch(new RegExp(` ${limits.replaceAll(".", "\\.")}$`));
  });

  it("is the committed one; npm run generate makes it anew", () => {
    expect(readFileSync(new URL("../../../flatline.schema.json", import.meta.url), "utf8")).toBe(renderJsonSchema());
  });
});
