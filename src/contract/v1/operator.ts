import { z } from "zod";

import { closed } from "./answer.ts";
import { instantSchema } from "./instant.ts";

export const outboxEntrySchema = z.object({
  id: z.string(),
  receiver: z.string(),
  recipient: z.string().nullable(),
  state: z.string(),
  attempts: z.number(),
  lastError: z.string().nullable(),
  /** The number of its incident; null: it has none. */
  incident: z.number().nullable(),
  createdAt: instantSchema,
  nextAttemptAt: instantSchema.nullable(),
});

/** A receiver, without its secret address. */
export const receiverSchema = z.object({
  name: z.string(),
  type: z.string(),
  minSeverity: z.string(),
  sendResolved: z.boolean(),
  pending: z.number(),
  deadLetters: z.number(),
  /** The receiver asked for a pause until then (Retry-After); null: no pause. */
  pausedUntil: instantSchema.nullable(),
});

/** The answers to a test, or to the beginning and the end of a sample incident; `recipient` null: it has none. */
export const receiverTestSchema = z.object({
  receiver: z.string(),
  accepted: z.boolean(),
  deliveries: z
    .array(
      z.object({
        recipient: z.string().nullable(),
        event: z.string().optional(),
        outcome: z.string(),
        detail: z.string(),
      }),
    )
    .readonly(),
});
export type ReceiverTestAnswer = z.infer<typeof receiverTestSchema>;

export const unwatchedSchema = z.object({
  slugs: z.array(z.object({ slug: z.string(), events: z.number(), firstAt: instantSchema, lastAt: instantSchema })),
});

/** A page of the audit log, newest first. */
export const auditSchema = z.object({
  entries: z.array(
    z.object({
      id: z.string(),
      at: instantSchema,
      actor: z.string(),
      via: z.string(),
      action: z.string(),
      slug: z.string().nullable(),
      subject: z.string().nullable(),
      detail: z.record(z.string(), z.unknown()),
    }),
  ),
  cursor: z.string().optional(),
});
export type AuditAnswer = z.infer<typeof auditSchema>;

const storedSchema = z.object({
  received: z.number(),
  stored: z.number(),
  duplicates: z.number(),
  /** Events whose id is stored with other content. */
  conflicts: z.number(),
});

export const ingestedSchema = storedSchema.extend({
  /** Events by status that are neither deaths nor signs of life: they count for nothing. */
  otherStatuses: z.record(z.string(), z.number()).optional(),
});

/** A client's plan of an import. */
export const importPlanSchema = z.strictObject({
  name: z.string().min(1).max(4_096),
  slugs: z.array(z.string()),
  rows: z.int().nonnegative(),
});
export const importBegunSchema = z.object({ id: z.number() });
export const importAnswerSchema = storedSchema.extend({
  someConflicts: z.array(z.object({ slug: z.string(), id: z.string() })),
});

/** A silence from the configuration or made at run time; a recurring one has no start and end. */
export const silenceSchema = z.object({
  id: z.string().nullable(),
  origin: z.string(),
  state: z.string(),
  slug: z.string().nullable(),
  check: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  startsAt: instantSchema.nullable(),
  endsAt: instantSchema.nullable(),
  schedule: z.string().optional(),
  duration: z.string().optional(),
  timezone: z.string().optional(),
  comment: z.string(),
  createdBy: z.string().nullable(),
  /** The author that the request claims; not verified. */
  note: z.string().nullable(),
  createdAt: instantSchema.nullable(),
  isActive: z.boolean(),
  nextChangeAt: instantSchema.nullable(),
});
export type Silence = z.infer<typeof silenceSchema>;

/** A marker. */
export const markerSchema = z.object({
  id: z.string(),
  at: instantSchema,
  text: z.string(),
  slug: z.string().nullable(),
  createdBy: closed(z.string().nullable()),
  /** The author that the request claims; not verified. */
  note: closed(z.string().nullable()),
  createdAt: instantSchema,
});

/** A valid key of the embedded service, without the key itself. */
export const listedKeySchema = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(["customer", "staff"]),
  organizations: z.array(z.string()),
  createdAt: instantSchema,
});

/** The only answer that has the key itself. */
export const madeKeySchema = listedKeySchema.extend({
  key: z.string(),
  /** Organizations that do not exist yet. */
  unknown: z.array(z.string()).optional(),
});

export const fixtureCountsSchema = z.object({
  organizations: z.number(),
  keys: z.number(),
  assets: z.number(),
  legitimacyRules: z.number(),
  reports: z.number(),
  proposals: z.number(),
});
export type FixtureCounts = z.infer<typeof fixtureCountsSchema>;

/** The rows that were removed; reports of API v2 are `records`. */
export const forgottenSchema = z.object({
  events: z.number(),
  history: z.number(),
  alerts: z.number(),
  silences: z.number(),
  markers: z.number(),
  keys: z.number(),
  records: z.number(),
});
export type ForgottenRows = z.infer<typeof forgottenSchema>;
export type ForgottenKind = keyof ForgottenRows;
