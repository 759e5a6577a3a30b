import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import { recipientsOf } from "../alerting/deliver/receiver.ts";
import { asFlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { ruleOf } from "./source.ts";
import { alertingSettings, checkTargets } from "./targets.ts";

const { load, write } = useConfigFolder();
const text = `
source: { type: remote, baseUrl: "https://security.example.com/api/v2", apiKey: some-long-key }
defaults:
  schedule: "*/7 * * * *"
  alert: { for: 5m, unknownAfter: 4 }
  healthchecks:
    - { path: reviewing/backlog, schedule: "0 * * * *", parameters: { warnThreshold: 50 } }
    - { path: takedowns/registrar/stuck, alert: { for: 1h } }
organizations:
  - acme
  - slug: globex
    timezone: Europe/Berlin
    alert: { unknownAfter: 9 }
    healthchecks:
      - { path: reviewing/backlog, parameters: { region: eu } }
      - { path: takedowns/registrar/stuck, enabled: false }
      - { path: constructor }
`;

it("has the healthchecks of defaults and of the organization, whose own replace those of the same path", async () => {
  const targets = checkTargets(await load(text));
  const of = (slug: string): unknown[] =>
    targets.flatMap((one) => (one.slug === slug && "path" in one ? [{ ...one, slug: undefined }] : []));
  const utc = { timezone: "UTC", jitterMs: 0 };
  const berlin = { timezone: "Europe/Berlin", jitterMs: 0 };

  expect(of("acme")).toEqual([
    {
      check: "reviewing-backlog",
      path: "reviewing/backlog",
      parameters: { warnThreshold: 50 },
      schedule: { ...utc, pattern: "0 * * * *" },
    },
    {
      check: "takedowns-registrar-stuck",
      path: "takedowns/registrar/stuck",
      parameters: {},
      schedule: { ...utc, pattern: "*/7 * * * *" },
    },
  ]);
  expect(of("globex")).toEqual([
    {
      check: "reviewing-backlog",
      path: "reviewing/backlog",
      parameters: { region: "eu" },
      schedule: { ...berlin, pattern: "*/7 * * * *" },
    },
    { check: "constructor", path: "constructor", parameters: {}, schedule: { ...berlin, pattern: "*/7 * * * *" } },
  ]);
});

it("alerts on a healthcheck as its organization says, but for what the healthcheck says", async () => {
  const settings = alertingSettings(await load(text));
  const policyOf = (check: string, slug: string): unknown => settings.targetOf(check, slug)?.policy;

  expect(policyOf("takedowns-registrar-stuck", "acme")).toMatchObject({ forMs: 3_600_000, unknownAfter: 4 });
  expect(policyOf("reviewing-backlog", "acme")).toMatchObject({ forMs: 300_000, unknownAfter: 4 });
  expect(policyOf("reviewing-backlog", "globex")).toMatchObject({ forMs: 300_000, unknownAfter: 9 });
  expect(policyOf("dead-asset-spike", "acme")).toMatchObject({ forMs: 300_000, unknownAfter: 4 });
  expect(policyOf("takedowns-registrar-stuck", "globex")).toBeUndefined();
});

it("notifies each recipient of a mail alone, and a receiver without recipients as a whole", async () => {
  const config = await load(`
source: { type: embedded }
organizations: [acme]
receivers:
  - { name: mail, type: email, url: "smtp://127.0.0.1", from: f@example.com, to: [a@example.com, b@example.com, a@example.com] }
  - { name: console, type: log }
`);

  expect(alertingSettings(config).receivers.map(recipientsOf)).toEqual([["a@example.com", "b@example.com"], [null]]);
});

it.each([
  ["appUrl: https://app.example.com/{slug}", "https://app.example.com/a%EF%BF%BD"],
  ["alerting: { externalUrl: https://flatline.example.com/x }", "https://flatline.example.com/x/o/a%EF%BF%BD"],
])("has an address of half a character, too, by %s", async (line, url) => {
  const config = await load(`source: { type: embedded }\norganizations: ["a\\uD800"]\n${line}\n`);

  expect(alertingSettings(config).targetOf("dead-asset-spike", "a\uD800")?.url).toBe(url);
});

it("counts an organization as it says itself, and one that is not configured as `defaults` say", async () => {
  const config = await load(`
source: { type: embedded }
defaults: { baseline: median, count: assets }
organizations: [acme, { slug: globex, baseline: mean, count: deaths }]
`);

  expect(["acme", "globex", "nobody"].map(ruleOf(config))).toEqual([
    { baseline: "median", count: "assets" },
    { baseline: "mean", count: "deaths" },
    { baseline: "median", count: "assets" },
  ]);
});

// A key that is only added to the schema would be accepted, shown and documented, and do nothing.
describe("every key of `defaults`", () => {
  const file = new URL("../config/testdata/every-key.yaml", import.meta.url);
  const documents = readFileSync(file, "utf8")
    .split(/^---$/m)
    .map((document) => parse(document) as { readonly source: object; readonly defaults?: object })
    .filter(({ defaults }) => defaults !== undefined)
    .map(({ source, defaults = {} }) => ({
      source,
      defaults,
      organizations: ["acme"],
      receivers: ["webhook", "slack"].map((name) => ({ name, type: "log" })),
    }));
  const keys = documents.flatMap((document) => keysIn(document.defaults).map((key) => ({ key, document })));

  /** Returns what the evaluation, the checks and alerting get of the only organization. */
  async function effectsOf(document: object) {
    await write("secrets/key", "some-long-key");
    const config: Config = await load(JSON.stringify(document));
    const settings = alertingSettings(config);
    return {
      targets: checkTargets(config),
      rule: ruleOf(config)("acme"),
      alerting: settings.targetOf("dead-asset-spike", "acme"),
      gate: settings.gateOf("acme"),
      // The daemon asks the configuration itself (daemon/alerting.ts).
      sample: config.organizations[0]?.sample,
    };
  }

  it.each(keys)("has an effect: $key", async ({ key, document }) => {
    const without = structuredClone(document);
    removeKey(without.defaults, key.split("."));

    const effects = await effectsOf(document);

    // Assets need a median: without it the configuration is refused.
    expect(await effectsOf(without).catch((error: unknown) => asFlatlineError(error).code)).not.toEqual(effects);
  });
});

/** Returns the paths of the values; a list is one. */
function keysIn(settings: object): string[] {
  return Object.entries(settings).flatMap(([key, value]: [string, unknown]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? keysIn(value).map((below) => `${key}.${below}`)
      : [key],
  );
}

function removeKey(settings: object, [key = "", ...below]: readonly string[]): void {
  if (below.length === 0) Reflect.deleteProperty(settings, key);
  else removeKey((settings as Readonly<Record<string, object>>)[key] ?? {}, below);
}
