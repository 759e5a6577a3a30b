import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { oddJson } from "../../test/support/odd-input.ts";
import { healthcheckResultSchema, spikeRequestSchema } from "./healthcheck-schemas.ts";
import { issueMessages, readWith } from "./issues.ts";

function issuesOf(body: unknown): string[] {
  const read = readWith(spikeRequestSchema, body);
  return read.kind === "data" ? [] : issueMessages(read.problems);
}

describe("spikeRequestSchema", () => {
  it("fills in the API's defaults and ignores unknown keys", () => {
    expect(spikeRequestSchema.parse({ slug: "acme", failMultiplier: 6.5, else: 1 })).toEqual({
      slug: "acme",
      windowHours: 24,
      baselineDays: 7,
      warnMultiplier: 2,
      failMultiplier: 6.5,
      minSpikeCount: 10,
    });
  });

  it.each([
    { rule: "a slug is needed", body: {}, fields: ["slug"] },
    { rule: "a slug has a character", body: { slug: "" }, fields: ["slug"] },
    { rule: "a number in a string is not coerced", body: { slug: "a", windowHours: "24" }, fields: ["windowHours"] },
    { rule: "null is not left out", body: { slug: "a", baselineDays: null }, fields: ["baselineDays"] },
    { rule: "hours are whole", body: { slug: "a", windowHours: 1.5 }, fields: ["windowHours"] },
    { rule: "one mistake is one issue", body: { slug: "a", windowHours: -1.5 }, fields: ["windowHours"] },
    { rule: "integers are safe", body: { slug: "a", minSpikeCount: 2 ** 53 }, fields: ["minSpikeCount"] },
    { rule: "multipliers are above 0", body: { slug: "a", warnMultiplier: 0 }, fields: ["warnMultiplier"] },
    { rule: "multipliers are finite", body: { slug: "a", failMultiplier: Infinity }, fields: ["failMultiplier"] },
    {
      rule: "every problem has its issue",
      body: { slug: 1, windowHours: 0, baselineDays: true, warnMultiplier: "2", failMultiplier: -1, minSpikeCount: 0 },
      fields: ["slug", "windowHours", "baselineDays", "warnMultiplier", "failMultiplier", "minSpikeCount"],
    },
  ])("$rule", ({ body, fields }) => {
    expect(issuesOf(body).map((message) => message.split(":")[0])).toEqual(fields);
  });
});

describe("healthcheckResultSchema", () => {
  const valid = {
    id: "dead-asset-spike",
    title: "Spike",
    category: "assets",
    generatedAt: "2026-01-01T00:00:00.000Z",
    scope: { slug: "acme" },
    ok: true,
    severity: "ok",
    observed: { anything: 1, text: "a\nb", flag: true, none: null },
    threshold: {},
    findings: [],
    suggestedAction: null,
    appUrl: null,
  };

  it.each(Object.keys(valid))("needs the field %s", (field) => {
    const { [field]: _left, ...rest } = valid as Record<string, unknown>;

    expect(healthcheckResultSchema.safeParse(rest).success).toBe(false);
  });

  it.each([
    { rule: "a category is one of the six", more: { category: "weather" } },
    { rule: "a severity is one of the three", more: { severity: "unknown" } },
    { rule: "observed is flat", more: { observed: { a: { b: 1 } } } },
    { rule: "a list is no map", more: { threshold: [1] } },
    { rule: "ok is a boolean", more: { ok: "true" } },
    { rule: "a finding has four fields", more: { findings: [{ kind: "k", ref: "r", severity: "warn" }] } },
  ])("$rule", ({ more }) => {
    expect(healthcheckResultSchema.safeParse({ ...valid, ...more }).success).toBe(false);
  });

  it("takes what the API describes, and nothing else", () => {
    const finding = { kind: "dead-asset-spike", ref: "acme", message: "90 dead, 3 expected", severity: "fail" };
    const spike = { ...valid, ok: false, severity: "fail", findings: [finding, { ...finding, ref: null }] };

    fc.assert(
      fc.property(oddJson([valid, spike]), (value) => {
        expect(healthcheckResultSchema.safeParse(value).success).toBe(isDescribed(value));
      }),
      { numRuns: 500 },
    );
  });
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === "string";
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isSeverity = (value: unknown): boolean => ["ok", "warn", "fail"].some((one) => one === value);
const categories = ["detection", "reviewing", "blocklisting", "takedowns", "assets", "organization"];

function isMap(value: unknown): boolean {
  const isFlat = (one: unknown): boolean => isTextOrNull(one) || typeof one === "boolean" || Number.isFinite(one);
  // Zod drops `__proto__`, whatever its value is.
  return isObject(value) && Object.entries(value).every(([key, one]) => key === "__proto__" || isFlat(one));
}

/** The twelve fields with the API's types, plainly. */
function isDescribed(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { id, title, category, generatedAt, scope, ok, severity, observed, threshold, findings } = value;
  return (
    [id, title, generatedAt].every(isText) &&
    categories.some((one) => one === category) &&
    isObject(scope) &&
    isTextOrNull(scope["slug"]) &&
    typeof ok === "boolean" &&
    isSeverity(severity) &&
    isMap(observed) &&
    isMap(threshold) &&
    Array.isArray(findings) &&
    findings.every(
      (one) =>
        isObject(one) &&
        isText(one["kind"]) &&
        isText(one["message"]) &&
        isTextOrNull(one["ref"]) &&
        isSeverity(one["severity"]),
    ) &&
    isTextOrNull(value["suggestedAction"]) &&
    isTextOrNull(value["appUrl"])
  );
}
