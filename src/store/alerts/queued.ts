import { sql } from "kysely";
import { z } from "zod";

import { dayMs } from "../../base/time.ts";
import type { Severity } from "../../contract/severity.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { Db } from "../tables.ts";
import type { IncidentTables } from "./incidents.ts";
import { addressKey, type Address } from "./outbox.ts";

/** What was put into the outbox about an alert for a receiver; no row: nothing was. */
export interface QueuedAlert extends Address {
  readonly alertId: string;
  /** The number of its incident. */
  readonly incident: number;
  /** The last severity that was queued; null: its notification was not delivered. */
  readonly severity: Severity | null;
  /** Whether the end was queued, too, or the receiver wants none. */
  readonly isEnded: boolean;
  /** When that was queued: `generatedAtMs` of the notification. */
  readonly queuedAtMs: number;
  /** When a later notification was given up, so that this holds again; null: none was. */
  readonly notDeliveredAtMs: number | null;
}

const count = z.number();
const bodySchema = z.object({
  /** When the last notification was formed. */
  lastAtMs: count,
  /** When the last one that named new alerts was formed. */
  lastNewAtMs: count,
  /** How many alerts the receiver's part of the incident had then. */
  members: count,
  knowsVerdict: z.boolean(),
  isEscalated: z.boolean(),
  /** Whether it knows that the excess has stopped. */
  knowsStop: z.boolean(),
  /** The number of the look whose second opinion it knows; 0: none. */
  knownLook: count,
  /** The incident's `outlived` at the acknowledgement that it knows; null: it knows of none. */
  acknowledgedKey: count.nullable(),
});

/** What was put into the outbox about an incident for a receiver. */
export interface QueuedIncident extends Address, Readonly<z.infer<typeof bodySchema>> {
  readonly incident: number;
}

export interface Queued {
  readonly alerts: readonly QueuedAlert[];
  readonly incidents: readonly QueuedIncident[];
}

/** A notification, as far as it changed what is queued. */
export interface QueuedMessage extends Address {
  readonly generatedAtMs: number;
  readonly alerts: readonly {
    readonly id: string;
    readonly event: string;
    readonly severity: Severity;
    readonly previousSeverity: Severity;
  }[];
}

/** How long the state of a receiver outlives the receiver. */
const keptMs = dayMs;

export interface QueuedTables {
  readonly queued_alerts: Omit<QueuedAlert, "recipient" | "isEnded"> & {
    /** Empty: none. */
    readonly recipient: string;
    readonly isEnded: number;
  };
  readonly queued_incidents: {
    readonly receiver: string;
    readonly recipient: string;
    readonly incident: number;
    readonly goneAtMs: number | null;
    /** The rest of the QueuedIncident as JSON. */
    readonly body: string;
  };
}

/** What receivers know, if all that waits is delivered, over the tables `queued_alerts` and `queued_incidents`. */
export function createQueuedStore(db: Db<QueuedTables & IncidentTables>) {
  return {
    all: async (): Promise<Queued> => {
      const alerts = await db.selectFrom("queued_alerts").selectAll().execute();
      const incidents = await db.selectFrom("queued_incidents").selectAll().execute();
      return {
        alerts: alerts.map((row) => ({ ...row, recipient: row.recipient || null, isEnded: row.isEnded === 1 })),
        incidents: incidents.map(({ receiver, recipient, incident, body }) => {
          return { receiver, recipient: recipient || null, incident, ...bodySchema.parse(JSON.parse(body)) };
        }),
      };
    },
    /** Written in the transaction that fills the outbox. */
    save: async ({ alerts, incidents }: Queued): Promise<void> => {
      for (const slice of chunksOf(alerts))
        await db
          .insertInto("queued_alerts")
          .values(slice.map((row) => ({ ...row, recipient: row.recipient ?? "", isEnded: Number(row.isEnded) })))
          .onConflict((conflict) =>
            conflict.columns(["alertId", "receiver", "recipient"]).doUpdateSet((row) => ({
              severity: row.ref("excluded.severity"),
              isEnded: row.ref("excluded.isEnded"),
              queuedAtMs: row.ref("excluded.queuedAtMs"),
              notDeliveredAtMs: row.ref("excluded.notDeliveredAtMs"),
            })),
          )
          .execute();
      for (const { receiver, recipient, incident, ...body } of incidents) {
        const row = { receiver, recipient: recipient ?? "", incident, goneAtMs: null, body: JSON.stringify(body) };
        await db
          .insertInto("queued_incidents")
          .values(row)
          .onConflict((conflict) => conflict.columns(["receiver", "recipient", "incident"]).doUpdateSet(row))
          .execute();
      }
    },
    /** A notification was given up: its alerts go back to what was queued before, unless more was queued since. */
    goBack: (told: QueuedMessage, nowMs: number): Promise<void> => move(db, told, "before", nowMs),
    /** The notification is queued again. */
    goForward: (told: QueuedMessage): Promise<void> => move(db, told, "after", null),
    /** Forgets what was queued of these alerts, which are kept no more. */
    forget: async (alertIds: readonly string[]): Promise<void> => {
      for (const slice of chunksOf(alertIds))
        await db.deleteFrom("queued_alerts").where("alertId", "in", slice).execute();
    },
    /** Forgets ended incidents whose end no receiver waits for, and receivers that are gone for a day. */
    tidy: async (nowMs: number): Promise<void> => {
      const open = db
        .selectFrom("queued_alerts")
        .select("incident")
        .where("isEnded", "=", 0)
        .where("severity", "is not", null);
      const lasting = db.selectFrom("incidents").select("number").where("endedAtMs", "is", null);
      const gone = sql`
        select receiver, recipient, incident from queued_incidents where gone_at_ms <= ${nowMs - keptMs}`;
      for (const table of ["queued_alerts", "queued_incidents"] as const) {
        await sql`delete from ${sql.table(table)} where (receiver, recipient, incident) in (${gone})`.execute(db);
        await db.deleteFrom(table).where("incident", "not in", lasting).where("incident", "not in", open).execute();
      }
    },
    /** Notes which addresses are not configured: their state is kept for a day, because the name may come back. */
    keepAddresses: async (addresses: readonly Address[], nowMs: number): Promise<void> => {
      const named = new Set(addresses.map(addressKey));
      const stored = await db.selectFrom("queued_incidents").select(["receiver", "recipient"]).distinct().execute();
      for (const { receiver, recipient } of stored) {
        const isNamed = named.has(addressKey({ receiver, recipient: recipient || null }));
        await db
          .updateTable("queued_incidents")
          .set({ goneAtMs: isNamed ? null : nowMs })
          .where("receiver", "=", receiver)
          .where("recipient", "=", recipient)
          .where("goneAtMs", isNamed ? "is not" : "is", null)
          .execute();
      }
    },
  };
}

const changing = new Set(["firing", "unknown", "escalated", "deescalated"]);

/** Sets the alerts of a message to what was queued before it, or with it; what ended stays so. */
async function move(
  db: Db<QueuedTables & IncidentTables>,
  { receiver, recipient, generatedAtMs, alerts }: QueuedMessage,
  to: "before" | "after",
  notDeliveredAtMs: number | null,
): Promise<void> {
  const bySeverity = Map.groupBy(
    alerts.filter(({ event }) => changing.has(event)),
    ({ severity, previousSeverity }) =>
      to === "after" ? severity : previousSeverity === "ok" ? null : previousSeverity,
  );
  for (const [severity, some] of bySeverity)
    for (const ids of chunksOf(some.map(({ id }) => id)))
      await db
        .updateTable("queued_alerts")
        .set({ severity, notDeliveredAtMs })
        .where("receiver", "=", receiver)
        .where("recipient", "=", recipient ?? "")
        .where("alertId", "in", ids)
        .where("queuedAtMs", "=", generatedAtMs)
        .where("isEnded", "=", 0)
        .where("notDeliveredAtMs", to === "after" ? "is not" : "is", null)
        .execute();
}
