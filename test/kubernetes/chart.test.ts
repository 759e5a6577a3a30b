import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { chart, helm, operatorApis, runHelm } from "./helm.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("the chart has the version of the package", async () => {
  const { version } = JSON.parse(await readFile(`${root}package.json`, "utf8")) as { readonly version: string };

  expect(parse(await readFile(`${chart}/Chart.yaml`, "utf8"))).toMatchObject({ version, appVersion: version });
});

describe.skipIf(helm.isMissing)(`the chart${helm.note}`, () => {
  // With the configuration in it, which values.schema.json describes.
  it.each(["sqlite", "postgresql"])("has nothing that helm lint warns of: %s", (example) => {
    const { status, stdout, stderr } = runHelm(["lint", "--strict", chart, "-f", `${chart}/ci/${example}-values.yaml`]);

    expect([status, stderr, stdout]).toEqual([0, "", expect.stringContaining("0 chart(s) failed")]);
    expect(stdout.replace("[INFO] Chart.yaml: icon is recommended", "")).not.toMatch(/\[(?:INFO|WARNING|ERROR)\]/);
  });

  it("renders as its golden, with all that it can add", async () => {
    const apis = operatorApis.flatMap((api) => ["--api-versions", api]);
    const values = `--values=${chart}/ci/postgresql-values.yaml`;

    const { stdout } = runHelm(["template", "flatline", chart, "--namespace=security", values, ...apis]);

    // The rules and the dashboards are the project's own files.
    const text = stdout
      .replaceAll(/^( {2}groups:\n)(?: {4}.*\n)+/gm, "$1    (dashboards/rules/flatline.rules.yaml)\n")
      .replaceAll(/^( {2}flatline-(\w+)\.json: )\|\n(?:(?: {4}.*)?\n)+/gm, "$1(dashboards/$2.json)\n");
    await expect(text).toMatchFileSnapshot("goldens/postgresql.yaml");
  });
});
