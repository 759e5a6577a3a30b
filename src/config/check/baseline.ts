import { formatDuration, parseDuration } from "../schema/durations.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import type { ConfigDocument } from "../document/document.ts";
import type { Problem, YamlPath } from "../document/problems.ts";
import { builtinSettings } from "../schema/organization.ts";
import { problemAt, valueAt } from "./validation.ts";

interface OrganizationPlace {
  readonly document: ConfigDocument;
  readonly path: YamlPath;
  readonly value: unknown;
}

/** `baseline: median` where the platform evaluates: its API has one rule, and no word for another. */
export function checkBaselines(main: ConfigDocument, organizations: readonly OrganizationPlace[]): Problem[] {
  const type = valueAt(main.value, ["source", "type"]);
  if (type !== undefined && type !== "remote") return [];
  const holders = [
    { document: main, path: ["defaults"], value: valueAt(main.value, ["defaults"]) },
    ...organizations,
  ] satisfies OrganizationPlace[];
  const message =
    "median needs a local source: with source.type remote the platform itself evaluates, and its API knows the mean only";
  return holders
    .filter(({ value }) => valueAt(value, ["baseline"]) === "median")
    .map(({ document, path }) => problemAt(document, [...path, "baseline"], message));
}

/** `storage.eventRetention` that forgets what an evaluation looks back on. */
export function checkEventRetention(main: ConfigDocument, organizations: readonly OrganizationPlace[]): Problem[] {
  const text = valueAt(main.value, ["storage", "eventRetention"]);
  const retentionMs = typeof text === "string" ? parseDuration(text) : null;
  if (retentionMs === null || retentionMs === 0) return [];
  const defaults = valueAt(main.value, ["defaults"]);
  const spans = organizations.map(({ value }) => spanMs(defaults, value));
  const longestMs = Math.max(spanMs(defaults, undefined), ...spans);
  if (retentionMs >= longestMs) return [];
  const message = `must be 0s, or at least the longest window and baseline together: ${formatDuration(longestMs)}`;
  return [problemAt(main, ["storage", "eventRetention"], message)];
}

/** From the oldest event that counts to now. A median's days begin a whole number of days before the window does. */
function spanMs(defaults: unknown, own: unknown): number {
  const pick = (path: YamlPath): unknown => valueAt(own, path) ?? valueAt(defaults, path);
  const whole = (key: "windowHours" | "baselineDays"): number => {
    const value = pick(["thresholds", key]);
    return typeof value === "number" && Number.isSafeInteger(value) ? value : builtinSettings.thresholds[key];
  };
  const windowMs = whole("windowHours") * hourMs;
  const baselineMs = whole("baselineDays") * dayMs;
  if (pick(["baseline"]) !== "median") return windowMs + baselineMs;
  return windowMs + baselineMs + (Math.ceil(windowMs / dayMs) - 1) * dayMs;
}
