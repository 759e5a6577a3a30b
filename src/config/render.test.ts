import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import type { Config } from "./config.ts";
import { loadConfig } from "./load.ts";
import { describeConfig, renderConfig } from "./render.ts";

const { load } = useConfigFolder();

function loadEveryKey(): Promise<Config> {
  const cwd = fileURLToPath(new URL("testdata", import.meta.url));
  const env = {
    FLATLINE_API_KEY: "hush-key",
    SLACK_WEBHOOK_URL: "https://slack.example/hush",
    HOOK_SECRET: "hush-hush-hush-hush",
    FLATLINE_TOKEN: "hush-token",
  };
  return loadConfig({ path: "every-key.yaml", cwd, env });
}

describe("renderConfig", () => {
  it("shows the effective configuration, secrets as ***", async () => {
    const shown = renderConfig(await loadEveryKey());

    await expect(shown).toMatchFileSnapshot("testdata/every-key.shown.txt");
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

describe("describeConfig", () => {
  it("is what YAML shows, as data", async () => {
    const config = await loadEveryKey();

    expect(parse(renderConfig(config))).toEqual(describeConfig(config));
  });
});
