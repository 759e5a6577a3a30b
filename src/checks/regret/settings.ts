import { z } from "zod";

import { formatDuration } from "../../base/durations.ts";
import { layered } from "../../base/layers.ts";
import { duration, strictObject, wholeNumber } from "../../base/schema/values.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import type { CheckSettings } from "../settings.ts";
import type { RegretLimits } from "./evaluate.ts";
import { leastRevivalMs } from "./shares.ts";

/**
 * Set by a measurement (docs/detection.md): of real mass deaths a median of 17 % was reversed within 60 days.
 */
export const builtinRegret = {
  warnAbove: 0.45,
  failAbove: 0.65,
  minDeaths: 20,
  window: dayMs,
  maturity: 3 * dayMs,
} as const;
const share = z.number().gt(0).max(1);

const schema = strictObject({
  warnAbove: share
    .optional()
    .describe("`warn` when the assets of a larger share of the deaths were found alive; 1: never.")
    .meta({ default: builtinRegret.warnAbove }),
  failAbove: share
    .optional()
    .describe("`fail` when the assets of a larger share of the deaths were found alive; 1: never.")
    .meta({ default: builtinRegret.failAbove }),
  minDeaths: wholeNumber({ min: 1, max: 1_000_000 })
    .optional()
    .describe("With fewer deaths of known assets in seven windows the verdict is `ok`.")
    .meta({ default: builtinRegret.minDeaths }),
  window: duration({ minMs: hourMs, maxMs: 30 * dayMs })
    .optional()
    .describe("The stretch of deaths that is judged; seven of them are judged too, and the smaller share decides.")
    .meta({ default: formatDuration(builtinRegret.window) }),
  maturity: duration({ minMs: leastRevivalMs, maxMs: 60 * dayMs })
    .optional()
    .describe("How long ago the judged deaths are, so that they could be undone.")
    .meta({ default: formatDuration(builtinRegret.maturity) }),
}).describe(
  "The check `regret`: the share of deaths whose asset was found alive 6 h later or more. It runs where this is set (`regret: {}`), on the organization's schedule. Stored events only.",
);

/** `regret` in the configuration; off where nothing says it. */
export const regretSettings = {
  key: "regret",
  needs: "holdsEvents",
  schema,
  switchOf: () => [],
  resolve: (layers: readonly (z.output<typeof schema> | undefined)[]): RegretLimits | null => {
    if (layers.every((layer) => layer === undefined)) return null;
    const { window, maturity, ...limits } = layered(builtinRegret, ...layers);
    return { ...limits, windowMs: window, maturityMs: maturity };
  },
  describe: ({ windowMs, maturityMs, ...limits }: RegretLimits) => ({
    ...limits,
    window: formatDuration(windowMs),
    maturity: formatDuration(maturityMs),
  }),
} as const satisfies CheckSettings;
