import { CamelCasePlugin, type ColumnType, type Kysely } from "kysely";
import type { ActNoticeTables } from "./alerts/act-notices.ts";
import type { AuditTables } from "./acts/audit.ts";
import type { OutsideAct } from "./acts/outside-acts.ts";
import type { SessionTables } from "./acts/sessions.ts";
import type { AlertTables } from "./alerts/alerts.ts";
import type { DeliveryTables } from "./alerts/deliveries.ts";
import type { IncidentTables } from "./alerts/incidents.ts";
import type { LogTables } from "./alerts/log.ts";
import type { LookTables } from "./alerts/looks.ts";
import type { Marker } from "./alerts/markers.ts";
import type { QueuedTables } from "./alerts/queued.ts";
import type { OutboxTables } from "./alerts/outbox.ts";
import type { SilenceTables } from "./alerts/silences.ts";
import type { DiscoveryTables } from "./discovery/discovered-lists.ts";
import type { PlatformTables } from "./platform/platform.ts";
import type { PlainDb } from "./schema.ts";

/** An integer primary key that the database numbers. */
export type RowId = ColumnType<number, number | undefined, never>;

/**
 * The tables of all but runs and events. Columns have the names that the code gives them; in the database and in SQL they are
 * written with underscores.
 */
export interface Tables
  extends
    AuditTables,
    SessionTables,
    AlertTables,
    DeliveryTables,
    IncidentTables,
    LogTables,
    LookTables,
    QueuedTables,
    ActNoticeTables,
    OutboxTables,
    SilenceTables,
    DiscoveryTables,
    PlatformTables {
  readonly markers: Marker;
  readonly outside_acts: OutsideAct;
  readonly meta: { readonly name: string; readonly value: string };
}

/** The database, or a transaction on it: the stores do not distinguish them. */
export type Db = Kysely<Tables>;

const spelling = new CamelCasePlugin({ maintainNestedObjectKeys: true });

/** Returns the same connection or transaction for the tables whose columns are named as in the code. */
export function namedAsInCode(db: PlainDb): Db {
  return db.withPlugin(spelling) as unknown as Db;
}
