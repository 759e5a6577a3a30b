import { alertColumns, type AlertState, keptAlert, type KeptAlert } from "./alerts.ts";
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
  readonly gate_releases: Omit<GateReleaseEntry, "by"> & {
    readonly releaseId: RowId;
    readonly releasedBy: string | null;
  };
}

const releaseColumns = ["slug", "atMs", "how", "alertId", "releasedBy as by", "comment"] as const;

/** Failures of the gate, over the table `alerts`, and its releases, over `gate_releases`. */
export function createGateStore(db: Db) {
  const failures = () => db.selectFrom("alerts").select(alertColumns).where("failedAtMs", "is not", null);
  return {
    /** Returns the failures of one organization, released or not. */
    failures: async (slug: string): Promise<readonly GateFailure[]> =>
      failuresIn((await failures().where("slug", "=", slug).orderBy("failedAtMs").execute()).map(keptAlert)),
    /**
     * Returns the failures that no hand has released: of alerts that have ended, and of the live ones that the caller has read
     * already, as thousands are not read twice.
     */
    unreleased: async (live: readonly AlertState[]): Promise<readonly GateFailure[]> => {
      const ended = await failures().where("releasedAtMs", "is", null).where("endsAtMs", "is not", null).execute();
      const all = failuresIn([...live.map((alert) => ({ alert, end: null })), ...ended.map(keptAlert)]);
      return all
        .filter(({ releasedAtMs }) => releasedAtMs === null)
        .toSorted((left, right) => left.failedAtMs - right.failedAtMs);
    },
    /** Returns the failures whose alert ended at or before `beforeMs`, released or not. */
    endedBy: async (beforeMs: number): Promise<readonly GateFailure[]> =>
      failuresIn((await failures().where("endsAtMs", "<=", beforeMs).execute()).map(keptAlert)),
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

/** Returns those that are failures of the gate. */
export function failuresIn(kept: readonly KeptAlert[]): GateFailure[] {
  return kept.flatMap(({ alert, end }) => {
    const { failure } = alert;
    return failure === undefined ? [] : [{ alert, end, failedAtMs: failure.atMs, releasedAtMs: failure.releasedAtMs }];
  });
}
