import { describe, expect, it } from "vitest";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import { loadConfig } from "./load.ts";
import { renderConfig } from "./render.ts";

const { folder, write, load: loadText } = useConfigFolder();

function load(source: string) {
  return loadText(`source:\n${source}\norganizations: [acme]\n`, { PASSWORD: "hush" });
}

const query =
  'select slug, null as "assetType", at as bucket, 1 as count from e where slug = any(:slugs) and at > :from and at <= :to';

describe("a source that reads a table", () => {
  it("has defaults for all but where it is and what it holds", async () => {
    const { source } = await load(
      "  type: postgres\n  url: postgres://db.example.com/platform\n  table: public.events\n  columns: { slug: organization, at: checked_at, status: state }",
    );

    expect(source).toMatchObject({
      type: "postgres",
      events: {
        kind: "table",
        table: "public.events",
        columns: { slug: "organization", at: "checked_at", assetType: null, status: "state", count: null },
        deadStatuses: ["DETECTED_AS_DEAD"],
      },
      timeUnit: "timestamp",
      timeoutMs: 30_000,
      concurrency: 10_000,
    });
  });

  it("takes the password of ClickHouse from a file or the environment, and shows it nowhere", async () => {
    const config = await load(
      "  type: clickhouse\n  url: https://clickhouse.example.com:8443\n  username: reader\n  password: ${PASSWORD}\n  table: events\n  columns: { slug: s, at: t }\n  timeUnit: seconds",
    );

    expect(config.source.type === "clickhouse" && config.source.password?.reveal()).toBe("hush");
    expect(config.source).toMatchObject({ username: "reader", database: "default", timeUnit: "seconds" });
    expect(renderConfig(config)).not.toContain("hush");
  });

  it.each([
    { rule: "a table", events: "  table: events\n  columns: { slug: s, at: t, count: n }\n  timeUnit: milliseconds" },
    { rule: "a query", events: `  query: '${query}'\n  timeout: 5s` },
  ])("means the same when it is shown and loaded again: $rule", async ({ events }) => {
    const config = await load(`  type: postgres\n  url: postgres://db.example.com/platform\n${events}`);

    await write(
      "shown.yaml",
      renderConfig(config)
        .replace("'***'", "postgres://db.example.com/platform")
        .replace('"***"', "postgres://db.example.com/platform")
        .replace("url: ***", "url: postgres://db.example.com/platform"),
    );
    const again = await loadConfig({ path: "shown.yaml", cwd: folder(), env: {} });

    expect(again.source).toEqual(config.source);
  });
});
