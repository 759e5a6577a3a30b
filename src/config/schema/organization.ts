import { z } from "zod";

import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { longestSlug } from "../../contract/slug.ts";
import { baselineKinds } from "../../spike/median.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import {
  autoOrDuration,
  cronPattern,
  duration,
  nameText,
  secretFile,
  strictObject,
  timezone,
  wholeNumber,
} from "../../base/schema/values.ts";

/** What holds where neither `defaults` nor the organization says anything (CONTRACT 4). */
export const builtinSettings = {
  schedule: "*/5 * * * *",
  timezone: "UTC",
  jitter: "0s",
  thresholds: defaultThresholds,
  baseline: "mean",
  attributionDays: 28,
  baselineExclude: "none",
  whenNoEvents: "unknown",
  sample: true,
  alert: { for: "0s", keepFiringFor: "0s", unknownAfter: 3, repeatInterval: "4h", minBaselineCoverage: 0 },
  reviewQueue: { enabled: false, schedule: "*/10 * * * *", warnAfter: "4h", failAfter: "24h" },
  sentinel: { assets: [], schedule: "*/5 * * * *" },
  eventFlow: { enabled: false, schedule: "*/5 * * * *", maxSilence: "auto", maxCoverageDrop: 0.5 },
  // Set by `npm run bench:detection` (docs/detection.md): of real mass deaths a median of 17 % was reversed within 60 days.
  regret: { warnAbove: 0.45, failAbove: 0.65, minDeaths: 20, window: "24h", maturity: "auto" },
  gate: { releaseOn: ["judged"], whenUnknown: "allow" },
} as const;

const { thresholds, alert, reviewQueue, sentinel, eventFlow, regret, gate } = builtinSettings;
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
    .meta({ default: alert.for }),
  keepFiringFor: duration({ maxMs: longMs })
    .optional()
    .describe("How long it must be ok again before the alert resolves.")
    .meta({ default: alert.keepFiringFor }),
  unknownAfter: wholeNumber({ min: 1, max: 10_000 })
    .optional()
    .describe("Runs without a result in a row that make an alert of their own.")
    .meta({ default: alert.unknownAfter }),
  repeatInterval: duration({ maxMs: longMs })
    .optional()
    .describe("How often a reminder goes out while an alert fires; `0s`: never.")
    .meta({ default: alert.repeatInterval }),
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

const reviewQueueSchema = strictObject({
  enabled: z
    .boolean()
    .optional()
    .describe("Whether the check `review-queue` runs.")
    .meta({ default: reviewQueue.enabled }),
  schedule: cronPattern()
    .optional()
    .describe("Its cron pattern, in the organization's timezone.")
    .meta({ default: reviewQueue.schedule }),
  warnAfter: duration({ maxMs: longMs })
    .optional()
    .describe("`warn` when the oldest report in the queue is older.")
    .meta({ default: reviewQueue.warnAfter }),
  failAfter: duration({ maxMs: longMs })
    .optional()
    .describe("`fail` when the oldest report in the queue is older.")
    .meta({ default: reviewQueue.failAfter }),
}).describe("The watcher of the queue of proposals that wait for the customer's review.");

const sentinelSchema = strictObject({
  assets: z
    .array(nameText())
    .max(1_000)
    .optional()
    .describe(
      "Assets that are known to be alive, as the liveness events name them; the check runs where there are any.",
    )
    .meta({ default: sentinel.assets }),
  schedule: cronPattern()
    .optional()
    .describe("The check's cron pattern, in the organization's timezone.")
    .meta({ default: sentinel.schedule }),
}).describe("The check `sentinel`: one of these assets called dead is a fail at once. Stored events only.");

const eventFlowSchema = strictObject({
  enabled: z
    .boolean()
    .optional()
    .describe("Whether the check `event-flow` runs; then the spike check of a silent stream is `unknown`, never ok.")
    .meta({ default: eventFlow.enabled }),
  schedule: cronPattern()
    .optional()
    .describe("The check's cron pattern, in the organization's timezone.")
    .meta({ default: eventFlow.schedule }),
  maxSilence: autoOrDuration({ minMs: minuteMs, maxMs: longMs })
    .optional()
    .describe(
      "`fail` when no liveness event of any status came for longer. `auto`: twice the longest gap between two events of the last 28 days, at least 6 h; 24 h until 28 days are known.",
    )
    .meta({ default: eventFlow.maxSilence }),
  maxCoverageDrop: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe(
      "`warn` when fewer assets were checked in the last 24 h than usual (the median of the 7 days before, where it is at least 20) by more than this share; 1: never.",
    )
    .meta({ default: eventFlow.maxCoverageDrop }),
}).describe("The check `event-flow`: whether the liveness checker still looks. Stored events only.");

const share = z.number().gt(0).max(1);

const regretSchema = strictObject({
  warnAbove: share
    .optional()
    .describe("`warn` when the assets of a larger share of the deaths were found alive again; 1: never.")
    .meta({ default: regret.warnAbove }),
  failAbove: share
    .optional()
    .describe("`fail` when the assets of a larger share of the deaths were found alive again; 1: never.")
    .meta({ default: regret.failAbove }),
  minDeaths: wholeNumber({ min: 1, max: 1_000_000 })
    .optional()
    .describe("With fewer deaths of known assets in seven windows the verdict is `ok`.")
    .meta({ default: regret.minDeaths }),
  window: duration({ minMs: hourMs, maxMs: 30 * dayMs })
    .optional()
    .describe("The stretch of deaths that is judged; seven of them are judged too, and the smaller share decides.")
    .meta({ default: regret.window }),
  maturity: autoOrDuration({ minMs: minuteMs, maxMs: 60 * dayMs })
    .optional()
    .describe(
      "How long ago the judged deaths are, so that they could be undone. `auto`: the time within which half of the revivals of the last 60 days came, from 1 h to 14 d; 14 d when there were fewer than 20.",
    )
    .meta({ default: regret.maturity }),
}).describe(
  "The check `regret`: the share of deaths whose asset was found alive later. It runs where this is set (`regret: {}`), on the organization's schedule. Stored events only.",
);

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
    .meta({ default: builtinSettings.jitter }),
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
  reviewQueue: reviewQueueSchema.optional(),
  sentinel: sentinelSchema.optional(),
  eventFlow: eventFlowSchema.optional(),
  regret: regretSchema.optional(),
  gate: gateSchema.optional(),
};

/** `defaults`: what every organization starts from. */
export const defaultsSchema = strictObject(settingsShape).describe(
  "The settings that every organization starts from. An organization's `thresholds`, `labels`, `alert`, `reviewQueue`, `sentinel`, `eventFlow`, `regret` and `gate` are merged into these field by field; all else replaces.",
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
