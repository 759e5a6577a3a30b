import { z } from "zod";

import { lookAnswers, lookRoles, opinionVerdicts } from "../second-opinion.ts";
import { severities } from "../severity.ts";
import { alertSchema, commentSchema, costSchema } from "./alerts.ts";
import { closed } from "./answer.ts";
import { instantSchema } from "./instant.ts";

const opinionSchema = z.object({
  /** Dead assets that were asked about; of these, the next two showed life and death. */
  asked: z.number(),
  alive: z.number(),
  gone: z.number(),
  verdict: z.enum(opinionVerdicts),
  finding: z.string(),
});

/** Alerts that began together (CONTRACT 15): totals of the alerts that the reader may see. */
export const incidentSchema = z.object({
  id: z.string(),
  /** Counts from 1; paths accept it in place of the id. */
  number: z.number(),
  url: z.string().nullable(),
  family: z.string(),
  /** Whole sentences: who, how many and since when; then the cause, the judgement and what is on hold. */
  headline: z.array(z.string()),
  startedAt: instantSchema,
  endedAt: instantSchema.nullable(),
  severity: z.enum(severities),
  organizations: z.number(),
  firing: z.number(),
  deaths: z.object({ count: z.number(), expected: z.number() }).nullable(),
  onsetAt: instantSchema.nullable(),
  excessStoppedAt: instantSchema.nullable(),
  likelyCause: z.string(),
  carriers: z.array(z.object({ key: z.string(), value: z.string(), share: z.number(), usualShare: z.number() })),
  secondOpinion: opinionSchema.nullable(),
  acknowledgedBy: closed(z.string().nullable()),
  held: z.number(),
  fleet: z
    .object({
      id: z.string(),
      startsAt: instantSchema,
      spiking: z.number(),
      organizations: z.number(),
      together: z.number(),
      usual: z.number(),
      probability: z.number(),
    })
    .nullable(),
});

export const incidentListSchema = z.object({ incidents: z.array(incidentSchema), cursor: z.string().optional() });

export const incidentDetailSchema = incidentSchema.extend({
  secondOpinion: opinionSchema
    .extend({
      answers: closed(
        z.array(
          z.object({
            asset: z.string(),
            assetType: z.string().nullable(),
            role: z.enum(lookRoles),
            answer: z.enum(lookAnswers),
            detail: z.string().nullable(),
          }),
        ),
      ),
    })
    .nullable(),
  alerts: z.array(alertSchema.extend({ endsAt: instantSchema.nullable() })),
  /** Alerts by verdict. */
  judgements: closed(z.record(z.string(), z.number())),
  /** A comment on one alert has its `slug`. */
  comments: closed(z.array(commentSchema.extend({ slug: z.string().nullable() }))),
  /** null: no alert is judged `checker`. */
  cost: costSchema.nullable(),
});
export type IncidentDetailAnswer = z.infer<typeof incidentDetailSchema>;

const actedAlertSchema = z.object({ slug: z.string(), alertId: z.string() });

/** The result of an act on an incident; a dry run only predicts it. */
export const incidentActSchema = z.object({
  done: z.array(actedAlertSchema),
  skipped: z.array(actedAlertSchema.extend({ reason: z.string() })),
  gatesOpened: z.array(z.string()),
  gatesHeld: z.array(z.string()),
});
export type IncidentActAnswer = z.infer<typeof incidentActSchema>;

export const lookSchema = z.object({
  /** Counts from 1 per incident. */
  look: z.number(),
});

export const deadAssetSchema = z.object({
  asset: z.string(),
  assetType: z.string().nullable(),
  deadAt: instantSchema,
  attributes: z.record(z.string(), z.string()),
  revivedAt: instantSchema.nullable(),
});

/** A page of the assets that died in an alert; the counts are of the whole alert. */
export const deadAssetPageSchema = z.object({
  alertId: z.string(),
  fromAt: instantSchema,
  toAt: instantSchema,
  count: z.number(),
  knownCount: z.number(),
  assets: z.array(deadAssetSchema),
  cursor: z.string().optional(),
});

export const incidentAssetSchema = deadAssetSchema.extend({
  slug: z.string(),
  /** The verifier's answer; null: none. */
  answer: z.enum(lookAnswers).nullable(),
});

/** A page of the assets that died in an incident; the counts ignore the filters. */
export const incidentAssetPageSchema = deadAssetPageSchema.omit({ alertId: true }).extend({
  incidentId: z.string(),
  number: z.number(),
  /** How many showed life to the verifier; `revivedCount`: how many events found alive since. */
  seenAliveCount: z.number(),
  revivedCount: z.number(),
  assets: z.array(incidentAssetSchema),
});
export type IncidentAssetPage = z.infer<typeof incidentAssetPageSchema>;
