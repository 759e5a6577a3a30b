import { hourMs } from "../../base/time.ts";
import type { LookAnswer, LookRole } from "../../contract/second-opinion.ts";
import type { Db } from "../tables.ts";

/** A look at some of an incident's dead assets (CONTRACT 16). */
export interface Look {
  readonly incidentNumber: number;
  /** Counts from 1 in its incident. */
  readonly number: number;
  readonly startedAtMs: number;
  /** null: it is under way, or its process has died. */
  readonly endedAtMs: number | null;
  /** Instant until which the process that looks counts as alive. */
  readonly leaseUntilMs: number;
  /** Whether a person asked for it. */
  readonly isByHand: boolean;
  /** How many dead assets it asks; 0: not known yet. */
  readonly planned: number;
}

/** What one asset said. */
export interface LookedAt {
  readonly slug: string;
  readonly asset: string;
  readonly assetType: string | null;
  readonly role: LookRole;
  readonly answer: LookAnswer;
  /** The status of the answer over HTTP; null: there was none. */
  readonly status: number | null;
  readonly title: string | null;
  readonly bytes: number | null;
  /** Whether it counts in the verdict over HTTP: false for one that was asked by DNS alone. */
  readonly isAsked: boolean;
}

export interface LookTables {
  readonly looks: Omit<Look, "isByHand"> & { readonly isByHand: number };
  readonly look_answers: Omit<LookedAt, "isAsked"> & {
    readonly incidentNumber: number;
    readonly number: number;
    readonly ordinal: number;
    readonly isAsked: number;
  };
  readonly look_hosts: { readonly host: string; readonly atMs: number };
}

// CONTRACT 16: all processes together look at a host once an hour.
const hostRestMs = hourMs;

/** Looks over the tables `looks`, `look_answers` and `look_hosts`. */
export function createLookStore(db: Db) {
  const rows = () => db.selectFrom("looks").selectAll();
  return {
    /** The looks of an incident, oldest first. */
    of: async (incidentNumber: number): Promise<readonly Look[]> =>
      (await rows().where("incidentNumber", "=", incidentNumber).orderBy("number").execute()).map(lookOf),
    /** Looks of all incidents that no process is at: a person asked for them, or their process has died. */
    waiting: async (nowMs: number): Promise<readonly Look[]> =>
      (await rows().where("endedAtMs", "is", null).where("leaseUntilMs", "<", nowMs).execute()).map(lookOf),
    /** Stores a look that begins, or takes over one whose process has died, without its answers; false: another process has it. */
    claim: async (look: Omit<Look, "endedAtMs">): Promise<boolean> => {
      const { incidentNumber, number, startedAtMs } = look;
      const row = { ...look, endedAtMs: null, isByHand: look.isByHand ? 1 : 0 };
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto("looks")
        .values(row)
        .onConflict((conflict) =>
          conflict
            .columns(["incidentNumber", "number"])
            .doUpdateSet(row)
            .where("looks.endedAtMs", "is", null)
            .where("looks.leaseUntilMs", "<", startedAtMs),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return false;
      await db
        .deleteFrom("look_answers")
        .where("incidentNumber", "=", incidentNumber)
        .where("number", "=", number)
        .execute();
      return true;
    },
    /** Stores what changed of a look that is under way. */
    save: async ({ incidentNumber, number, endedAtMs, leaseUntilMs, planned }: Look): Promise<void> => {
      await db
        .updateTable("looks")
        .set({ endedAtMs, leaseUntilMs, planned })
        .where("incidentNumber", "=", incidentNumber)
        .where("number", "=", number)
        .execute();
    },
    /** Stores the answer at this place among those of its look. */
    addAnswer: async (
      { incidentNumber, number }: Pick<Look, "incidentNumber" | "number">,
      ordinal: number,
      { isAsked, ...answer }: LookedAt,
    ): Promise<void> => {
      await db
        .insertInto("look_answers")
        .values({ ...answer, incidentNumber, number, ordinal, isAsked: isAsked ? 1 : 0 })
        .execute();
    },
    /** The answers of a look so far, in the order in which it asks. */
    answersOf: async ({
      incidentNumber,
      number,
    }: Pick<Look, "incidentNumber" | "number">): Promise<readonly LookedAt[]> => {
      const found = await db
        .selectFrom("look_answers")
        .select(["slug", "asset", "assetType", "role", "answer", "status", "title", "bytes", "isAsked"])
        .where("incidentNumber", "=", incidentNumber)
        .where("number", "=", number)
        .orderBy("ordinal")
        .execute();
      return found.map((row) => ({ ...row, isAsked: row.isAsked === 1 }));
    },
    /** Notes that a host is looked at now; false: it was within the hour. */
    takeHost: async (host: string, nowMs: number): Promise<boolean> => {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto("look_hosts")
        .values({ host, atMs: nowMs })
        .onConflict((conflict) =>
          conflict
            .column("host")
            .doUpdateSet({ atMs: nowMs })
            .where("look_hosts.atMs", "<=", nowMs - hostRestMs),
        )
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },
    /** Deletes the hosts that may be looked at again, and the looks of incidents that are gone. */
    tidy: async (nowMs: number): Promise<void> => {
      const kept = db.selectFrom("incidents").select("number");
      await db
        .deleteFrom("look_hosts")
        .where("atMs", "<=", nowMs - hostRestMs)
        .execute();
      await db.deleteFrom("look_answers").where("incidentNumber", "not in", kept).execute();
      await db.deleteFrom("looks").where("incidentNumber", "not in", kept).execute();
    },
  };
}

function lookOf({ isByHand, ...look }: LookTables["looks"]): Look {
  return { ...look, isByHand: isByHand === 1 };
}
