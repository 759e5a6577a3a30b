import { createAuditStore } from "./acts/audit.ts";
import { createOutsideActStore } from "./acts/outside-acts.ts";
import { createSessionStore } from "./acts/sessions.ts";
import { createActNoticeStore } from "./alerts/act-notices.ts";
import { createAlertStore, createBodyReader } from "./alerts/alerts.ts";
import { createDeliveryStore } from "./alerts/deliveries.ts";
import { createEvidenceStore } from "./events/evidence.ts";
import type { CountCache } from "./events/count-cache.ts";
import { createEventStore } from "./events/events.ts";
import { createImportStore } from "./events/imports.ts";
import { createGateStore } from "./alerts/gate.ts";
import { createIncidentStore } from "./alerts/incidents.ts";
import { createAlertLog } from "./alerts/log.ts";
import { createLivenessStore } from "./events/liveness.ts";
import { createLookStore } from "./alerts/looks.ts";
import { createMarkerStore } from "./alerts/markers.ts";
import { createDiscoveryStore } from "./discovery/discovered-lists.ts";
import { createForgettingStore } from "./forgetting.ts";
import { createMetaStore } from "./engine/meta.ts";
import { createQueuedStore } from "./alerts/queued.ts";
import { createOutboxStore } from "./alerts/outbox.ts";
import { createPlatformStore, type KnownKeys } from "./platform/platform.ts";
import { createCheckTable } from "./runs/checks.ts";
import { createHistory } from "./runs/history.ts";
import { namedAsInCode, type PlainDb } from "./tables.ts";
import { createSilenceStore } from "./alerts/silences.ts";

/** The parts of the store; inside `transaction` all of them act on the same transaction. */
export type StoreParts = ReturnType<ReturnType<typeof createPartsFactory>>;

/** Returns a function that creates all parts over a connection or transaction; they share the caches. */
export function createPartsFactory(cache: CountCache | null, knownKeys: KnownKeys | null = null) {
  const readAlertBodies = createBodyReader();
  return (plain: PlainDb) => {
    const named = namedAsInCode(plain);
    return {
      events: createEventStore(plain, cache),
      imports: createImportStore(plain),
      liveness: createLivenessStore(plain),
      evidence: createEvidenceStore(plain),
      runs: { ...createCheckTable(plain), ...createHistory(plain) },
      alerts: createAlertStore(named(), readAlertBodies),
      incidents: createIncidentStore(named()),
      looks: createLookStore(named()),
      outbox: createOutboxStore(named()),
      queued: createQueuedStore(named()),
      actNotices: createActNoticeStore(named()),
      silences: createSilenceStore(named()),
      deliveries: createDeliveryStore(named()),
      markers: createMarkerStore(named()),
      log: createAlertLog(named()),
      gate: createGateStore(named()),
      audit: createAuditStore(named()),
      outsideActs: createOutsideActStore(named()),
      sessions: createSessionStore(named()),
      discovery: createDiscoveryStore(named()),
      meta: createMetaStore(named()),
      platform: createPlatformStore(named(), knownKeys),
      forgetting: createForgettingStore(named(), knownKeys),
    };
  };
}
