import type { CheckName } from "../../contract/report.ts";
import { type AlertState, type JoinedAlert, keptAlert, type KeptAlert, keptAlerts } from "./alerts.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { Db, RowId } from "../tables.ts";

/** An alert that reached fail while it fired. */
export interface GateFailure extends KeptAlert {
  /** Instant at which its last failure was recorded. */
  readonly failedAtMs: number;
  /** Instant of the manual release of the gate since then; null: there was none. */
  readonly releasedAtMs: number | null;
}

/** The end of a hold: by hand for all failures, or of the failure of one alert. */
export interface GateReleaseEntry {
  readonly slug: string;
  readonly atMs: number;
  readonly how: "released" | "judged" | "resolved";
  /** null: by hand. */
  readonly alertId: string | null;
  readonly by: string | null;
  readonly comment: string | null;
}

export interface GateTables {
  readonly gate_failures: {
    readonly alertId: string;
    readonly checkName: CheckName;
    readonly slug: string;
    readonly failedAtMs: number;
    readonly releasedAtMs: number | null;
  };
  readonly gate_releases: Omit<GateReleaseEntry, "by"> & {
    readonly releaseId: RowId;
    readonly releasedBy: string | null;
  };
}

const releaseColumns = ["slug", "atMs", "how", "alertId", "releasedBy as by", "comment"] as const;

/** Failures and releases of the gate, over the tables `gate_failures` and `gate_releases`. */
export function createGateStore(db: Db) {
  return {
    /** Notes that an alert has become a failure, for the first time or again. */
    fail: async (
      { id, check, slug }: { readonly id: string; readonly check: CheckName; readonly slug: string },
      atMs: number,
    ): Promise<void> => {
      await db
        .insertInto("gate_failures")
        .values({ alertId: id, checkName: check, slug, failedAtMs: atMs, releasedAtMs: null })
        .onConflict((conflict) => conflict.column("alertId").doUpdateSet({ failedAtMs: atMs, releasedAtMs: null }))
        .execute();
    },
    /** Returns the failures of one organization, released or not. */
    failures: async (slug: string): Promise<readonly GateFailure[]> =>
      (await failureRows(db).where("gate_failures.slug", "=", slug).execute()).flatMap(failureOf),
    /**
     * Returns the failures that no hand has released: of alerts that have ended, and of the live ones that the caller has read
     * already, as thousands are not read twice.
     */
    unreleased: async (live: readonly AlertState[]): Promise<readonly GateFailure[]> => {
      const alerts = new Map(live.map((alert) => [alert.id, alert]));
      const rows = db
        .selectFrom("gate_failures")
        .leftJoin("ended_alerts", "ended_alerts.id", "gate_failures.alertId")
        .select(["gate_failures.alertId", "failedAtMs", "releasedAtMs", "ended_alerts.body", "ended_alerts.endBody"])
        .where("releasedAtMs", "is", null)
        .orderBy("failedAtMs");
      const wanted = live.length === 0 ? rows.where("ended_alerts.id", "is not", null) : rows;
      return (await wanted.execute()).flatMap(({ alertId, body, endBody, ...times }): GateFailure[] => {
        const alert = alerts.get(alertId);
        if (alert !== undefined) return [{ alert, end: null, ...times }];
        return body === null ? [] : [{ ...keptAlert({ body, endBody }), ...times }];
      });
    },
    /** Returns the times of the failures that no hand has released, by alert: for a caller that has the alerts. */
    unreleasedTimes: async (): Promise<ReadonlyMap<string, Pick<GateFailure, "failedAtMs" | "releasedAtMs">>> => {
      const rows = db.selectFrom("gate_failures").select(["alertId", "failedAtMs", "releasedAtMs"]);
      const found = await rows.where("releasedAtMs", "is", null).execute();
      return new Map(found.map(({ alertId, ...times }) => [alertId, times]));
    },
    /** Returns the failures whose alert ended at or before `beforeMs`, released or not. */
    endedBy: async (beforeMs: number): Promise<readonly GateFailure[]> =>
      (await failureRows(db).where("ended_alerts.endsAtMs", "<=", beforeMs).execute()).flatMap(failureOf),
    /** Releases by hand all that have failed by now. */
    releaseAll: async (slug: string, atMs: number): Promise<void> => {
      const open = db.updateTable("gate_failures").set({ releasedAtMs: atMs }).where("slug", "=", slug);
      await open.where("releasedAtMs", "is", null).execute();
    },
    /** Releases by hand what one alert holds. */
    release: async (alertId: string, atMs: number): Promise<void> => {
      await db.updateTable("gate_failures").set({ releasedAtMs: atMs }).where("alertId", "=", alertId).execute();
    },
    /** Deletes these failures, so that their alerts can be pruned. */
    forget: async (alertIds: readonly string[]): Promise<void> => {
      for (const ids of chunksOf(alertIds)) await db.deleteFrom("gate_failures").where("alertId", "in", ids).execute();
    },
    addRelease: async ({ by, ...release }: GateReleaseEntry): Promise<void> => {
      await db
        .insertInto("gate_releases")
        .values({ ...release, releasedBy: by })
        .execute();
    },
    /** The latest ones, newest first. */
    releases: (slug: string, limit: number): Promise<readonly GateReleaseEntry[]> => {
      const rows = db.selectFrom("gate_releases").select(releaseColumns).where("slug", "=", slug);
      return rows.orderBy("atMs", "desc").orderBy("releaseId", "desc").limit(limit).execute();
    },
    /** Deletes releases before `beforeMs`. */
    prune: async (beforeMs: number): Promise<void> => {
      await db.deleteFrom("gate_releases").where("atMs", "<", beforeMs).execute();
    },
  };
}

function failureRows(db: Db) {
  return db
    .selectFrom("gate_failures")
    .leftJoin("alerts", "alerts.id", "gate_failures.alertId")
    .leftJoin("ended_alerts", "ended_alerts.id", "gate_failures.alertId")
    .select(["failedAtMs", "releasedAtMs"])
    .select(["alerts.body as liveBody", "ended_alerts.body as endedBody", "ended_alerts.endBody"])
    .orderBy("failedAtMs");
}

/** None for a failure without its alert. */
function failureOf({ failedAtMs, releasedAtMs, ...bodies }: FailureRow): GateFailure[] {
  return keptAlerts(bodies).map((kept) => ({ ...kept, failedAtMs, releasedAtMs }));
}

interface FailureRow extends JoinedAlert {
  readonly failedAtMs: number;
  readonly releasedAtMs: number | null;
}
