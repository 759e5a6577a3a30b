import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { lookAnswers } from "../contract/second-opinion.ts";
import { classifyPage, isSinkhole, titleOf } from "./classify.ts";

const fixtureSchema = z.strictObject({
  name: z.string(),
  truth: z.enum(lookAnswers),
  found: z.enum(lookAnswers).optional(),
  status: z.number().default(200),
  headers: z.record(z.string(), z.string()).default({}),
  urls: z.array(z.url()).default(["https://a.example/"]),
  body: z.string(),
});
const text = readFileSync(new URL("testdata/pages.yaml", import.meta.url), "utf8");
const pages = [...parseAllDocuments(text)].map((document) => fixtureSchema.parse(document.toJS()));

describe("classifyPage", () => {
  it.each(pages)("takes $name for $truth", ({ truth, found = truth, ...page }) => {
    expect(classifyPage(page)).toBe(found);
  });

  it("is wrong about few pages, and of them takes one that lives for dead", () => {
    const shown = lookAnswers.filter((answer) => answer !== "gone");
    const rows = shown.map((truth) => {
      const found = pages.filter((page) => page.truth === truth).map(classifyPage);
      return [truth, ...shown.map((answer) => found.filter((one) => one === answer).length)];
    });

    expect(
      [["", ...shown], ...rows].map((row) =>
        row
          .map((cell) => String(cell).padEnd(9))
          .join(" ")
          .trimEnd(),
      ),
    ).toStrictEqual([
      "          answers   challenge parked    undecided",
      "answers   14        0         1         0",
      "challenge 0         20        0         1",
      "parked    1         0         19        0",
      "undecided 0         0         0         8",
    ]);
  });

  it("finds a mark whatever its case, and at the end of what was read", () => {
    const body = `${"x".repeat(65_000)}IMG.SedoParking.com`;

    expect(classifyPage({ status: 200, headers: {}, body, urls: ["https://a.example/"] })).toBe("parked");
  });

  it("does not take a host for a service that its name ends with", () => {
    const urls = ["https://notsedo.com/", "https://sedo.com.a.example/"];

    expect(classifyPage({ status: 200, headers: {}, body: "", urls })).toBe("answers");
  });
});

describe("titleOf", () => {
  it.each([
    ["<title>a\n\tb\u202e</title>", "a b"],
    ['<TITLE lang="en">x</TITLE>', "x"],
    ["<titles>x</titles>", null],
    ["<title> </title>", null],
    ["<title>", null],
    ["", null],
    [`<title>${"é".repeat(200)}`, `${"é".repeat(119)}…`],
  ])("of %j is %j", (body, title) => {
    expect(titleOf(body)).toBe(title);
  });

  it("takes a page of open tags", () => {
    expect(titleOf("<title ".repeat(9_000))).toBeNull();
  });
});

describe("isSinkhole", () => {
  it("knows addresses that were published", () => {
    expect(["184.105.192.2", "199.2.137.77", "184.105.192.3"].map(isSinkhole)).toStrictEqual([true, true, false]);
  });
});
