import { dayMs, hourMs } from "../../base/time.ts";
import type { BaselineKind } from "../../spike/median.ts";
import type { SpikeThresholds } from "../../spike/thresholds.ts";
import { known } from "../document/accepted.ts";
import { formatDuration, parseDuration } from "../../base/durations.ts";
import { builtinSettings } from "../schema/organization.ts";
import { settingsOf, writtenKind, type Finding, type WrittenConfig, type WrittenSettings } from "./written.ts";

/** `baseline: median` and `baselineExclude: judged` where the platform evaluates: its API has one rule, and no word for another. */
export function checkBaselines(config: WrittenConfig): Finding[] {
  const source = writtenKind(config);
  if (source === null || source.isLocal) return [];
  const because = `needs a local source: with source.type ${source.type} the platform itself evaluates, and its API`;
  const message = `median ${because} knows the mean only`;
  const exclusion = `judged ${because} leaves nothing out`;
  return settingsOf(config).flatMap(({ path, value }) => [
    ...(value.baseline === "median" ? [{ path: [...path, "baseline"], message }] : []),
    ...(value.baselineExclude === "judged" ? [{ path: [...path, "baselineExclude"], message: exclusion }] : []),
  ]);
}

/** `storage.eventRetention` that forgets what an evaluation looks back on. */
export function checkEventRetention(config: WrittenConfig): Finding[] {
  const retentionMs = parseDuration(known(known(config.storage)?.eventRetention) ?? "0s") ?? 0;
  if (retentionMs === 0) return [];
  const defaults = known(config.defaults) ?? {};
  const longestMs = Math.max(...settingsOf(config).map(({ value }) => spanMs(defaults, value)));
  if (retentionMs >= longestMs) return [];
  const message = `must be 0s, or at least the longest window and baseline together: ${formatDuration(longestMs)}`;
  return [{ path: ["storage", "eventRetention"], message }];
}

function spanMs(defaults: WrittenSettings, own: WrittenSettings): number {
  const whole = (key: "windowHours" | "baselineDays"): number =>
    known(known(own.thresholds)?.[key]) ?? known(known(defaults.thresholds)?.[key]) ?? builtinSettings.thresholds[key];
  const thresholds = { windowHours: whole("windowHours"), baselineDays: whole("baselineDays") };
  return lookBackMs(thresholds, (own.baseline ?? defaults.baseline) === "median" ? "median" : "mean");
}

/** Returns how far before now an evaluation looks. A median's days begin a whole number of days before the window does. */
export function lookBackMs(
  { windowHours, baselineDays }: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
  baseline: BaselineKind,
): number {
  const windowMs = windowHours * hourMs;
  const baselineMs = baselineDays * dayMs;
  if (baseline !== "median") return windowMs + baselineMs;
  return windowMs + baselineMs + (Math.ceil(windowMs / dayMs) - 1) * dayMs;
}
