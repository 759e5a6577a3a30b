import { z } from "zod";

import { severities } from "../severity.ts";
import { keptResultSchema, onsetMarkerSchema } from "./alerts.ts";
import { instantSchema } from "./instant.ts";

const errorSchema = z.object({ reason: z.string(), message: z.string() });

/** A live alert as its check shows it. */
const checkAlertSchema = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.string(),
  severity: z.enum(severities),
  startsAt: instantSchema,
  /** When its excess began; null when unknown. */
  onsetAt: instantSchema.nullable(),
  marker: onsetMarkerSchema.nullable(),
  silenced: z.boolean(),
});
export type CheckAlertAnswer = z.infer<typeof checkAlertSchema>;

/** The last state of a check of an organization: one element of `/api/v1/checks`. */
export const checkSchema = z.object({
  check: z.string(),
  slug: z.string(),
  /** Null before the first run; `unknown` after a failed one, and when the last verdict is stale. */
  severity: z.enum(severities).nullable(),
  severitySince: instantSchema.nullable(),
  isStale: z.boolean(),
  lastRunAt: instantSchema.nullable(),
  lastSuccessAt: instantSchema.nullable(),
  nextRunAt: instantSchema,
  isRunning: z.boolean(),
  result: keptResultSchema.nullable(),
  error: errorSchema.nullable(),
  /** The first of `alerts`. */
  alert: checkAlertSchema.nullable(),
  /** Firing before pending, then the more severe first. */
  alerts: z.array(checkAlertSchema),
});
export type CheckAnswer = z.infer<typeof checkSchema>;

/** The report of a run that was asked for. */
export const runReportSchema = z.object({
  check: z.string(),
  slug: z.string(),
  severity: z.enum(severities),
  startedAt: instantSchema,
  finishedAt: instantSchema,
  result: keptResultSchema.nullable(),
  error: errorSchema.nullable(),
});
export type RunReportAnswer = z.infer<typeof runReportSchema>;
