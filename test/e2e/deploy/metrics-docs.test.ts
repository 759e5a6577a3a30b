import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, it } from "vitest";

import { instruments } from "../../support/instruments.ts";

const promtool = "/usr/bin/promtool";

const reason = existsSync(promtool) ? "" : ` (skipped: ${promtool} is not installed)`;
it.skipIf(reason !== "")(`the queries in docs/metrics.md are PromQL over metrics that there are${reason}`, () => {
  const queries = [...readFileSync("docs/metrics.md", "utf8").matchAll(/```promql\n([^`]+)\n```/g)].map(
    ([, query = ""]) => query,
  );
  const directory = mkdtempSync(path.join(tmpdir(), "flatline-docs-"));
  const file = path.join(directory, "rules.json");
  const rules = queries.map((expr, index) => ({ record: `docs:query${index}`, expr }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: "docs", rules }] }));

  const { status, stderr } = spawnSync(promtool, ["check", "rules", file], { encoding: "utf8", timeout: 30_000 });
  rmSync(directory, { recursive: true });

  const names = queries
    .flatMap((query) => query.match(/flatline_\w+/g) ?? [])
    .map((name) => name.replace(/_bucket$/, ""));
  expect(queries.length).toBeGreaterThan(6);
  expect([status, stderr]).toEqual([0, ""]);
  expect(names.filter((name) => !instruments.some((instrument) => instrument.name === name))).toEqual([]);
});
