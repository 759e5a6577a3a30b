import { alertColumns, alertOf, type Alert, type AlertTables } from "./alerts.ts";
import type { Db } from "../tables.ts";

/** An alert that reached fail while it fired. */
export type GateFailure = Alert & Required<Pick<Alert, "failure">>;

/** Failures of the gate, over the table `alerts`. */
export function createGateStore(db: Db<AlertTables>) {
  const failures = () => db.selectFrom("alerts").select(alertColumns).where("failedAtMs", "is not", null);
  const read = async (rows: ReturnType<typeof failures>): Promise<readonly GateFailure[]> =>
    failuresIn((await rows.execute()).map((row) => alertOf(row)));
  return {
    /** Returns the failures of one organization, released or not. */
    failures: (slug: string) => read(failures().where("slug", "=", slug).orderBy("failedAtMs")),
    /** Returns the unreleased failures of an incident's organizations by alerts of other incidents. */
    besides: (incident: number) => {
      const members = db.selectFrom("alerts").select("slug").where("incidentNumber", "=", incident);
      const others = failures().where("releasedAtMs", "is", null).where("incidentNumber", "<>", incident);
      return read(others.where("slug", "in", members));
    },
    /** Returns the failures that no person has released: of ended alerts, and of `live`, which the caller has read. */
    unreleased: async (live: readonly Alert[]): Promise<readonly GateFailure[]> => {
      const ended = await read(failures().where("releasedAtMs", "is", null).where("endsAtMs", "is not", null));
      return [...failuresIn(live), ...ended]
        .filter(({ failure }) => failure.releasedAtMs === null)
        .toSorted((left, right) => left.failure.atMs - right.failure.atMs);
    },
    /** Returns the failures whose alert ended at or before `beforeMs`, released or not. */
    endedBy: (beforeMs: number) => read(failures().where("endsAtMs", "<=", beforeMs)),
  };
}

/** Returns those that are failures of the gate. */
export function failuresIn<Some extends Alert>(alerts: readonly Some[]): (Some & GateFailure)[] {
  return alerts.filter((alert): alert is Some & GateFailure => alert.failure !== undefined);
}
