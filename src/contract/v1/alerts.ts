import { z } from "zod";

import { healthcheckResultSchema } from "../healthcheck-schemas.ts";
import { severities } from "../severity.ts";
import { closed } from "./answer.ts";
import { instantSchema } from "./instant.ts";

/**
 * `/api/v1/alerts…`. The schemas of this folder serve the server and the commands. A client reads the answers of every
 * version: sets that may grow are text here, and unknown fields are dropped.
 */

/** The cost of a broken checker: deaths after the onset. Durations are of revived assets only. */
export const costSchema = z.object({
  deaths: z.number(),
  knownCount: z.number(),
  revived: z.number(),
  stillDead: z.number(),
  /** The time from an asset's last death to its first revival; null: none was revived. */
  medianClosedSeconds: z.number().nullable(),
  closedSeconds: z.number(),
});
export type CostAnswer = z.infer<typeof costSchema>;

/** A healthcheck result as it is stored, which may be shortened. */
export const keptResultSchema = healthcheckResultSchema.extend({
  findings: healthcheckResultSchema.shape.findings.readonly(),
  findingsOmitted: z.number().optional(),
  isTruncated: z.literal(true).optional(),
});

/** A person's judgement; author and comment only for readers with that right. */
export const judgementSchema = z.object({
  verdict: z.string(),
  at: instantSchema,
  by: closed(z.string().nullable()),
  /** The author that the request claims; not verified. */
  note: closed(z.string().nullable()),
  comment: closed(z.string().nullable()),
});

const onsetMarkerSchema = z.object({ text: z.string(), at: instantSchema });

/** A live alert; who acknowledged it, and why, only for readers with that right. */
export const alertSchema = z.object({
  id: z.string(),
  check: z.string(),
  slug: z.string(),
  kind: z.string(),
  state: z.string(),
  severity: z.enum(severities),
  startsAt: instantSchema,
  beganAt: instantSchema.nullable(),
  detectedAt: instantSchema,
  /** A receiver first accepted a message then. */
  notifiedAt: instantSchema.nullable(),
  firingAt: instantSchema.nullable(),
  onsetAt: instantSchema.nullable(),
  marker: onsetMarkerSchema.nullable(),
  silenced: z.boolean(),
  /** null while pending. */
  incidentId: z.string().nullable(),
  incidentNumber: z.number().nullable(),
  acknowledged: z.boolean(),
  judgement: judgementSchema.nullable(),
  peak: z.object({ severity: z.enum(severities), currentCount: z.number().nullable(), at: instantSchema }),
  /** These five are from the last run; null: it had no result, or no such value. */
  currentCount: z.number().nullable(),
  expectedCount: z.number().nullable(),
  /** Also null if none was expected. */
  ratio: z.number().nullable(),
  revivedCount: z.number().nullable(),
  /** Share (0–1) of the deaths with a known asset. */
  revivedShare: z.number().nullable(),
  /** Only for spikes over stored events. */
  excess: z.string().optional(),
  deathsLastHour: z.number().optional(),
  usualPerHour: z.number().optional(),
  excessStoppedAt: instantSchema.nullable().optional(),
  expectedEndAt: instantSchema.nullable().optional(),
  reason: z.string(),
  labels: z.record(z.string(), z.string()),
  url: z.string().nullable(),
  acknowledgement: closed(
    z.object({
      at: instantSchema,
      by: z.string().nullable(),
      note: z.string().nullable(),
      comment: z.string().nullable(),
      severity: z.enum(severities),
    }),
  ),
});

export const commentSchema = z.object({
  at: instantSchema,
  actor: z.string(),
  note: z.string().nullable(),
  text: z.string(),
  act: z.string().nullable(),
});

/** A live or stored alert; an ended one has the result of its worst run. */
export const alertDetailSchema = alertSchema.extend({
  result: keptResultSchema.nullable().optional(),
  resultAt: instantSchema.nullable().optional(),
  endsAt: instantSchema.nullable(),
  /** Only for an alert that is judged `checker`; absent: none of its assets is stored. */
  cost: costSchema.nullable().optional(),
  judgements: closed(
    z.array(
      z.object({
        verdict: z.string(),
        comment: z.string().nullable(),
        by: z.string(),
        note: z.string().nullable(),
        at: instantSchema,
        withdrawnAt: instantSchema.nullable(),
      }),
    ),
  ),
  comments: closed(z.array(commentSchema)),
});

export const alertListSchema = z.object({ alerts: z.array(alertSchema) });

/** `status`: the service answered with this 4xx or 5xx. */
const errorSchema = z.object({ reason: z.string(), message: z.string(), status: z.number().optional() });

const checkAlertSchema = alertSchema.pick({
  id: true,
  kind: true,
  state: true,
  severity: true,
  startsAt: true,
  onsetAt: true,
  marker: true,
  silenced: true,
});

/** An element of `/api/v1/checks`. */
export const checkSchema = z.object({
  check: z.string(),
  slug: z.string(),
  /** null before the first run; `unknown` after a failed one, or if the last verdict is stale. */
  severity: z.enum(severities).nullable(),
  severitySince: instantSchema.nullable(),
  isStale: z.boolean(),
  lastRunAt: instantSchema.nullable(),
  lastSuccessAt: instantSchema.nullable(),
  nextRunAt: instantSchema,
  isRunning: z.boolean(),
  result: keptResultSchema.nullable(),
  error: errorSchema.nullable(),
  alert: checkAlertSchema.nullable(),
  /** Firing before pending, then the more severe first. */
  alerts: z.array(checkAlertSchema),
});

export const runReportSchema = z.object({
  check: z.string(),
  slug: z.string(),
  severity: z.enum(severities),
  startedAt: instantSchema,
  finishedAt: instantSchema,
  result: keptResultSchema.nullable(),
  error: errorSchema.nullable(),
});

/** Says whether deaths may be acted on; author and comment of a release only for readers with that right. */
export const gateSchema = z.object({
  slug: z.string(),
  decision: z.enum(["allow", "hold"]),
  reason: z.string(),
  message: z.string(),
  check: z.string().nullable(),
  alertId: z.string().nullable(),
  since: instantSchema.nullable(),
  suspectFrom: instantSchema.nullable(),
  releases: z.array(
    z.object({
      at: instantSchema,
      how: z.string(),
      alertId: z.string().nullable(),
      by: closed(z.string().nullable()),
      comment: closed(z.string().nullable()),
    }),
  ),
});
export type Gate = z.infer<typeof gateSchema>;

/** The gates that hold, worst first, and the number of open ones. */
export const gateListSchema = z.object({ gates: z.array(gateSchema), open: z.number() });
export type GateList = z.infer<typeof gateListSchema>;
