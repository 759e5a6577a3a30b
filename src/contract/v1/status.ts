import { z } from "zod";

import { severities } from "../severity.ts";
import { instantSchema } from "./instant.ts";

const receiverSchema = z.object({
  name: z.string(),
  state: z.enum(["ok", "warn", "fail"]),
  waiting: z.number(),
  oldestAt: instantSchema.nullable(),
  deadLetters: z.number(),
  pausedUntil: instantSchema.nullable(),
  lastError: z.object({ at: instantSchema, text: z.string() }).nullable(),
});

/** A source of organizations; `held` is what a list that is held back would change. */
export const discoverySchema = z.object({
  name: z.string(),
  up: z.boolean(),
  organizations: z.number(),
  refreshedAt: instantSchema.nullable(),
  problem: z.string().nullable(),
  held: z.object({ reason: z.enum(["empty", "shrunk"]), added: z.number(), removed: z.number() }).nullable(),
});

/** The daemon as a whole; receivers, unwatched slugs and discovery only for readers with that right. */
export const statusSchema = z.object({
  at: instantSchema,
  sentence: z.string(),
  severity: z.enum(severities),
  organizations: z.number(),
  severities: z.object({ ok: z.number(), warn: z.number(), fail: z.number(), unknown: z.number() }),
  alerts: z.object({
    firing: z.number(),
    acknowledged: z.number(),
    pending: z.number(),
    silenced: z.number(),
  }),
  unattended: z.number(),
  /** null: the store cannot be read (`store.problem`). */
  gate: z
    .object({
      held: z.number(),
      longest: z.object({ slug: z.string(), since: instantSchema.nullable() }).nullable(),
      /** The numbers of the incidents that hold them. */
      incidents: z.array(z.number()),
    })
    .nullable(),
  runs: z.object({ checks: z.number(), late: z.number(), lastAt: instantSchema.nullable() }),
  store: z.object({ bytes: z.number().nullable(), problem: z.string().nullable() }),
  daemon: z.object({ version: z.string(), startedAt: instantSchema }),
  receivers: z.array(receiverSchema).optional(),
  unwatched: z.array(z.string()).optional(),
  discovery: z.array(discoverySchema).optional(),
  /** Imports of events that have not ended: they run, or were killed. */
  imports: z
    .array(
      z.object({
        name: z.string(),
        rows: z.number(),
        received: z.number(),
        organizations: z.number(),
        startedAt: instantSchema,
        renewedAt: instantSchema,
        isRunning: z.boolean(),
      }),
    )
    .optional(),
  /** Posts of events that are refused now; null: none is. */
  refused: z
    .object({ posts: z.number(), since: instantSchema, lastAt: instantSchema, example: z.string() })
    .nullable()
    .optional(),
});
export type DaemonStatus = z.infer<typeof statusSchema>;
