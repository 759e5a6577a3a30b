import { z } from "zod";

import { formatDuration } from "../../base/durations.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import { checkSettings, type SettingsShape } from "../../checks/checks.ts";
import { longestSlug } from "../../contract/slug.ts";
import { baselineKinds } from "../../spike/median.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import {
  cronPattern,
  duration,
  nameText,
  secretFile,
  strictObject,
  timezone,
  wholeNumber,
} from "../../base/schema/values.ts";

/** What holds where neither `defaults` nor the organization says anything (CONTRACT 4); lengths of time in milliseconds. */
export const builtinSettings = {
  schedule: "*/5 * * * *",
  timezone: "UTC",
  jitter: 0,
  thresholds: defaultThresholds,
  baseline: "mean",
  attributionDays: 28,
  baselineExclude: "none",
  whenNoEvents: "unknown",
  sample: true,
  alert: { for: 0, keepFiringFor: 0, unknownAfter: 3, repeatInterval: 4 * hourMs, minBaselineCoverage: 0 },
  gate: { releaseOn: ["judged"], whenUnknown: "allow" },
} as const;

const { thresholds, alert, gate } = builtinSettings;
const longMs = 365 * dayMs;
const multiplier = z.number().positive();

/** Thresholds as a configuration or a discovered list says them. */
export const thresholdsSchema = strictObject({
  windowHours: wholeNumber({ min: 1, max: 87_600 })
    .optional()
    .describe("Length of the window, whole hours.")
    .meta({ default: thresholds.windowHours }),
  baselineDays: wholeNumber({ min: 1, max: 3_650 })
    .optional()
    .describe("Length of the baseline before the window, whole days.")
    .meta({ default: thresholds.baselineDays }),
  warnMultiplier: multiplier
    .optional()
    .describe("`warn` above the expected count times this.")
    .meta({ default: thresholds.warnMultiplier }),
  failMultiplier: multiplier
    .optional()
    .describe("`fail` above the expected count times this; tried first.")
    .meta({ default: thresholds.failMultiplier }),
  minSpikeCount: z
    .int()
    .min(1)
    .optional()
    .describe("With fewer deaths in the window the verdict is `ok`.")
    .meta({ default: thresholds.minSpikeCount }),
}).describe("Thresholds of the check `dead-asset-spike`, under the API's own names.");

const alertSchema = strictObject({
  for: duration({ maxMs: longMs })
    .optional()
    .describe("How long a check must be non-ok without a break before its alert fires.")
    .meta({ default: formatDuration(alert.for) }),
  keepFiringFor: duration({ maxMs: longMs })
    .optional()
    .describe("How long it must be ok again before the alert resolves.")
    .meta({ default: formatDuration(alert.keepFiringFor) }),
  unknownAfter: wholeNumber({ min: 1, max: 10_000 })
    .optional()
    .describe("Runs without a result in a row that make an alert of their own.")
    .meta({ default: alert.unknownAfter }),
  repeatInterval: duration({ maxMs: longMs })
    .optional()
    .describe("How often a reminder goes out while an alert fires; `0s`: never.")
    .meta({ default: formatDuration(alert.repeatInterval) }),
  minBaselineCoverage: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      "Local sources: an alert stays pending while less than this share of the baseline lies after the organization's first event.",
    )
    .meta({ default: alert.minBaselineCoverage }),
}).describe("When an alert fires, resolves and reminds.");

const gateSchema = strictObject({
  releaseOn: z
    .array(z.enum(["judged", "acknowledged", "resolved"]))
    .optional()
    .describe(
      "After a fail, any of these opens the gate again, as a release by hand does; none when empty. `judged`: a judgement of the alert; `real` and `expected` open it at once, `checker` when the alert has ended against a sound baseline. Without `resolved` a hold outlives its alert.",
    )
    .meta({ default: gate.releaseOn }),
  whenUnknown: z
    .enum(["allow", "hold"])
    .optional()
    .describe(
      "The answer while the last run gave no result, or none that still holds: `allow` fails open, `hold` closed.",
    )
    .meta({ default: gate.whenUnknown }),
}).describe("What `GET /api/v1/gate/{slug}` answers to a pipeline that asks whether it may act on deaths.");

const routedReceiver = z.union([
  nameText().describe("The name of a receiver: notified at once."),
  strictObject({
    name: nameText().describe("The name of a receiver."),
    after: duration({ minMs: 1, maxMs: longMs }).describe(
      "Notified this long after the alert fired, if it still fires and is not acknowledged, judged or silenced (an escalation).",
    ),
  }),
]);

const checksShape = Object.fromEntries(
  checkSettings.map(({ key, schema }) => [key, schema.optional()]),
) as unknown as SettingsShape;

const settingsShape = {
  schedule: cronPattern()
    .optional()
    .describe(
      "Cron pattern as in Vixie cron: 5 fields, or 6 with seconds first, names (`JAN`, `MON`), `@yearly` `@monthly` `@weekly` `@daily` `@hourly`.",
    )
    .meta({ default: builtinSettings.schedule }),
  timezone: timezone()
    .optional()
    .describe("The timezone of the schedules, a name of the time zone database: `Europe/Berlin`.")
    .meta({ default: builtinSettings.timezone }),
  jitter: duration({ maxMs: dayMs })
    .optional()
    .describe("Spreads start times over this long, by a stable hash of the slug.")
    .meta({ default: formatDuration(builtinSettings.jitter) }),
  thresholds: thresholdsSchema.optional(),
  baseline: z
    .enum(baselineKinds)
    .optional()
    .describe(
      "From what deaths are expected: `mean` of the baseline, the API's rule, or `median` of the same window on each of its days, which one bad day does not move. `median` with local sources only.",
    )
    .meta({ default: builtinSettings.baseline }),
  baselineExclude: z
    .enum(["none", "judged"])
    .optional()
    .describe(
      "Deaths that leave the baseline. `judged`: those of past spikes that were judged `checker`, so that false deaths are not expected again. Local sources only.",
    )
    .meta({ default: builtinSettings.baselineExclude }),
  whenNoEvents: z
    .enum(["unknown", "ok"])
    .optional()
    .describe(
      "The verdict on an organization of which no event was ever stored: `unknown`, or `ok` for a stream that carries deaths only. With `source.type: embedded` only.",
    )
    .meta({ default: builtinSettings.whenNoEvents }),
  attributionDays: wholeNumber({ min: 1, max: 365 })
    .optional()
    .describe(
      "How many days before the window say which attributes deaths usually have; those with a spike of their own are left out. Stored events only.",
    )
    .meta({ default: builtinSettings.attributionDays }),
  sample: z
    .boolean()
    .optional()
    .describe("Whether notifications name dead assets of it (`alerting.sample`).")
    .meta({ default: builtinSettings.sample }),
  receivers: z
    .array(routedReceiver)
    .optional()
    .describe(
      "Names of the receivers that are notified; all receivers when absent, none when empty. `{ name, after }` is an escalation: the receiver is notified `after` this long (`30m`) of alerts that still fire and are not acknowledged, judged or silenced.",
    ),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .describe("Copied to notifications, not to metrics.")
    .meta({ default: {} }),
  alert: alertSchema.optional(),
  ...checksShape,
  gate: gateSchema.optional(),
};

/** `defaults`: what every organization starts from. */
export const defaultsSchema = strictObject(settingsShape).describe(
  `The settings that every organization starts from. An organization's \`thresholds\`, \`labels\`, \`alert\`, ${checkSettings.map(({ key }) => `\`${key}\``).join(", ")} and \`gate\` are merged into these field by field; all else replaces.`,
);

const keyShape = {
  apiKey: z.string().optional().describe("Overrides `source.apiKey`. A secret: `apiKeyFile` reads it from a file."),
  apiKeyFile: secretFile("the API key").optional(),
};

/** What every organization of a discovery source starts from: as in `organizations`, without a slug. */
export const templateSchema = strictObject({ ...keyShape, ...settingsShape }).describe(
  "What every organization of this source starts from, over `defaults`: as in `organizations`, without a slug.",
);

/** An organization: a slug, or an object. */
export const organizationSchema = z
  .union([
    nameText(longestSlug).describe("The organization's slug."),
    strictObject({
      slug: nameText(longestSlug).describe("The organization's name in the API and in every label."),
      ...keyShape,
      ...settingsShape,
    }),
  ])
  .describe("A slug, or an object with a slug and what differs from the defaults.");
export type OrganizationInput = z.output<typeof organizationSchema>;
export type SettingsInput = z.output<typeof defaultsSchema>;
