import { alertColumns, type AlertState, type AlertTables, keptAlert, type KeptAlert } from "./alerts.ts";
import type { Db } from "../tables.ts";

/** An alert that reached fail while it fired. */
export interface GateFailure extends KeptAlert {
  /** Instant at which its last failure was recorded. */
  readonly failedAtMs: number;
  /** Instant of the manual release of the gate since then; null: there was none. */
  readonly releasedAtMs: number | null;
}

/** Failures of the gate, over the table `alerts`. */
export function createGateStore(db: Db<AlertTables>) {
  const failures = () => db.selectFrom("alerts").select(alertColumns).where("failedAtMs", "is not", null);
  return {
    /** Returns the failures of one organization, released or not. */
    failures: async (slug: string): Promise<readonly GateFailure[]> =>
      failuresIn((await failures().where("slug", "=", slug).orderBy("failedAtMs").execute()).map(keptAlert)),
    /** Returns the failures that alerts of other incidents are of the organizations of one, but those that a hand has released. */
    besides: async (incident: number): Promise<readonly GateFailure[]> => {
      const members = db.selectFrom("alerts").select("slug").where("incidentNumber", "=", incident);
      const others = failures().where("releasedAtMs", "is", null).where("incidentNumber", "<>", incident);
      return failuresIn((await others.where("slug", "in", members).execute()).map(keptAlert));
    },
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
  };
}

/** Returns those that are failures of the gate. */
export function failuresIn(kept: readonly KeptAlert[]): GateFailure[] {
  return kept.flatMap(({ alert, end }) => {
    const { failure } = alert;
    return failure === undefined ? [] : [{ alert, end, failedAtMs: failure.atMs, releasedAtMs: failure.releasedAtMs }];
  });
}
