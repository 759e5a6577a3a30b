import { describe, expect, it } from "vitest";

import { runCli } from "../../test/support/program/cli-run.ts";
import { makeProgramFolder } from "../../test/support/program/program-folder.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { renderJsonSchema } from "../config/schema/json-schema.ts";

const clock = createVirtualClock({ startMs: Date.UTC(2026, 0, 15, 12) });

async function run(args: readonly string[], text?: string): Promise<string> {
  await using folder = await makeProgramFolder(text);
  const env = { KEY: "hush" };
  const { exitCode, stdout, stderr } = await runCli(["config", ...args], { cwd: folder.path, env, clock });
  expect([exitCode, stderr]).toEqual([0, ""]);
  return stdout;
}

const right = `
source:
  baseUrl: https://api.example.com/v2
  apiKey: \${KEY}
organizations:
  - acme
  - { slug: globex, timezone: America/St_Johns, reviewQueue: { enabled: true } }
`;

describe("config show", () => {
  it("prints YAML with secrets as ***", async () => {
    const shown = await run(["show"], right);

    expect(shown).toContain('apiKey: "***"');
    expect(shown).not.toContain("hush");
  });

  it("prints JSON", async () => {
    const shown = JSON.parse(await run(["show", "--json"], right)) as unknown;

    expect(shown).toMatchObject({
      source: { type: "remote", apiKey: "***", timeout: "30s" },
      organizations: [{ slug: "acme" }, { slug: "globex", timezone: "America/St_Johns" }],
    });
  });
});

describe("config schema", () => {
  it("prints the JSON Schema without any configuration", async () => {
    expect(await run(["schema"])).toBe(renderJsonSchema());
  });
});

describe("config schedule", () => {
  it("prints each organization's next runs in its timezone", async () => {
    expect(await run(["schedule", "--next", "2"], right)).toBe(`acme  dead-asset-spike  */5 * * * *  UTC
  2026-01-15T12:05:00+00:00
  2026-01-15T12:10:00+00:00
globex  dead-asset-spike  */5 * * * *  America/St_Johns
  2026-01-15T08:35:00-03:30
  2026-01-15T08:40:00-03:30
globex  review-queue  */10 * * * *  America/St_Johns
  2026-01-15T08:40:00-03:30
  2026-01-15T08:50:00-03:30
`);
  });

  it("prints five of one organization as JSON", async () => {
    const planned = JSON.parse(await run(["schedule", "acme", "--json"], right)) as { next: string[] }[];

    expect(planned).toMatchObject([
      { slug: "acme", check: "dead-asset-spike", schedule: "*/5 * * * *", timezone: "UTC" },
    ]);
    expect(planned[0]?.next).toHaveLength(5);
  });
});
