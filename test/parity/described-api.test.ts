import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { findingSeverities, healthcheckCategories, healthcheckSeverities } from "../../src/contract/healthcheck.ts";
import { assetTypes } from "../../src/contract/asset-types.ts";
import { actors, proposalDecisions, reportSources, reportStatuses } from "../../src/contract/report-values.ts";
import {
  approveLabels,
  rejectReasons,
  reviewDecisions,
  targetedLabels,
  watchlistReasons,
} from "../../src/contract/review.ts";
import { openApiDocument } from "../../src/service/api/openapi.ts";
import { sampleHealthcheck, sampleSpikeRequest } from "../support/api-samples.ts";
import { openClientBench, type ClientBench } from "../support/client-bench.ts";
import { describedApi as described, type DescribedApi } from "../support/described-api.ts";

const components = (
  openApiDocument("1.2.3") as { components: { schemas: Record<string, { properties: Record<string, unknown> }> } }
).components.schemas;

/** The project's enumerations under the description's names. */
const lists: DescribedApi["lists"] = {
  categories: healthcheckCategories,
  severities: healthcheckSeverities,
  findingSeverities,
  statuses: reportStatuses,
  actors,
  proposalDecisions,
  sources: reportSources,
  assetTypes,
  reviewDecisions,
  labels: approveLabels,
  labelsWithBrand: targetedLabels,
  rejectReasons,
  watchlistReasons,
};

describe("an enumeration", () => {
  it.each(Object.entries(lists))("of %s is the described one, no value more or less", (name, values) => {
    expect(values).toEqual(new Map<string, unknown>(Object.entries(described.lists)).get(name));
  });
});

/** Values that are of a type, and values that are not. */
interface Samples {
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const types: Readonly<Record<string, Samples>> = {
  string: { valid: ["", "text", 'a\n"b"'], invalid: [null, 1, true, [], {}] },
  "string or null": { valid: [null, "", "text"], invalid: [1, true, [], {}] },
  boolean: { valid: [true, false], invalid: [null, 1, "true"] },
  map: {
    valid: [{}, { number: 0.5, text: "", flag: false, none: null, "": 1, "a b": -1 }],
    invalid: [null, [], "text", { nested: {} }, { list: [] }],
  },
  scope: { valid: [{ slug: "acme" }, { slug: null }], invalid: [null, "acme", {}, { slug: 1 }] },
  findings: { valid: [[]], invalid: [null, {}, ["text"], [null]] },
};

function samplesOf(type: string): Samples {
  const values = new Map(Object.entries(described.lists)).get(type);
  return values === undefined ? (types[type] ?? fail(type)) : { valid: values, invalid: ["other", "", null, 1] };
}

function fail(type: string): never {
  throw new Error(`the description has a type that the test does not know: ${type}`);
}

describe("the client", () => {
  let bench: ClientBench;

  beforeEach(async () => {
    bench = await openClientBench();
  });

  afterEach(async () => {
    await bench.close();
  });

  async function isTaken(answer: object): Promise<boolean> {
    bench.upstream.script({ kind: "answer", body: answer });
    return bench.client.deadAssetSpike(sampleSpikeRequest()).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: "api_invalid_response" });
        return false;
      },
    );
  }

  it.each(Object.entries(described.healthcheckResult))(
    "takes every described value of a result's %s, and no other type",
    async (field, type) => {
      const { valid, invalid } = samplesOf(type);

      for (const value of valid)
        expect([value, await isTaken({ ...sampleHealthcheck(), [field]: value })]).toEqual([value, true]);
      for (const value of invalid)
        expect([value, await isTaken({ ...sampleHealthcheck(), [field]: value })]).toEqual([value, false]);
      expect(await isTaken(sampleHealthcheck({ [field]: undefined }))).toBe(false);
    },
  );

  const finding = { kind: "spike", ref: "acme", message: "12 deaths", severity: "warn" };

  it.each(Object.entries(described.finding))(
    "takes every described value of a finding's %s, and no other type",
    async (field, type) => {
      const { valid, invalid } = samplesOf(type);
      const withFinding = (value: unknown): object => sampleHealthcheck({ findings: [{ ...finding, [field]: value }] });

      for (const value of valid) expect([value, await isTaken(withFinding(value))]).toEqual([value, true]);
      for (const value of invalid) expect([value, await isTaken(withFinding(value))]).toEqual([value, false]);
      expect(await isTaken(withFinding(undefined))).toBe(false);
    },
  );
});

describe("what flatline serves", () => {
  it("is a result with exactly the described fields", () => {
    expect(Object.keys(components["HealthcheckResult"]?.properties ?? {}).sort()).toEqual(
      Object.keys(described.healthcheckResult).sort(),
    );
  });

  it("has exactly the described categories and severities, also of findings", () => {
    expect(components["HealthcheckResult"]?.properties).toMatchObject({
      category: { enum: described.lists.categories },
      severity: { enum: described.lists.severities },
      findings: { items: { properties: { severity: { enum: described.lists.findingSeverities } } } },
    });
  });
});
