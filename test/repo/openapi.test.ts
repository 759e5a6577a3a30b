import { readFileSync } from "node:fs";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";

import { ownFilterNames } from "../../src/contract/reports.ts";
import { ask, useWebs } from "../support/web-harness.ts";
import { reportParameters } from "../../src/service/api/openapi.ts";

async function problemsOf(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

const document = readFileSync("docs/openapi.json", "utf8");

describe("docs/openapi.json", () => {
  it("passes the linter's strict rules", async () => {
    expect(await problemsOf(document)).toEqual([]);
  });

  it("marks exactly the filters that are extensions of flatline", () => {
    const marked = reportParameters().filter((parameter) => parameter["x-flatline-own"] === true);

    expect(marked.map(({ name }) => name)).toEqual([...ownFilterNames]);
    expect(marked.every(({ description }) => String(description).includes("An extension of flatline"))).toBe(true);
  });

  it("describes the page size as the schema reads it", () => {
    expect(reportParameters().find(({ name }) => name === "limit")?.["schema"]).toMatchObject({
      minimum: 1,
      maximum: 100,
    });
  });
});

describe("GET /api/v1/openapi.json", () => {
  const startWeb = useWebs();

  it("describes every route of /api/v1 with who may ask it, and passes the linter's strict rules", async () => {
    const web = await startWeb();
    const answer = await ask(web, "GET /api/v1/openapi.json");
    const text = await answer.text();
    const { paths } = JSON.parse(text) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly description: string }>>>>;
    };

    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { description }]) => {
        const access = /(\w+)`?\.$/.exec(description)?.[1];
        return `\`${method.toUpperCase()} /api/v1${path}\` (${access})`;
      }),
    );
    const listed = readFileSync("docs/http.md", "utf8").matchAll(/^- (`[A-Z]+ \/api\/v1\/[^`]*` \(\w+\))/gm);
    expect(described.toSorted()).toEqual([...listed].map(([, route = ""]) => route).toSorted());
    expect(await problemsOf(text)).toEqual([]);
  });
});
