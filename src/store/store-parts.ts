import { createAlertStore } from "./alert-table.ts";
import { createDeliveryStore } from "./delivery-table.ts";
import { engineOf, type LeaseClock } from "./engine.ts";
import type { EventSums } from "./event-sums.ts";
import { createEvidenceStore } from "./event-evidence-table.ts";
import { createPostgresEventStore } from "./event-postgres-table.ts";
import { createEventStore } from "./event-table.ts";
import { createGateStore } from "./gate-table.ts";
import { createLivenessStore } from "./liveness-table.ts";
import { createMarkerStore } from "./marker-table.ts";
import { createMetaStore } from "./meta.ts";
import { createNoticeStore } from "./notice-table.ts";
import { createOutboxStore } from "./outbox-table.ts";
import { createPlatformStore } from "./platform-table.ts";
import { createScheduleStore } from "./schedule-table.ts";
import type { Db } from "./schema.ts";
import { createSilenceStore } from "./silence-table.ts";
import type { StoreParts } from "./store.ts";
import { createVerdictStore } from "./verdict-table.ts";

export interface PartsOptions {
  readonly leaseClock: LeaseClock;
  /** Sums of the events in memory; null: the database answers everything. */
  readonly sums?: EventSums | null;
}

/** All parts over one connection or transaction, of either engine. */
export function createParts(db: Db, { leaseClock, sums = null }: PartsOptions): StoreParts {
  return {
    events: engineOf(db) === "postgres" ? createPostgresEventStore(db) : createEventStore(db, sums),
    liveness: createLivenessStore(db),
    evidence: createEvidenceStore(db),
    schedule: createScheduleStore(db, leaseClock),
    verdicts: createVerdictStore(db),
    alerts: createAlertStore(db),
    outbox: createOutboxStore(db, leaseClock),
    notices: createNoticeStore(db),
    silences: createSilenceStore(db),
    deliveries: createDeliveryStore(db),
    markers: createMarkerStore(db),
    gate: createGateStore(db),
    meta: createMetaStore(db),
    platform: createPlatformStore(db),
  };
}
