import { sql, type Selectable } from "kysely";
import { z } from "zod";

import { dayMs } from "../../base/time.ts";
import { opinionFailures, opinionVerdicts } from "../../contract/second-opinion.ts";
import { inChunks } from "../engine/chunks.ts";
import type { Db, RowId } from "../tables.ts";
import { alertColumns, alertOf, type Alert, type AlertTables } from "./alerts.ts";
import type { LogTables } from "./log.ts";

const count = z.number();

/** Many organizations began together, from one cause (CONTRACT 15). It lasts as long as its incident. */
const verdictSchema = z.object({
  startsAtMs: z.number(),
  /** Organizations that began within the same 30 minutes. */
  together: count,
  /** How many of them usually begin in so long a time. */
  usual: z.number(),
  /** Probability that at least so many begin by chance. */
  probability: z.number(),
  /** Organizations with a result when the last one fired. */
  organizations: count,
});

const controlSchema = z.object({ asked: count, alive: count });
/** The verifier's opinion on some of an incident's dead assets (CONTRACT 16), without names. */
const opinionSchema = z.object({
  asked: count,
  alive: count,
  gone: count,
  verdict: z.enum(opinionVerdicts),
  controls: z.object({ alive: controlSchema, dead: controlSchema }),
  atMs: z.number(),
  /** Number of the look. */
  look: z.number(),
  failure: z.enum(opinionFailures).optional(),
  isRecorded: z.boolean().optional(),
});

const bodySchema = z.object({
  /** Instant at which the first alert fired. */
  firstFiredAtMs: z.number(),
  /** `key=value` that most deaths of its first alert shared; null: none is known. */
  carrier: z.string().nullable(),
  verdict: verdictSchema.nullable(),
  /** How many times acknowledgements of it ended because it got worse. */
  outlived: count,
  /** The second opinion of the last look that has ended with one; null: none has. */
  secondOpinion: opinionSchema.nullable(),
});

export type FleetVerdict = Readonly<z.infer<typeof verdictSchema>>;
export type SecondOpinion = Readonly<z.infer<typeof opinionSchema>>;

/** Alerts that began together and that people deal with together (CONTRACT 15). */
export interface Incident extends Readonly<z.infer<typeof bodySchema>> {
  /** Counts from 1 over all families; never given twice. */
  readonly number: number;
  readonly id: string;
  readonly family: string;
  /** The first alert's `startsAt`. */
  readonly startedAtMs: number;
  /** null while any of its alerts fires. */
  readonly endedAtMs: number | null;
}

export interface IncidentQuery {
  readonly state: "open" | "ended" | "all";
  readonly family?: string | undefined;
  /** The earliest `startedAtMs`, inclusive. */
  readonly sinceMs?: number | undefined;
  /** Only those with a smaller number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface IncidentTables {
  readonly incidents: Pick<Incident, "id" | "family" | "startedAtMs" | "endedAtMs"> & {
    readonly number: RowId;
    /** The rest of the Incident as JSON. */
    readonly body: string;
  };
  readonly receiver_messages: IncidentMessage & { readonly receiver: string; readonly incident: number };
}

/** The one message in which a receiver shows an incident, and which it edits. */
export interface IncidentMessage {
  /** The channel's id. */
  readonly channel: string;
  /** The message's id in the channel; Slack's `ts`. */
  readonly message: string;
}

/** Incidents over the tables `incidents` and `receiver_messages`; their members are the alerts with their number. */
export function createIncidentStore(db: Db<IncidentTables & AlertTables & LogTables>) {
  const rows = () => db.selectFrom("incidents").selectAll();
  return {
    /** Stores a new one and returns it with its number. */
    add: async (incident: Omit<Incident, "number">): Promise<Incident> => {
      const inserted = db.insertInto("incidents").values(rowOf(incident)).returning("number");
      return { ...incident, number: (await inserted.executeTakeFirstOrThrow()).number };
    },
    save: async (incident: Incident): Promise<void> => {
      await db.updateTable("incidents").set(rowOf(incident)).where("number", "=", incident.number).execute();
    },
    /** Ends the verdicts of open incidents: the fleet verdict was switched off. */
    endVerdicts: async (): Promise<void> => {
      const lasting = (await rows().where("endedAtMs", "is", null).execute()).map(incidentOf);
      for (const { number, ...incident } of lasting)
        if (incident.verdict !== null)
          await db
            .updateTable("incidents")
            .set(rowOf({ ...incident, verdict: null }))
            .where("number", "=", number)
            .execute();
    },
    /** Returns the open incidents, newest first. */
    open: async (): Promise<readonly Incident[]> =>
      (await rows().where("endedAtMs", "is", null).orderBy("number", "desc").execute()).map(incidentOf),
    /** Returns the incident of this number or id; null: there is none. */
    find: async (reference: number | string): Promise<Incident | null> => {
      const found =
        typeof reference === "number" ? rows().where("number", "=", reference) : rows().where("id", "=", reference);
      const row = await found.executeTakeFirst();
      return row === undefined ? null : incidentOf(row);
    },
    /** Newest first. */
    list: async ({ state, family, sinceMs, before, limit }: IncidentQuery): Promise<readonly Incident[]> => {
      let found = rows().orderBy("number", "desc").limit(limit);
      if (state === "open") found = found.where("endedAtMs", "is", null);
      if (state === "ended") found = found.where("endedAtMs", "is not", null);
      if (family !== undefined) found = found.where("family", "=", family);
      if (sinceMs !== undefined) found = found.where("startedAtMs", ">=", sinceMs);
      if (before !== undefined) found = found.where("number", "<", before);
      return (await found.execute()).map(incidentOf);
    },
    /** Returns the kept incidents of these numbers. */
    byNumbers: async (numbers: readonly number[]): Promise<readonly Incident[]> =>
      (await inChunks(numbers, (some) => rows().where("number", "in", some).execute())).map(incidentOf),
    /**
     * Returns the alerts of these incidents by number, live and ended, in the order of their start. `live`: all live
     * alerts, if the caller has read them already.
     */
    members: async <Live extends Alert = Alert>(
      numbers: readonly number[],
      live?: readonly Live[],
    ): Promise<ReadonlyMap<number, readonly (Live | Alert)[]>> => {
      const isWanted = new Set<number | undefined>(numbers);
      const living = (live ?? []).filter(({ incident }) => isWanted.has(incident?.number));
      const rows = await inChunks(numbers, (some) => {
        const all = db.selectFrom("alerts").select(alertColumns).where("incidentNumber", "in", some);
        return (live === undefined ? all : all.where("endsAtMs", "is not", null)).execute();
      });
      const isLiving = new Set(living.map(({ id }) => id));
      const found: (Live | Alert)[] = [
        ...living,
        // An alert that ended meanwhile stays as it was read.
        ...rows.map((row) => alertOf(row)).filter((alert) => !isLiving.has(alert.id)),
      ];
      found.sort((left, right) => left.startsAtMs - right.startsAtMs || (left.slug < right.slug ? -1 : 1));
      return Map.groupBy(found, (alert) => alert.incident?.number ?? 0);
    },
    /** How many alerts of each incident fire; incidents without any are absent. */
    firingCounts: async (): Promise<ReadonlyMap<number, number>> => {
      const counted = await db
        .selectFrom("alerts")
        .select(({ fn }) => ["incidentNumber as number", fn.countAll().as("firing")])
        .where("endsAtMs", "is", null)
        .where("incidentNumber", "is not", null)
        .groupBy("incidentNumber")
        .execute();
      return new Map(counted.map(({ number, firing }) => [number ?? 0, Number(firing)]));
    },
    /**
     * Counts the days since `sinceDay` (days since the epoch) on which a spike alert fired, for each organization.
     * Incidents with a verdict and the incident `without` do not count: they say nothing about the usual rate.
     */
    countSpikeDays: async (sinceDay: number, without: number): Promise<number> => {
      // json() is a function of SQLite, and a cast in PostgreSQL.
      const { rows } = await sql<{ readonly days: number }>`
        select count(*) as days from (
          select distinct slug,
            cast(json(alerts.body) -> 'changed' ->> 'firedAtMs' as bigint) / ${sql.lit(dayMs)} as day
          from alerts join incidents on incidents.number = alerts.incident_number
          where check_name = 'dead-asset-spike' and kind = 'verdict' and incidents.number <> ${without}
            and json(incidents.body) ->> 'verdict' is null
            and (ends_at_ms is null or ends_at_ms >= ${sinceDay * dayMs})) as fired
        where day >= ${sinceDay}`.execute(db);
      return rows[0]?.days ?? 0;
    },
    /** Returns the message in which this receiver shows the incident; null: none yet. */
    messageOf: async (receiver: string, incident: number): Promise<IncidentMessage | null> =>
      (await db
        .selectFrom("receiver_messages")
        .select(["channel", "message"])
        .where("receiver", "=", receiver)
        .where("incident", "=", incident)
        .executeTakeFirst()) ?? null,
    /** Notes the message in which this receiver shows the incident from now on. */
    saveMessage: async (receiver: string, incident: number, { channel, message }: IncidentMessage): Promise<void> => {
      const row = { receiver, incident, channel, message };
      await db
        .insertInto("receiver_messages")
        .values(row)
        .onConflict((conflict) => conflict.columns(["receiver", "incident"]).doUpdateSet(row))
        .execute();
    },
    /**
     * Ends open incidents without live alerts, as after `forget`; deletes ended ones without alerts, their comments and
     * messages.
     */
    tidy: async (nowMs: number): Promise<void> => {
      const ofAlerts = db.selectFrom("alerts").select("incidentNumber").where("incidentNumber", "is not", null);
      await db
        .updateTable("incidents")
        .set({ endedAtMs: nowMs })
        .where("endedAtMs", "is", null)
        .where("number", "not in", ofAlerts.where("endsAtMs", "is", null))
        .execute();
      const empty = db
        .selectFrom("incidents")
        .select("number")
        .where("endedAtMs", "is not", null)
        .where("number", "not in", ofAlerts);
      await db.deleteFrom("alert_log").where("incidentNumber", "in", empty).execute();
      await db.deleteFrom("receiver_messages").where("incident", "in", empty).execute();
      await db.deleteFrom("incidents").where("number", "in", empty).execute();
    },
  };
}

function rowOf({ id, family, startedAtMs, endedAtMs, ...rest }: Omit<Incident, "number">) {
  return { id, family, startedAtMs, endedAtMs, body: JSON.stringify(bodySchema.parse(rest)) };
}

function incidentOf({ body, ...row }: Selectable<IncidentTables["incidents"]>): Incident {
  return { ...row, ...bodySchema.parse(JSON.parse(body)) };
}
