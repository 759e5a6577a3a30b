import { describe, expect, it } from "vitest";

import { apiErrorStatuses } from "../../src/contract/error-body.ts";
import { findingSeverities, healthcheckCategories, healthcheckSeverities } from "../../src/contract/healthcheck.ts";
import { spikeRequestSchema } from "../../src/contract/healthcheck-schemas.ts";
import { assetTypes } from "../../src/contract/asset-types.ts";
import {
  actors,
  proposalDecisions,
  reportSources,
  reportStatuses,
  type OwnFilterName,
} from "../../src/contract/reports.ts";
import {
  approveLabels,
  longestNote,
  rejectReasons,
  reviewDecisions,
  targetedLabels,
  watchlistReasons,
} from "../../src/contract/review.ts";
import { reportParameters } from "../../src/service/api/openapi.ts";
import { openApiDocument } from "../../src/service/api/openapi.ts";
import { reviewBudget } from "../../src/service/review-rules.ts";
import { sampleHealthcheck, sampleSpikeRequest } from "../support/far-side/api-samples.ts";
import { clientBench } from "../support/client-bench.ts";
import {
  describedApi as described,
  type DescribedApi,
  type DescribedThreshold,
} from "../support/far-side/described-api.ts";

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Schema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly anyOf: readonly Schema[];
}

/** What flatline says of its own service, made of the schemas that requests and answers are checked by. */
const served = openApiDocument() as {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: { readonly apiKey: { readonly name: string } };
    readonly schemas: Readonly<
      Record<"SpikeRequest" | "HealthcheckResult" | "ReviewRequest" | "ReviewResult" | "Error", Schema>
    >;
  };
};
const { schemas } = served.components;

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
  const bench = clientBench();

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

/** Values of a field of the healthcheck's request that the service takes, and some that it does not. */
const requestSamples: Readonly<Record<DescribedThreshold["kind"], Samples>> = {
  text: { valid: ["a", "acme"], invalid: ["", 1, null] },
  integer: { valid: [1, 24, 1_000_000], invalid: [0, -1, 1.5, "24", null, true] },
  number: { valid: [0.001, 1, 4.5, 1e9], invalid: [0, -1, "2", null, true] },
};

describe("the service takes the described request of the healthcheck", () => {
  it("with exactly its fields and defaults", () => {
    const defaults = Object.entries(described.spikeRequest).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value]],
    );

    expect(Object.keys(schemas.SpikeRequest.properties)).toEqual(Object.keys(described.spikeRequest));
    expect(spikeRequestSchema.parse({ slug: "acme" })).toEqual({ slug: "acme", ...Object.fromEntries(defaults) });
  });

  it.each(Object.entries(described.spikeRequest))(
    "with every described value of %s, and no other",
    (field, { kind }) => {
      const isTaken = (value: unknown): boolean =>
        spikeRequestSchema.safeParse({ slug: "acme", [field]: value }).success;
      const { valid, invalid } = requestSamples[kind];

      expect(valid.filter((value) => !isTaken(value))).toEqual([]);
      expect(invalid.filter(isTaken)).toEqual([]);
    },
  );
});

const ownFilters = {
  status: "statuses",
  decision: "proposalDecisions",
  assetType: "assetTypes",
  source: "sources",
  reportedBy: "actors",
  reviewedBy: "actors",
  country: "two characters",
} as const satisfies Record<OwnFilterName, string>;

describe("what flatline serves", () => {
  it("is the described version of the interface, under the described header of the key", () => {
    expect(served.info.version).toBe(described.version);
    expect(served.components.securitySchemes.apiKey.name).toBe(described.keyHeader);
  });

  it("are exactly the described operations, with the described statuses", () => {
    const operations = Object.entries(served.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => [
        operationId,
        { method: method.toUpperCase(), path, statuses: Object.keys(responses).map(Number) },
      ]),
    );

    expect(Object.fromEntries(operations)).toEqual(described.operations);
  });

  it("are errors with the described body and codes", () => {
    expect(apiErrorStatuses).toMatchObject(described.errorCodes);
    expect(schemas.Error).toMatchObject({
      properties: { message: {}, code: {}, issues: { items: { properties: { message: {} }, required: ["message"] } } },
      required: ["message", "code"],
    });
  });

  it("is a result with exactly the described fields", () => {
    expect(schemas.HealthcheckResult.required).toEqual(Object.keys(described.healthcheckResult));
    expect(Object.keys(schemas.HealthcheckResult.properties)).toEqual(Object.keys(described.healthcheckResult));
  });

  it("has exactly the described categories and severities, also of findings", () => {
    expect(schemas.HealthcheckResult.properties).toMatchObject({
      category: { enum: described.lists.categories },
      severity: { enum: described.lists.severities },
      findings: { items: { properties: { severity: { enum: described.lists.findingSeverities } } } },
    });
  });

  it("is a listing with the described parameters, and the filters without a name under flatline's own", () => {
    const names = reportParameters().flatMap(({ name, ...more }) => ("x-flatline-own" in more ? [] : [name]));

    expect(names).toEqual(described.listQuery);
    expect(Object.values(ownFilters).toSorted()).toEqual(described.namelessFilters.toSorted());
  });

  it.each(Object.entries(ownFilters))("has a filter %s that takes what the description says: %s", (name, list) => {
    const parameter = reportParameters().find((one) => one["name"] === name);
    const values = new Map<string, unknown>(Object.entries(described.lists)).get(list);

    expect(parameter?.["schema"]).toMatchObject(values === undefined ? { pattern: "^[A-Za-z]{2}$" } : { enum: values });
  });

  it("is a review with the described fields, limits and answer", () => {
    const fields = new Set(schemas.ReviewRequest.anyOf.flatMap(({ properties }) => Object.keys(properties)));

    expect([...fields].toSorted()).toEqual(described.reviewBody.toSorted());
    expect(schemas.ReviewResult.required).toEqual(described.reviewResult);
    expect([longestNote, reviewBudget.reviews]).toEqual([described.noteLength, described.reviewsPerDay]);
  });
});
