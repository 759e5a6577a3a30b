import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";

import { Command, CommanderError } from "commander";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import { renderJsonSchema } from "../config/schema/json-schema.ts";
import { registerConfig } from "./config.ts";
import type { CliContext } from "./context.ts";

const startMs = Date.UTC(2026, 0, 15, 12);

let folder: string;
let printed: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-cli-config-"));
  printed = "";
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(args: readonly string[], text?: string): Promise<string> {
  if (text !== undefined) await writeFile(join(folder, "flatline.yaml"), text);
  const output = {
    write: (text: string) => {
      printed += text;
    },
    isTerminal: false,
    columns: 80,
  };
  const context: CliContext = {
    env: { KEY: "hush" },
    cwd: folder,
    version: "0.0.0",
    nodeVersion: "24.0.0",
    stdout: output,
    stderr: output,
    stdin: Readable.from([]),
    clock: createVirtualClock({ startMs }),
    random: () => 0,
    signal: new AbortController().signal,
    userName: () => "tester",
    onHangup: () => undefined,
    onCrash: () => undefined,
    setExitCode: () => undefined,
  };
  const program = new Command("flatline")
    .exitOverride()
    .configureOutput({ writeOut: output.write, writeErr: output.write });
  registerConfig(program, context);
  await program.parseAsync(["config", ...args], { from: "user" });
  return printed;
}

const right = `
source:
  baseUrl: https://api.example.com/v2
  apiKey: \${KEY}
organizations:
  - acme
  - { slug: globex, timezone: Europe/Berlin, reviewQueue: { enabled: true } }
`;

describe("config check", () => {
  it("says that nothing is wrong", async () => {
    expect(await run(["check"], right)).toBe("flatline.yaml: ok, 2 organizations, 0 receivers\n");
  });

  it("says everything that is wrong", async () => {
    await expect(run(["check"], "source: { type: embeded }\norganization: [acme]\n")).rejects.toMatchObject({
      code: "invalid_config",
      exitCode: 78,
      message: [
        "the configuration has 3 problems",
        "flatline.yaml:1:1: organizations: is required: a list of slugs or objects, or discover for sources of one",
        'flatline.yaml:1:17: source.type: must be one of remote, embedded, postgres, clickhouse; did you mean "embedded"?',
        'flatline.yaml:2:1: organization: unknown key; did you mean "organizations"?',
      ].join("\n"),
    });
  });

  it("names the file that is missing", async () => {
    await expect(run(["check", "-c", "none.yaml"])).rejects.toThrow("the configuration file none.yaml does not exist");
  });
});

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
      organizations: [{ slug: "acme" }, { slug: "globex", timezone: "Europe/Berlin" }],
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
globex  dead-asset-spike  */5 * * * *  Europe/Berlin
  2026-01-15T13:05:00+01:00
  2026-01-15T13:10:00+01:00
globex  review-queue  */10 * * * *  Europe/Berlin
  2026-01-15T13:10:00+01:00
  2026-01-15T13:20:00+01:00
`);
  });

  it("prints five of one organization as JSON", async () => {
    const planned = JSON.parse(await run(["schedule", "acme", "--json"], right)) as { next: string[] }[];

    expect(planned).toMatchObject([
      { slug: "acme", check: "dead-asset-spike", schedule: "*/5 * * * *", timezone: "UTC" },
    ]);
    expect(planned[0]?.next).toHaveLength(5);
  });

  it.each(["0", "-1", "1.5", "many", "1001"])("refuses --next %s", async (count) => {
    await expect(run(["schedule", `--next=${count}`], right)).rejects.toBeInstanceOf(CommanderError);
  });

  it("refuses an organization that is not there", async () => {
    const error: unknown = await run(["schedule", "acm"], right).catch((error: unknown) => error);

    expect(error).toBeInstanceOf(FlatlineError);
    expect(error).toMatchObject({ exitCode: 64, message: 'no organization is named "acm"; did you mean "acme"?' });
  });
});
