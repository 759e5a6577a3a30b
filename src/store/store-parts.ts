import { createAuditStore } from "./acts/audit-table.ts";
import { createOutsideActStore } from "./acts/outside-act-table.ts";
import { createAlertStore } from "./alerts/alert-table.ts";
import { createCommentStore } from "./alerts/comment-table.ts";
import { createDeliveryStore } from "./alerts/delivery-table.ts";
import { engineOf, type LeaseClock } from "./engine/engine.ts";
import type { EventSums } from "./events/sums/event-sums.ts";
import { createEvidenceStore } from "./events/evidence-table.ts";
import { createPostgresEventStore } from "./events/postgres/table.ts";
import { createEventStore } from "./events/sqlite/table.ts";
import { createGateStore } from "./alerts/gate-table.ts";
import { createJudgementStore } from "./alerts/judgement-table.ts";
import { createLivenessStore } from "./events/liveness-table.ts";
import { createMarkerStore } from "./alerts/marker-table.ts";
import { createDiscoveryStore } from "./discovery/discovered-list-table.ts";
import { createForgettingStore } from "./forgetting.ts";
import { createMetaStore } from "./engine/meta.ts";
import { createNoticeStore } from "./alerts/notice-table.ts";
import { createOutboxStore } from "./alerts/outbox-table.ts";
import { createPlatformStore } from "./platform/platform.ts";
import { createOwnerStore } from "./runs/owners.ts";
import { createRunStore } from "./runs/run-tables.ts";
import type { Db } from "./schema.ts";
import { createSilenceStore } from "./alerts/silence-table.ts";
import type { StoreParts } from "./store.ts";

export interface PartsOptions {
  readonly leaseClock: LeaseClock;
  /** Where the events are [in the same database]. They take no part in a transaction then. */
  readonly events?: Db;
  /** Sums of the events in memory; null: the database answers everything. */
  readonly sums?: EventSums | null;
}

/** All parts over one connection or transaction, of either engine. */
export function createParts(db: Db, { leaseClock, events = db, sums = null }: PartsOptions): StoreParts {
  return {
    events: engineOf(db) === "postgres" ? createPostgresEventStore(events) : createEventStore(events, sums),
    liveness: createLivenessStore(events),
    evidence: createEvidenceStore(events),
    runs: createRunStore(db),
    owners: createOwnerStore(db, leaseClock),
    alerts: createAlertStore(db),
    outbox: createOutboxStore(db, leaseClock),
    notices: createNoticeStore(db),
    silences: createSilenceStore(db),
    deliveries: createDeliveryStore(db),
    markers: createMarkerStore(db),
    judgements: createJudgementStore(db),
    comments: createCommentStore(db),
    gate: createGateStore(db),
    audit: createAuditStore(db),
    outsideActs: createOutsideActStore(db),
    discovery: createDiscoveryStore(db),
    meta: createMetaStore(db),
    platform: createPlatformStore(db),
    forgetting: createForgettingStore(db),
  };
}
