import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { checkNames } from "../../../src/contract/report.ts";
import { instruments } from "../../support/instruments.ts";
import { debianTool } from "../../support/debian-tool.ts";

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RulesTest {
  readonly tests: readonly {
    readonly promql_expr_test?: readonly { readonly expr: string }[];
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}

const folder = fileURLToPath(new URL("../../../dashboards/rules/", import.meta.url));
const promtool = debianTool("promtool", "prometheus");
const rulesText = readFileSync(`${folder}flatline.rules.yaml`, "utf8");
const rules = (parse(rulesText) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const alerts = rules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
const records = rules.flatMap((rule) => (rule.record === undefined ? [] : [rule.record]));
const fixtures = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const proofs = (parse(readFileSync(`${fixtures}flatline.rules.test.yaml`, "utf8")) as RulesTest).tests;
const runbooks = readFileSync(new URL("../../../docs/runbooks.md", import.meta.url), "utf8");

describe("dashboards/rules", () => {
  it.skipIf(promtool.isMissing)(`passes promtool check rules${promtool.note}`, () => {
    expect(promtool.run(["check", "rules", "flatline.rules.yaml"], folder)).toMatchObject({ status: 0, stderr: "" });
  });

  it.skipIf(promtool.isMissing)(`does what flatline.rules.test.yaml says${promtool.note}`, () => {
    expect(promtool.run(["test", "rules", "flatline.rules.test.yaml"], fixtures)).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it.each(alerts)("$alert is seen to fire and to stay silent", ({ alert }) => {
    const seen = proofs.flatMap((test) => test.alert_rule_test ?? []).filter(({ alertname }) => alertname === alert);

    expect(new Set(seen.map(({ exp_alerts }) => exp_alerts.length > 0))).toEqual(new Set([true, false]));
  });

  it.each(alerts)("$alert says what to do", ({ alert, annotations = {}, labels = {} }) => {
    expect(Object.keys(annotations)).toEqual(["summary", "description", "runbook_url"]);
    expect(annotations["runbook_url"]).toBe(`https://flatline.example.com/docs/runbooks.md#${alert.toLowerCase()}`);
    expect(labels["severity"]?.replaceAll(/\{\{.*?\}\}/g, " ").trim()).toMatch(
      /^(?:critical|warning|warning critical)$/,
    );
  });

  it("calls no check of flatline's own a healthcheck of the platform", () => {
    const excluded = /check!~"([^"]*)"/.exec(
      alerts.find(({ alert }) => alert === "FlatlineHealthcheckNotOk")?.expr ?? "",
    );

    expect(excluded?.[1]?.split("|").toSorted()).toEqual(checkNames.toSorted());
  });

  it("asks, in its annotations too, for metrics only that flatline exports, or the rules record", () => {
    const asked = rules.flatMap(({ expr, annotations = {} }) => [
      ...(expr.match(/(?<![\w:])[a-z_]*:?flatline_[\w:]+/g) ?? []),
      ...(annotations["description"]?.match(/[a-z_:]*flatline_[\w:]+(?=\{)/g) ?? []),
    ]);
    const known = new Set<string>([...instruments.map(({ name }) => name), ...records]);

    expect(asked.length).toBeGreaterThan(25);
    expect(asked.filter((name) => !known.has(name.replace(/_bucket$/, "")))).toEqual([]);
  });
});

describe("docs/runbooks.md", () => {
  it("has a section for each alert, in the order of the rules, and no other", () => {
    expect([...runbooks.matchAll(/^## (Flatline.+)$/gm)].map(([, title]) => title)).toEqual(
      alerts.map(({ alert }) => alert),
    );
  });
});
