import { readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import { insideOf, oddJson, oddText } from "../../test/support/odd-input.ts";
import { asFlatlineError } from "../base/errors.ts";
import type { Config } from "./config.ts";
import { describeConfig, renderConfig } from "./render.ts";
import { rootSchema } from "./schema/schema.ts";

const { folder, load } = useConfigFolder();

const testdata = fileURLToPath(new URL("testdata", import.meta.url));
const everyKey = readFileSync(`${testdata}/every-key.yaml`, "utf8").split(/^---$/m);

async function loadDocument(text: string): Promise<Config> {
  await cp(`${testdata}/secrets`, `${folder()}/secrets`, { recursive: true });
  return load(text, {
    FLATLINE_API_KEY: "hush-key",
    SLACK_WEBHOOK_URL: "https://slack.example/hush",
    HOOK_SECRET: "hush-hush-hush-hush",
    FLATLINE_TOKEN: "hush-token",
  });
}

describe("renderConfig", () => {
  it.each(everyKey)("shows secrets as ***, whatever they are of (document %#)", async (text) => {
    const shown = renderConfig(await loadDocument(text));

    expect(shown).not.toContain("hush");
    expect(shown).not.toContain("file-key");
  });

  it("is a configuration that means the same, where there are no secrets", async () => {
    const config = await load(`
source: { type: embedded, preload: [{ events: "a$$b.csv" }] }
defaults: { labels: { price: "$$5 and $\${NAME} or $$$$" }, alert: { for: 90m } }
organizations:
  - { slug: "123", schedule: "@hourly", reviewQueue: { enabled: true } }
  - { slug: "yes", labels: { note: "a: b # c" } }
alerting: { fleet: false }
receivers: [{ name: console, type: log, rateLimit: 30/m, match: { slug: "*" } }]
silences: [{ slug: "1*", schedule: "0 2 * * 6", duration: 2h }]
`);

    const shown = renderConfig(config);
    const again = await load(shown);

    expect(describeConfig(again)).toEqual(describeConfig(config));
    expect(again.organizations[0]?.labels).toEqual({ price: "$5 and ${NAME} or $$" });
    expect(shown).toContain("price: $5 and $${NAME} or $$$$\n");
  });
});

it("renderConfig shows what nobody sees, and means the same", async () => {
  const slug = 'ac\u202e"me\\';
  const config = await load(
    JSON.stringify({ source: { type: "embedded" }, organizations: [{ slug, labels: { a: "\u200f" } }] }),
  );

  const shown = renderConfig(config);

  expect(shown).toContain(String.raw`slug: "ac\u202e\"me\\"`);
  expect(shown).toMatch(/^[ -~\n]*$/);
  expect(describeConfig(await load(shown))).toEqual(describeConfig(config));
});

it("a configuration is refused in words, or means the same when it is shown and read again", async () => {
  const json = oddJson(everyKey.map((text): unknown => parse(text))).map((value) => JSON.stringify(value) ?? "");
  await fc.assert(
    fc.asyncProperty(fc.oneof(json, oddText(everyKey)), async (text) => {
      const config = await loadDocument(text).catch((error: unknown) => asFlatlineError(error));
      if (config instanceof Error) {
        expect(config.code).toBe("invalid_config");
        expect(insideOf(config.message)).toEqual([]);
        return;
      }
      const shown = renderConfig(config);
      // A secret is shown as ***, which cannot be read again.
      if (!shown.includes("***")) expect(describeConfig(await load(shown))).toEqual(describeConfig(config));
    }),
    { numRuns: 30 },
  );
});

// Whether a key has an effect is not tested here (for those of `defaults`: src/daemon/targets.test.ts).
describe("every key of the schema", () => {
  const defaultOf = schemaKeys();

  it("is in every-key.yaml, and no other", () => {
    const written = everyKey.flatMap((text) => [...writtenIn(text, defaultOf).keys]);

    expect(new Set(written)).toEqual(new Set(defaultOf.keys()));
  });

  it.each(everyKey)("comes back from `config show` with its value (document %#)", async (text) => {
    const { document, values } = writtenIn(text, defaultOf);
    const shown = describeConfig(await loadDocument(text));

    for (const { key, place, value } of values) {
      expect.soft(shownAs(value, at(shown, shownPlace(place))), `${place.join(".")} is shown`).toEqual(value);
      if (!key.endsWith("type"))
        expect.soft(value, `${place.join(".")} says something`).not.toEqual(unsaid(key, place));
    }

    /** Returns the effective value where this one is not written. */
    function unsaid(key: string, [first, , third, ...rest]: Place): unknown {
      const below = first === "organizations" ? [third ?? "", ...rest] : third === "organization" ? rest : null;
      const fromDefaults = below === null ? undefined : at(document["defaults"], below);
      return fromDefaults ?? defaultOf.get(key);
    }
  });
});

type Place = readonly (string | number)[];

interface Written {
  readonly document: Readonly<Record<string, unknown>>;
  readonly keys: ReadonlySet<string>;
  readonly values: readonly { readonly key: string; readonly place: Place; readonly value: unknown }[];
}

/** The keys of the schema as paths, each with its default: `receivers[](slack).url`, `defaults.labels.*`. */
function schemaKeys(): ReadonlyMap<string, unknown> {
  const all = new Map<string, unknown>();
  const walk = (node: z.core.JSONSchema.BaseSchema, path: string): void => {
    for (const one of [...(node.anyOf ?? []), ...(node.oneOf ?? [])]) walk(one, path);
    if (node.items !== undefined) walk(node.items as typeof node, `${path}[]`);
    if (typeof node.additionalProperties === "object") {
      all.set(`${path}.*`, undefined);
      walk(node.additionalProperties, `${path}.*`);
    }
    const { type } = (node.properties ?? {}) as Record<string, typeof node>;
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      const key = keyBelow(path, type?.const, name);
      all.set(key, (child as typeof node).default);
      walk(child as typeof node, key);
    }
  };
  walk(z.toJSONSchema(rootSchema, { io: "input" }), "");
  return new Map([...all].map(([key, value]) => [withoutType(key, all), value]));
}

function keyBelow(path: string, type: unknown, name: string): string {
  const object = typeof type === "string" ? `${path}(${type})` : path;
  return object === "" ? name : `${object}.${name}`;
}

/** Returns a key without its type when receivers or sources of every type have it. */
function withoutType(key: string, all: ReadonlyMap<string, unknown>): string {
  const [, list = "", , rest = ""] = /^(.*)\((\w+)\)(.*)$/.exec(key) ?? [];
  const isOfType = (other: string): boolean => other.startsWith(`${list}(`);
  const types = new Set([...all.keys()].filter(isOfType).map((other) => /\((\w+)\)/.exec(other)?.[1]));
  return list !== "" && [...types].every((type) => all.has(`${list}(${type})${rest}`)) ? `${list}${rest}` : key;
}

function writtenIn(text: string, known: ReadonlyMap<string, unknown>): Written {
  const keys = new Set<string>();
  const values: Written["values"][number][] = [];
  const walk = (value: unknown, key: string, place: Place): void => {
    if (Array.isArray(value)) {
      if (value.every((one) => typeof one !== "object")) values.push({ key, place, value });
      else for (const [index, one] of value.entries()) walk(one, `${key}[]`, [...place, index]);
    } else if (typeof value !== "object" || value === null) values.push({ key, place, value });
    else
      for (const [name, child] of Object.entries(value)) {
        const typed = keyBelow(key, "type" in value ? value.type : undefined, name);
        const plain = keyBelow(key, undefined, name);
        const below = known.has(`${key}.*`) ? `${key}.*` : known.has(plain) ? plain : typed;
        keys.add(below);
        walk(child, below, [...place, name]);
      }
  };
  const document = parse(text) as Record<string, unknown>;
  walk(document, "", []);
  return { document, keys, values };
}

/** Returns the place where a value is shown: `defaults` are shown in an organization without settings. */
function shownPlace(place: Place): Place {
  return place[0] === "defaults" ? ["organizations", 0, ...place.slice(1)] : place;
}

function at(value: unknown, place: Place): unknown {
  return place.reduce<unknown>((found, name) => (found as Record<string, unknown> | undefined)?.[name], value);
}

/** Returns `written` if it is only shown in another form, else what is shown. */
function shownAs(written: unknown, shown: unknown): unknown {
  const parts = typeof shown === "object" && shown !== null ? Object.values(shown) : [shown];
  const isSecret = parts.length > 0 && parts.every((part) => part === "***");
  const isPath = typeof written === "string" && shown === resolve(folder(), written);
  const isSlugs = Array.isArray(written) && Array.isArray(shown) && shown.every(isObject);
  if (isSlugs) return shown.map(({ slug }) => slug).filter((slug) => written.includes(slug));
  return isSecret || isPath || (isObject(shown) && shown["slug"] === written) ? written : shown;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
