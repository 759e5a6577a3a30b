import type { OrganizationConfig } from "../../config/config.ts";
import type { SpikeThresholds } from "../../spike/thresholds.ts";
import type { ExplainedSetting } from "./explanation.ts";

const thresholdNames = ["windowHours", "baselineDays", "warnMultiplier", "failMultiplier", "minSpikeCount"] as const;

/** Returns the thresholds that a result was made with; null: not all of them are kept. */
export function thresholdsOf(threshold: Readonly<Record<string, unknown>>): SpikeThresholds | null {
  const values = thresholdNames.map((name) => threshold[name]);
  if (!values.every((value) => typeof value === "number")) return null;
  const [windowHours = 0, baselineDays = 0, warnMultiplier = 0, failMultiplier = 0, minSpikeCount = 0] = values;
  return { windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount };
}

/** Returns the settings of a verdict, each with where the configuration sets it now. */
export function settingsOf(
  thresholds: SpikeThresholds,
  baseline: string,
  organization: OrganizationConfig | null,
): ExplainedSetting[] {
  const setting = (name: string, path: string, value: number | string, now: number | string | undefined) => ({
    name,
    value,
    setIn: organization === null ? null : (organization.setAt[path] ?? "default"),
    valueNow: now === undefined || now === value ? null : now,
  });
  return [
    ...thresholdNames.map((name) =>
      setting(name, `thresholds.${name}`, thresholds[name], organization?.thresholds[name]),
    ),
    setting("baseline", "baseline", baseline, organization?.baseline),
  ];
}
