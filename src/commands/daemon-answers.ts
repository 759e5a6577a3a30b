import { z } from "zod";
import type { CheckName } from "../contract/report.ts";
import { severities } from "../contract/severity.ts";

/** What a request claims about its author; not verified. */
const note = z.string().nullable().optional();

/** The judgement of an alert; its author and comment only for readers with that right. */
const judgementSchema = z.looseObject({
  verdict: z.string(),
  at: z.string(),
  by: z.string().nullable().optional(),
  note,
  comment: z.string().nullable().optional(),
});

/** A live alert as the daemon lists it; `GET /api/v1/alerts` may say more. Times are ISO 8601. */
export const alertSchema = z.looseObject({
  id: z.string(),
  check: z.string(),
  slug: z.string(),
  kind: z.string(),
  state: z.string(),
  severity: z.string(),
  startsAt: z.string(),
  notifiedAt: z.string().nullable().optional(),
  onsetAt: z.string().nullable().optional(),
  marker: z.looseObject({ text: z.string(), at: z.string() }).nullable().optional(),
  peak: z.looseObject({ currentCount: z.number().nullable() }).optional(),
  silenced: z.boolean(),
  acknowledged: z.boolean(),
  reason: z.string(),
  acknowledgement: z.looseObject({ by: z.string().nullable(), note, comment: z.string().nullable() }).optional(),
  judgement: judgementSchema.nullable().optional(),
});
export type LiveAlert = z.infer<typeof alertSchema>;

/** What lives, and the fleet verdict while it lasts. */
export const alertListSchema = z.looseObject({
  alerts: z.array(alertSchema),
  fleet: z
    .looseObject({ id: z.string(), startsAt: z.string(), spiking: z.number(), organizations: z.number() })
    .nullable(),
});
export type LiveAlerts = z.infer<typeof alertListSchema>;

/** What is read of a check: the alerts of it that ended lately, newest first. Times are ISO 8601. */
export const endedSchema = z.looseObject({
  endedAlerts: z.array(
    z.looseObject({
      id: z.string(),
      kind: z.string(),
      severity: z.string(),
      startsAt: z.string(),
      endsAt: z.string(),
      reason: z.string(),
      judgedCount: z.number().nullable(),
      revivedCount: z.number().nullable(),
      revisedCause: z.string().nullable().optional(),
      judgement: judgementSchema.nullable().optional(),
    }),
  ),
});
/** An alert that ended, with how many of its deaths are undone. */
export type EndedAlertRow = z.infer<typeof endedSchema>["endedAlerts"][number] & { readonly check: CheckName };

/** Whether an organization's deaths may be acted on; times are ISO 8601. */
export const gateSchema = z.looseObject({
  slug: z.string(),
  decision: z.enum(["allow", "hold"]),
  reason: z.string(),
  message: z.string(),
  check: z.string().nullable(),
  alertId: z.string().nullable(),
  since: z.string().nullable(),
  suspectFrom: z.string().nullable(),
  opens: z.string().nullable().optional(),
});
export type Gate = z.infer<typeof gateSchema>;
/** The gates that hold, worst first, and how many others are open. */
export const gateListSchema = z.looseObject({ gates: z.array(gateSchema), open: z.number() });
export type GateList = z.infer<typeof gateListSchema>;

/** The fields that distinguish alerts whose ids begin alike; live and ended ones. */
export const alertIdsSchema = z.looseObject({
  alerts: z.array(alertSchema.pick({ id: true, slug: true, check: true, severity: true, state: true, startsAt: true })),
});
export type IdentifiedAlert = z.infer<typeof alertIdsSchema>["alerts"][number];

/** A silence as the daemon lists it; a recurring one has a schedule in place of its start and end. */
export const silenceSchema = z.looseObject({
  id: z.string().nullable(),
  origin: z.string(),
  state: z.string(),
  slug: z.string().nullable(),
  check: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  startsAt: z.string().nullable(),
  endsAt: z.string().nullable(),
  schedule: z.string().optional(),
  duration: z.string().optional(),
  timezone: z.string().optional(),
  comment: z.string(),
  createdBy: z.string().nullable(),
  note,
});
export type Silence = z.infer<typeof silenceSchema>;

/** Where a person may want to go on the daemon's page. */
export const placesSchema = z.looseObject({ places: z.array(z.looseObject({ kind: z.string(), name: z.string() })) });

/** A marker as the daemon lists it, who made it only with the token; times are ISO 8601. */
export const markerSchema = z.looseObject({
  id: z.string(),
  at: z.string(),
  text: z.string(),
  slug: z.string().nullable(),
  createdBy: z.string().nullable().optional(),
  note,
});
export type ListedMarker = z.infer<typeof markerSchema>;

/** The daemon as a whole. Receivers and unwatched slugs only for who may read them; times are ISO 8601. */
export const statusSchema = z.looseObject({
  at: z.string(),
  sentence: z.string(),
  severity: z.enum(severities),
  organizations: z.number(),
  severities: z.record(z.enum(severities), z.number()),
  alerts: z.looseObject({
    firing: z.number(),
    acknowledged: z.number(),
    pending: z.number(),
    silenced: z.number(),
  }),
  gate: z
    .looseObject({
      held: z.number(),
      longest: z.looseObject({ slug: z.string(), since: z.string().nullable() }).nullable(),
    })
    .nullable(),
  receivers: z
    .array(
      z.looseObject({
        name: z.string(),
        state: z.enum(["ok", "warn", "fail"]),
        waiting: z.number(),
        oldestAt: z.string().nullable(),
        deadLetters: z.number(),
        pausedUntil: z.string().nullable(),
        lastError: z.looseObject({ at: z.string(), text: z.string() }).nullable(),
      }),
    )
    .optional(),
  runs: z.looseObject({ checks: z.number(), late: z.number(), lastAt: z.string().nullable() }),
  store: z.looseObject({ bytes: z.number().nullable(), problem: z.string().nullable() }),
  unwatched: z.array(z.string()).optional(),
  daemon: z.looseObject({ version: z.string(), startedAt: z.string() }),
});
export type DaemonStatus = z.infer<typeof statusSchema>;
