import type { LookAnswer, LookRole } from "../../contract/second-opinion.ts";
import type { Db } from "../tables.ts";
import type { IncidentTables } from "./incidents.ts";

/** A look at some of an incident's dead assets (CONTRACT 16). */
export interface Look {
  readonly incidentNumber: number;
  /** Counts from 1 in its incident. */
  readonly number: number;
  readonly startedAtMs: number;
  /** null: it waits, or is under way. */
  readonly endedAtMs: number | null;
  /** Whether a person asked for it. */
  readonly isByHand: boolean;
}

type LookKey = Pick<Look, "incidentNumber" | "number">;

/** The verifier's answer on one asset. */
export interface LookedAt {
  readonly slug: string;
  readonly asset: string;
  readonly assetType: string | null;
  readonly role: LookRole;
  readonly answer: LookAnswer;
  /** What else the verifier said of it; null: nothing. */
  readonly detail: string | null;
}

export interface LookTables {
  readonly looks: Omit<Look, "isByHand"> & { readonly isByHand: number };
  readonly look_answers: LookedAt & {
    readonly incidentNumber: number;
    readonly number: number;
    readonly ordinal: number;
  };
}

/** Looks over the tables `looks` and `look_answers`. */
export function createLookStore(db: Db<LookTables & IncidentTables>) {
  const rows = () => db.selectFrom("looks").selectAll();
  return {
    /** The looks of an incident, oldest first. */
    of: async (incidentNumber: number): Promise<readonly Look[]> =>
      (await rows().where("incidentNumber", "=", incidentNumber).orderBy("number").execute()).map(lookOf),
    /** All looks that have not ended. */
    waiting: async (): Promise<readonly Look[]> => (await rows().where("endedAtMs", "is", null).execute()).map(lookOf),
    /** Stores a look that begins; false: another one has its number. */
    begin: async (look: Omit<Look, "endedAtMs">): Promise<boolean> => {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto("looks")
        .values({ ...look, endedAtMs: null, isByHand: look.isByHand ? 1 : 0 })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },
    /** Notes that a look has ended. */
    end: async ({ incidentNumber, number }: LookKey, atMs: number): Promise<void> => {
      await db
        .updateTable("looks")
        .set({ endedAtMs: atMs })
        .where("incidentNumber", "=", incidentNumber)
        .where("number", "=", number)
        .execute();
    },
    /** Stores the answers of a look, in the order in which it asked. */
    addAnswers: async ({ incidentNumber, number }: LookKey, answers: readonly LookedAt[]): Promise<void> => {
      const rows = answers.map(({ slug, asset, assetType, role, answer, detail }, ordinal) => {
        return { incidentNumber, number, ordinal, slug, asset, assetType, role, answer, detail };
      });
      await db.insertInto("look_answers").values(rows).execute();
    },
    /** The answers of a look, in the order in which it asked. */
    answersOf: ({ incidentNumber, number }: LookKey): Promise<readonly LookedAt[]> =>
      db
        .selectFrom("look_answers")
        .select(["slug", "asset", "assetType", "role", "answer", "detail"])
        .where("incidentNumber", "=", incidentNumber)
        .where("number", "=", number)
        .orderBy("ordinal")
        .execute(),
    /** Deletes the looks of incidents that are gone. */
    tidy: async (): Promise<void> => {
      const kept = db.selectFrom("incidents").select("number");
      await db.deleteFrom("look_answers").where("incidentNumber", "not in", kept).execute();
      await db.deleteFrom("looks").where("incidentNumber", "not in", kept).execute();
    },
  };
}

function lookOf({ isByHand, ...look }: LookTables["looks"]): Look {
  return { ...look, isByHand: isByHand === 1 };
}
