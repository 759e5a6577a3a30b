import { z } from "zod";

import { dayMs } from "../../base/time.ts";
import { checkSettings, type SettingsShape } from "../../checks/checks.ts";
import {
  healthcheckPathPattern,
  healthcheckPathProblem,
  longestHealthcheckPath,
} from "../../contract/platform-healthcheck.ts";
import { checkKey, optionalSecret } from "../../base/schema/secret-rules.ts";
import { longestSlug } from "../../contract/slug.ts";
import { countKinds } from "../../spike/findings.ts";
import { baselineKinds } from "../../spike/median.ts";
import { defaultThresholds as usual } from "../../spike/thresholds.ts";
import { builtIn, builtInOf, layer, readAs, section } from "../../base/schema/section.ts";
import { checkedText, cronPattern, duration, nameText, timezone, wholeNumber } from "../../base/schema/values.ts";

// The parameters of a request for a healthcheck (CONTRACT 17).
const mostParameters = 32;
const longestParameterName = 128;
export const mostHealthchecks = 50;
const longMs = 365 * dayMs;
const multiplier = z.number().positive();

/** The thresholds in a configuration or a discovered list. */
export const thresholdsSchema = layer({
  windowHours: builtIn(wholeNumber(1, 87_600), usual.windowHours).describe("Length of the window, whole hours."),
  baselineDays: builtIn(wholeNumber(1, 3_650), usual.baselineDays).describe("Length of the baseline, whole days."),
  warnMultiplier: builtIn(multiplier, usual.warnMultiplier).describe("`warn` above the expected count times this."),
  failMultiplier: builtIn(multiplier, usual.failMultiplier).describe("`fail` above it times this; tried first."),
  minSpikeCount: builtIn(z.int().min(1), usual.minSpikeCount).describe("With fewer deaths in the window it is `ok`."),
}).describe("Thresholds of the check `dead-asset-spike`, under the API's own names.");

const alertShape = {
  for: builtIn(duration(0, longMs), "0s").describe("How long a check must be non-ok unbroken before its alert fires."),
  keepFiringFor: builtIn(duration(0, longMs), "0s").describe("How long it must be ok again before the alert resolves."),
  unknownAfter: builtIn(wholeNumber(1, 10_000), 3).describe("So many runs in a row without a result are an alert."),
  repeatInterval: builtIn(duration(0, longMs), "4h").describe("How often a firing alert is reminded of; `0s`: never."),
};
const alertSchema = layer({
  ...alertShape,
  minBaselineCoverage: builtIn(z.number().min(0).max(1), 0).describe(
    "Local sources: an alert stays pending while less than this share of the baseline " +
      "lies after the organization's first event.",
  ),
}).describe("When an alert fires, resolves and reminds.");

const parameterName = nameText(longestParameterName).superRefine((name, context) => {
  if (name === "slug") context.addIssue("is in every request: the organization's slug");
});
const parametersSchema = z
  .record(parameterName, z.union([z.number(), z.string(), z.boolean()]))
  .superRefine((parameters, context) => {
    if (Object.keys(parameters).length > mostParameters) context.addIssue(`must have at most ${mostParameters} names`);
  })
  .meta({ maxProperties: mostParameters });

const healthcheckSchema = section({
  path: checkedText(healthcheckPathProblem)
    .describe(
      "What follows `/healthchecks/` in its address: `reviewing/backlog`. " +
        "The check's name is the path with `-` for `/`: `reviewing-backlog`.",
    )
    .meta({ pattern: healthcheckPathPattern.source, maxLength: longestHealthcheckPath }),
  enabled: z.boolean().optional().describe("`false` leaves out the one of `defaults` with the same path."),
  schedule: cronPattern
    .optional()
    .describe("Its cron pattern, in the organization's timezone; the organization's schedule when absent."),
  parameters: builtIn(parametersSchema, {}).describe("Sent with the slug, as the platform documents them."),
  alert: layer(alertShape).optional().describe("Merged into the organization's `alert`, field by field."),
});

const gateSchema = layer({
  releaseOn: builtIn(z.array(z.enum(["judged", "resolved"])), ["judged"]).describe(
    "After a fail, any of these opens the gate again, as a release by hand does; none when empty.",
  ),
  whenUnknown: builtIn(z.enum(["allow", "hold"]), "allow").describe(
    "The answer while the last run gave no result, or none that still holds: `allow` fails open, `hold` closed.",
  ),
}).describe("What `GET /api/v1/gate/{slug}` answers to a pipeline that asks whether it may act on deaths.");

const escalationSchema = section({
  name: nameText().describe("The name of a receiver."),
  after: duration(1, longMs).describe(
    "Notified this long after the alert fired, if it still fires and is not acknowledged, judged or silenced.",
  ),
});

const routedReceiver = readAs(
  z.union([nameText().describe("The name of a receiver: notified at once."), escalationSchema]),
  (receiver) => (typeof receiver === "string" ? { name: receiver, afterMs: 0 } : receiver),
  (receiver) => (receiver.afterMs === 0 ? receiver.name : receiver),
);

const checksShape = Object.fromEntries(
  checkSettings.map(({ key, shape, description }) => [key, layer(shape).describe(description).optional()]),
) as unknown as SettingsShape;

/** The settings that `defaults` and an organization may have. */
export const settingsShape = {
  schedule: builtIn(cronPattern, "*/5 * * * *").describe("Cron pattern: 5 fields, or 6 with seconds first."),
  timezone: builtIn(timezone, "UTC").describe("The timezone of the schedules: `Europe/Berlin`."),
  jitter: builtIn(duration(0, dayMs), "0s").describe("Spreads start times, by a stable hash of the slug."),
  thresholds: thresholdsSchema.optional(),
  baseline: builtIn(z.enum(baselineKinds), "mean").describe(
    "What is expected: the `mean` of the baseline, or the `median` of its days. `median` with local sources only.",
  ),
  count: builtIn(z.enum(countKinds), "deaths").describe(
    "What is counted: `deaths`, or each of the `assets` once. " +
      "`assets` with `baseline: median` and `source.type: embedded` only.",
  ),
  whenNoEvents: builtIn(z.enum(["unknown", "ok"]), "unknown").describe(
    "The verdict on an organization of which no event was ever stored: `ok` for a stream that carries deaths only. " +
      "With `source.type: embedded` only.",
  ),
  sample: builtIn(z.boolean(), true).describe("Whether notifications name dead assets of it (`alerting.sample`)."),
  receivers: z
    .array(routedReceiver)
    .optional()
    .describe("Who is notified; all receivers when absent, none when empty. `{ name, after }` is an escalation."),
  labels: builtIn(z.record(z.string(), z.string()), {}).describe("Copied to notifications, not to metrics."),
  alert: alertSchema.optional(),
  ...checksShape,
  healthchecks: z
    .array(healthcheckSchema)
    .max(mostHealthchecks)
    .optional()
    .describe("Healthchecks of the platform that run as checks of their own. With `source.type: remote` only."),
  gate: gateSchema.optional(),
};

/** The built-in settings (CONTRACT 4). */
export const builtinSettings = builtInOf(settingsShape);
export type BuiltinSettings = typeof builtinSettings;

export const defaultsSchema = layer(settingsShape).describe("The settings that every organization starts from.");

const organizationShape = {
  slug: nameText(longestSlug).describe("The organization's name in the API and in every label."),
  apiKey: optionalSecret(checkKey).describe("Overrides `source.apiKey`. A secret."),
  ...settingsShape,
};

/** An organization that is more than a slug. */
export const organizationObject = layer(organizationShape);

export const organizationSchema = z
  .union([nameText(longestSlug).describe("The organization's slug."), organizationObject])
  .describe("A slug, or an object with a slug and what differs from the defaults.");
export type OrganizationInput = Exclude<z.output<typeof organizationSchema>, string>;
export type Settings = z.output<typeof defaultsSchema>;
