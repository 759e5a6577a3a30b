import { dayMs, hourMs } from "../../base/time.ts";
import type { BaselineKind } from "../../spike/median.ts";
import type { SpikeThresholds } from "../../spike/thresholds.ts";
import { known } from "../document/accepted.ts";
import { formatDuration, parseDuration } from "../../base/durations.ts";
import { builtinSettings } from "../schema/organization.ts";
import { settingsOf, writtenKind, type Finding, type WrittenConfig, type WrittenSettings } from "./written.ts";

/** `baseline: median` where the platform evaluates: its API has one rule, and no word for another. */
export function checkBaselines(config: WrittenConfig): Finding[] {
  const source = writtenKind(config);
  if (source === null || source.isLocal) return [];
  const message = `median needs a local source: with source.type ${source.type} the platform itself evaluates, and its API knows the mean only`;
  return settingsOf(config).flatMap(({ path, value }) =>
    value.baseline === "median" ? [{ path: [...path, "baseline"], message }] : [],
  );
}

/** `count: assets` where assets have no names, or are counted against a mean. */
export function checkCounting(config: WrittenConfig): Finding[] {
  const source = writtenKind(config);
  const defaults = known(config.defaults) ?? {};
  return settingsOf(config).flatMap(({ path, value }): Finding[] => {
    if ((value.count ?? defaults.count) !== "assets") return [];
    // Settings that only `defaults` has are reported there.
    const isOwn = value.count !== undefined;
    if (isOwn && source !== null && !source.holdsEvents) {
      const message = `assets needs the liveness events in flatline's own store: with source.type ${source.type} no asset has a name here; leave count out, or import the events with source.type: embedded`;
      return [{ path: [...path, "count"], message }];
    }
    const baseline = value.baseline ?? defaults.baseline ?? builtinSettings.baseline;
    if (baseline !== "mean" || (!isOwn && value.baseline === undefined)) return [];
    const message = isOwn
      ? "assets needs baseline: median beside it: the mean is the API's rule, which counts deaths"
      : "mean counts deaths, and defaults.count says assets: leave this out, or set count: deaths beside it";
    return [{ path: [...path, isOwn ? "count" : "baseline"], message }];
  });
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
