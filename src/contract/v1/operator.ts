import { z } from "zod";

import { instantSchema } from "./instant.ts";

/** A notification in the outbox. */
export const outboxEntrySchema = z.object({
  id: z.string(),
  receiver: z.string(),
  recipient: z.string().nullable(),
  state: z.string(),
  attempts: z.number(),
  lastError: z.string().nullable(),
  /** The number of the incident that it is about; null: of none. */
  incident: z.number().nullable(),
  createdAt: instantSchema,
  /** null: it is dead-lettered. */
  nextAttemptAt: instantSchema.nullable(),
});
export type OutboxEntryAnswer = z.infer<typeof outboxEntrySchema>;

/** A receiver, without its address, which is a secret. */
export const receiverSchema = z.object({
  name: z.string(),
  type: z.string(),
  minSeverity: z.string(),
  sendResolved: z.boolean(),
  pending: z.number(),
  deadLetters: z.number(),
  /** The end of the pause that it asked for (Retry-After); null: none. */
  pausedUntil: instantSchema.nullable(),
});
export type ReceiverAnswer = z.infer<typeof receiverSchema>;

/** The answer of each recipient of a receiver to a test, or to the begin and the end of a sample incident; recipient null: the receiver has no recipients. */
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

/** The organizations that send events and are not configured. */
export const unwatchedSchema = z.object({
  slugs: z.array(z.object({ slug: z.string(), events: z.number(), firstAt: instantSchema, lastAt: instantSchema })),
  /** How many there are beyond the 1,000 that are listed. */
  more: z.number().optional(),
});
export type UnwatchedAnswer = z.infer<typeof unwatchedSchema>;

/** A page of what people and programs did, newest first. */
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

/** What became of posted events. */
export const ingestedSchema = z.object({
  received: z.number(),
  stored: z.number(),
  duplicates: z.number(),
  /** Events whose id is stored with other content. */
  conflicts: z.number(),
  /** Received events by their status, where that is neither a death nor a sign of life: they count for nothing. */
  otherStatuses: z.record(z.string(), z.number()).optional(),
});
export type IngestedAnswer = z.infer<typeof ingestedSchema>;

/** What an import says of itself before it begins. */
export const importPlanSchema = z.strictObject({
  name: z.string().min(1).max(4_096),
  slugs: z.array(z.string()),
  rows: z.int().nonnegative(),
});
export const importBegunSchema = z.object({ id: z.number() });
/** What became of some rows of an import. */
export const importAnswerSchema = z.object({
  received: z.number(),
  stored: z.number(),
  duplicates: z.number(),
  conflicts: z.number(),
  someConflicts: z.array(z.object({ slug: z.string(), id: z.string() })),
});
