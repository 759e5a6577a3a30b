import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { insideOf, oddJson } from "../../test/support/odd-input.ts";
import { readList } from "./list.ts";

const read = (value: unknown, maxOrganizations = 20_000) =>
  readList(typeof value === "string" ? value : JSON.stringify(value), maxOrganizations);

const plainSlug = "must be of letters, digits, dots, underscores and hyphens, and begin with a letter or digit";
const thresholds = { minSpikeCount: 3 };
const labels = { team: "trust" };
const whole = { slug: "acme", labels, timezone: "Europe/Berlin", schedule: "0 * * * *", thresholds };

describe("readList", () => {
  it.each([
    ["slugs", ["globex", "acme"], [{ slug: "acme" }, { slug: "globex" }]],
    ["objects with what a list may say", [whole, { slug: "globex" }], [whole, { slug: "globex" }]],
    [
      "groups of Prometheus' HTTP service discovery, without its own labels",
      [{ targets: ["acme", "globex"], labels: { region: "eu", __meta_datacenter: "x" } }, { targets: ["initech"] }],
      [{ slug: "acme", labels: { region: "eu" } }, { slug: "globex", labels: { region: "eu" } }, { slug: "initech" }],
    ],
    [
      "the first of two entries of a slug",
      [{ slug: "acme", labels: { a: "1" } }, "acme"],
      [{ slug: "acme", labels: { a: "1" } }],
    ],
    [
      "what looks like a reference as the text that it is",
      [{ slug: "acme", labels: { home: "${HOME}" } }],
      [{ slug: "acme", labels: { home: "${HOME}" } }],
    ],
    ["a slug with all that it may hold", ["0A.b_c-D"], [{ slug: "0A.b_c-D" }]],
    ["a slug that is as long as may be", ["a".repeat(128)], [{ slug: "a".repeat(128) }]],
    ["nothing", [], []],
  ])("takes %s", (_name, value, organizations) => {
    expect(read(value)).toEqual(organizations);
  });

  it.each([
    ["half a body", '["acme", "glo', "is no JSON array"],
    ["a page", "<html>", "is no JSON array"],
    ["an object", { organizations: ["acme"] }, "is no JSON array"],
    ["null", "null", "is no JSON array"],
    ["a number", ["acme", 7], "has a bad entry 2: must be an object, not a number"],
    ["an empty slug", [""], "has a bad entry 1: slug: must not be empty"],
    ["a slug with a line end", ["a\nb"], "has a bad entry 1: slug: must not hold control characters"],
    ["a slug that is too long", ["a".repeat(129)], "has a bad entry 1: slug: must be at most 128 characters long"],
    ...["*", "eu-*", "-acme", ".acme", "a/b", "a b", "a\\b", "${HOME}", "müller"].map(
      (slug): [string, unknown, string] => [
        `the slug ${slug}`,
        ["acme", slug],
        `has a bad entry 2: slug: ${plainSlug}`,
      ],
    ),
    ["a target that is no slug", [{ targets: ["10.0.0.1:9090"] }], `has a bad entry 1: targets[0]: ${plainSlug}`],
    ["no slug", [{ labels: {} }], "has a bad entry 1: slug: is required"],
    ["receivers", [{ slug: "acme", receivers: [] }], "has a bad entry 1: receivers: unknown key"],
    ["a key", [{ slug: "acme", apiKey: "x" }], "has a bad entry 1: apiKey: unknown key"],
    ["a gate", [{ slug: "acme", gate: { whenUnknown: "allow" } }], "has a bad entry 1: gate: unknown key"],
    ["a timezone without its region", [{ slug: "a", timezone: "Berlin" }], /did you mean "Europe\/Berlin"\?/],
    ["an unknown timezone", [{ slug: "a", timezone: "Mars" }], /timezone: "Mars" is not a known timezone/],
    ["a schedule that never comes", [{ slug: "a", schedule: "0 0 31 2 *" }], /schedule: .* never comes/],
    [
      "a threshold of a wrong type",
      [{ slug: "a", thresholds: { windowHours: "24" } }],
      /thresholds\.windowHours: must be/,
    ],
    ["a label that is flatline's own", [{ slug: "a", labels: { severity: "x" } }], /labels\.severity: this label is/],
    ["a label of another type", [{ targets: ["a"], labels: { x: 1 } }], /labels\.x: must be/],
    ["a target of another type", [{ targets: ["a", {}] }], /targets\[1\]: must be/],
  ])("refuses %s", (_name, value, reason) => {
    expect(() => read(value)).toThrow(typeof reason === "string" ? `the list ${reason}` : reason);
  });

  it("refuses more organizations than it may have", () => {
    expect(read(["a", "b", "b"], 2)).toHaveLength(2);
    expect(() => read(["a", "b", "c"], 2)).toThrow("the list has more than 2 organizations (maxOrganizations)");
  });
});

it("readList takes what it reads the same again, or says in a few words why not, whatever the list is", () => {
  const samples = [
    ["acme", "globex"],
    [{ slug: "acme", labels: { team: "trust" }, timezone: "Europe/Berlin", thresholds: { failMultiplier: 6.5 } }, "b"],
    [{ targets: ["acme", "globex"], labels: { team: "trust", __meta_source: "x" } }, { targets: [] }],
  ];
  fc.assert(
    fc.property(oddJson(samples), (value) => {
      let found: ReturnType<typeof read>;
      try {
        found = read(value, 100);
      } catch (error) {
        const { message } = error as Error;
        expect(message.length).toBeLessThan(400);
        expect(insideOf(message)).toEqual([]);
        return;
      }
      expect(read(found, 100)).toEqual(found);
      for (const { slug } of found) expect(slug).toMatch(/^[\w.-]{1,128}$/);
    }),
  );
});
