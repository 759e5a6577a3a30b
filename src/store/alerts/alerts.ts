import { z } from "zod";

import { type JudgementVerdict, judgementVerdicts } from "../../contract/judgement.ts";
import { type CheckErrorReason, checkErrorReasons, type CheckName } from "../../contract/report.ts";
import type { SpikeOnset } from "../../contract/spike-onset.ts";
import { type Severity, severities } from "../../contract/severity.ts";
import { FlatlineError } from "../../base/errors.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Db } from "../tables.ts";
import type { PruneLimits, Pruned } from "../prune-limits.ts";

export type AlertKind = "verdict" | "unknown";

/** The worst that an alert has seen. */
export interface AlertPeak {
  readonly severity: Severity;
  readonly currentCount: number | null;
  readonly atMs: number;
}

/** A person has seen it: no reminders and no escalation until it is resolved, or worse than `severity`. */
export interface AlertAcknowledgement {
  readonly atMs: number;
  readonly by: string | null;
  /** What the request claims about its author; not verified. */
  readonly note: string | null;
  readonly comment: string | null;
  /** The severity that was acknowledged, of the incident or of this alert alone: what is worse ends it. */
  readonly severity: Severity;
  /** Whether it is an act on the incident, and ends when that gets worse. */
  readonly isOfIncident?: true;
  /** The receiver through whose link or hook it came; absent: through none. */
  readonly receiver?: string;
}

/** The judgement of a person who looked at an alert. */
export interface AlertJudgement {
  readonly verdict: JudgementVerdict;
  readonly comment: string | null;
  readonly by: string;
  /** What a request says of its author beside that. */
  readonly note: string | null;
  readonly atMs: number;
}

/** The findings of a run about an alert, as far as an incident sums them up. */
export interface AlertFound {
  /** null: the result does not say. `counting`: they are of assets, each once. */
  readonly deaths: { readonly count: number; readonly expected: number; readonly counting?: "assets" } | null;
  /** Values that its deaths share, with their shares (0–1) in the window and usually; the surest first. */
  readonly carriers: readonly AlertCarrier[];
  /** Deaths whose asset is known, and those of them that were found alive again; null: no events say. */
  readonly revived: { readonly judged: number; readonly count: number } | null;
  /** Whether its excess goes on, as the events say; absent where none do. */
  readonly excess?: AlertExcess;
  /** The likely cause that the result names; null: none. */
  readonly cause: string | null;
  /** Why there was no result; null: there was one. */
  readonly error: { readonly reason: CheckErrorReason; readonly message: string } | null;
}

/** Whether the excess of a spike goes on (CONTRACT 15). */
export interface AlertExcess {
  readonly state: "ongoing" | "stopped" | "unclear";
  readonly deathsLastHour: number;
  readonly usualPerHour: number;
  readonly stoppedAtMs: number | null;
  readonly expectedEndAtMs: number | null;
}

/** A value of an attribute that deaths share. */
export interface AlertCarrier {
  readonly key: string;
  readonly value: string;
  readonly share: number;
  readonly usualShare: number;
}

/** The cost of a broken checker (CONTRACT 15): deaths after the onset, and how long live assets counted as dead. */
export interface AlertCost {
  readonly deaths: number;
  readonly knownCount: number;
  readonly revived: number;
  readonly stillDead: number;
  /** The time from the last death to the first revival, summed over all revived assets. */
  readonly closedSeconds: number;
  /** The same of each, ascending; of many, evenly drawn ones. */
  readonly closedQuantiles: readonly number[];
}

/** One live alert: at most one a (check, slug, kind) (CONTRACT 1 and 7). */
export interface AlertState {
  readonly id: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  readonly state: "pending" | "firing";
  readonly severity: Severity;
  /** Time of the episode's first non-ok (or first unknown) run. */
  readonly startsAtMs: number;
  readonly firingAtMs: number | null;
  /** First ok run since the last non-ok one, while keepFiringFor holds it; null while it is not ok. */
  readonly okSinceMs: number | null;
  /** Consecutive runs without a result, for kind unknown. */
  readonly unknownRuns: number;
  readonly peak: AlertPeak;
  readonly acknowledgement: AlertAcknowledgement | null;
  /** When the episode's excess began, the earliest that its runs found; absent if none found one. */
  readonly onset?: SpikeOnset;
  /** The window of the spike check at the episode's first run; absent for other checks, and where a service does not say. */
  readonly windowHours?: number;
  /** The one that holds; absent where there is none. */
  readonly judgement?: AlertJudgement;
  /** The one that it belongs to, from the commit in which it fires; absent while pending. */
  readonly incident?: { readonly id: string; readonly number: number };
  /** The findings of its latest run that was not ok; absent if no such run had a result or an error. */
  readonly found?: AlertFound;
  /** The run that began it was no look at a known rate: the first ever, after a changed configuration, or after a long gap. */
  readonly isFirstLook?: true;
  /** The cost as of when its events began to be deleted; absent before, and where it is not judged `checker`. */
  readonly cost?: AlertCost;
  /** The named reason of the last decision about it (alerting/decide/reasons.ts). */
  readonly reason: string;
  /** When the store took that it fires, and its last change since; absent while pending. */
  readonly changed?: AlertChanged;
}

/** What receivers are told of an alert that fires depends on these; instants are those of the commits. */
export interface AlertChanged {
  readonly firedAtMs: number;
  readonly firedReason: string;
  /** Of the last change of its severity; as above where it never changed. */
  readonly atMs: number;
  readonly reason: string;
  /** The organization's at the last change: the configuration may no longer name it. */
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
}

/** How an alert that fired ended; its `reason` says why. */
export interface AlertEnd {
  /** Time of the run that ended it, or of the reload that removed it. */
  readonly atMs: number;
  /** Whether a run ended it, not a reload that removed its organization or check. */
  readonly isByRun: boolean;
  /** When the store took it [as above]. */
  readonly storedAtMs?: number;
  /** The gate of its organization opened with it. */
  readonly opensGate?: true;
}

/** An alert that is live, or fired and is over. */
export interface KeptAlert {
  readonly alert: AlertState;
  /** null while it lives. */
  readonly end: AlertEnd | null;
}

export interface AlertTables {
  readonly alerts: Pick<AlertState, "id" | "slug" | "kind" | "state"> & {
    readonly checkName: CheckName;
    readonly incidentNumber: number | null;
    /** The whole AlertState as JSON. */
    readonly body: string;
  };
  readonly ended_alerts: Omit<AlertTables["alerts"], "state"> & {
    readonly endsAtMs: number;
    /** The AlertEnd as JSON. */
    readonly endBody: string;
  };
}

const severity = z.enum(severities);
const nullableNumber = z.number().nullable();

const storedAlert = z.object({
  id: z.string(),
  check: z.string(),
  slug: z.string(),
  kind: z.enum(["verdict", "unknown"]),
  state: z.enum(["pending", "firing"]),
  severity,
  startsAtMs: z.number(),
  firingAtMs: nullableNumber,
  okSinceMs: nullableNumber,
  unknownRuns: z.number(),
  peak: z.object({ severity, currentCount: nullableNumber, atMs: z.number() }),
  acknowledgement: z
    .object({
      atMs: z.number(),
      by: z.string().nullable(),
      note: z.string().nullable(),
      comment: z.string().nullable(),
      severity,
      isOfIncident: z.literal(true).exactOptional(),
      receiver: z.string().exactOptional(),
    })
    .nullable(),
  onset: z
    .object({ atMs: z.number(), marker: z.object({ text: z.string(), atMs: z.number() }).nullable() })
    .exactOptional(),
  windowHours: z.number().exactOptional(),
  judgement: z
    .object({
      verdict: z.enum(judgementVerdicts),
      comment: z.string().nullable(),
      by: z.string(),
      note: z.string().nullable(),
      atMs: z.number(),
    })
    .exactOptional(),
  incident: z.object({ id: z.string(), number: z.number() }).exactOptional(),
  found: z
    .object({
      deaths: z
        .object({ count: z.number(), expected: z.number(), counting: z.literal("assets").exactOptional() })
        .nullable(),
      carriers: z.array(z.object({ key: z.string(), value: z.string(), share: z.number(), usualShare: z.number() })),
      revived: z.object({ judged: z.number(), count: z.number() }).nullable(),
      cause: z.string().nullable(),
      excess: z
        .object({
          state: z.enum(["ongoing", "stopped", "unclear"]),
          deathsLastHour: z.number(),
          usualPerHour: z.number(),
          stoppedAtMs: nullableNumber,
          expectedEndAtMs: nullableNumber,
        })
        .exactOptional(),
      error: z.object({ reason: z.enum(checkErrorReasons), message: z.string() }).nullable(),
    })
    .exactOptional(),
  isFirstLook: z.literal(true).exactOptional(),
  cost: z
    .object({
      deaths: z.number(),
      knownCount: z.number(),
      revived: z.number(),
      stillDead: z.number(),
      closedSeconds: z.number(),
      closedQuantiles: z.array(z.number()),
    })
    .exactOptional(),
  reason: z.string(),
  changed: z
    .object({
      firedAtMs: z.number(),
      firedReason: z.string(),
      atMs: z.number(),
      reason: z.string(),
      labels: z.record(z.string(), z.string()),
      url: z.string().nullable(),
    })
    .exactOptional(),
}) satisfies z.ZodType<AlertState>;

const storedEnd = z.object({
  atMs: z.number(),
  isByRun: z.boolean(),
  storedAtMs: z.number().exactOptional(),
  opensGate: z.literal(true).exactOptional(),
}) satisfies z.ZodType<AlertEnd>;

const selectBodies = rowStatement<{ readonly body: string }>(
  ["text", "text"],
  (values) => `select body from alerts where (check_name, slug) in (${values})`,
);

/** The past of one check, from an instant on. */
export interface PastQuery {
  readonly check: CheckName;
  readonly slug: string;
  readonly fromMs: number;
  readonly limit: number;
}

export type AlertStore = ReturnType<typeof createAlertStore>;

/** Alerts that live and that have ended, over the tables `alerts` and `ended_alerts`. */
export function createAlertStore(db: Db) {
  const bodies = () => db.selectFrom("alerts").select("body");
  /** The alerts of the last `allLive`, by their texts: of thousands a few have changed until the next. */
  let parsed: ReadonlyMap<string, AlertState> = new Map();
  const endedSince = (fromMs: number, limit: number) =>
    db.selectFrom("ended_alerts").selectAll().where("endsAtMs", ">=", fromMs).orderBy("endsAtMs", "desc").limit(limit);
  return {
    live: async (check: CheckName, slug: string): Promise<readonly AlertState[]> =>
      readAll(await bodies().where("checkName", "=", check).where("slug", "=", slug).orderBy("kind").execute()),
    /** The live alerts of all of these, in no order. */
    liveOf: async (
      checks: readonly { readonly check: CheckName; readonly slug: string }[],
    ): Promise<readonly AlertState[]> =>
      readAll(
        await selectBodies(
          db,
          checks.map(({ check, slug }) => [check, slug]),
        ),
      ),
    allLive: async (): Promise<readonly AlertState[]> => {
      const rows = await bodies().orderBy("checkName").orderBy("slug").orderBy("kind").execute();
      parsed = new Map(rows.map(({ body }) => [body, parsed.get(body) ?? readAlert(body)]));
      return [...parsed.values()];
    },
    byId: async (alertId: string): Promise<AlertState | null> =>
      readAll(await bodies().where("id", "=", alertId).execute())[0] ?? null,
    save: async (state: AlertState): Promise<void> => {
      const row = { ...rowOf(state), state: state.state };
      const { incidentNumber, body } = row;
      await db
        .insertInto("alerts")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ state: state.state, incidentNumber, body }))
        .execute();
    },
    /** Deletes a live one, with its comments. */
    remove: async (alertId: string): Promise<void> => {
      await db.deleteFrom("comments").where("alertId", "=", alertId).execute();
      await db.deleteFrom("alerts").where("id", "=", alertId).execute();
    },
    /** Live, or ended and still kept. */
    find: async (alertId: string): Promise<KeptAlert | null> => {
      const [live] = readAll(await bodies().where("id", "=", alertId).execute());
      if (live !== undefined) return { alert: live, end: null };
      const row = await db.selectFrom("ended_alerts").selectAll().where("id", "=", alertId).executeTakeFirst();
      return row === undefined ? null : keptAlert(row);
    },
    /** Changes one that is there, live or ended; nothing where it is neither. */
    change: async (state: AlertState): Promise<void> => {
      const body = JSON.stringify(state);
      await db.updateTable("alerts").set({ state: state.state, body }).where("id", "=", state.id).execute();
      await db.updateTable("ended_alerts").set({ body }).where("id", "=", state.id).execute();
    },
    /** Keeps a live one as ended. */
    end: async (state: AlertState, end: AlertEnd): Promise<void> => {
      await db.deleteFrom("alerts").where("id", "=", state.id).execute();
      await db
        .insertInto("ended_alerts")
        .values({ ...rowOf(state), endsAtMs: end.atMs, endBody: JSON.stringify(end) })
        .execute();
    },
    /** Returns the alerts of a check that ended since `fromMs`, newest first. */
    ended: async ({ check, slug, fromMs, limit }: PastQuery): Promise<readonly KeptAlert[]> => {
      const rows = await endedSince(fromMs, limit).where("checkName", "=", check).where("slug", "=", slug).execute();
      return rows.map(keptAlert);
    },
    /** Returns the alerts of all checks and organizations that ended since `fromMs`, newest first. */
    allEnded: async ({ fromMs, limit }: { fromMs: number; limit: number }): Promise<readonly KeptAlert[]> => {
      return (await endedSince(fromMs, limit).execute()).map(keptAlert);
    },
    /**
     * Deletes alerts that ended at or before `beforeMs`, with their judgements and comments, at most `maxRows` at a time: not
     * those of the gate's failures, which the gate prunes first, and those judged `checker` only where they ended by `checkersBeforeMs`.
     */
    pruneEnded: async (limits: PruneLimits & { readonly checkersBeforeMs: number }): Promise<Pruned> => {
      const { beforeMs, checkersBeforeMs, maxRows } = limits;
      const checkers = db.selectFrom("judgements").select("alertId").where("isStanding", "=", 1);
      const rows = await db
        .selectFrom("ended_alerts")
        .select("id")
        .where("endsAtMs", "<=", beforeMs)
        .where("id", "not in", db.selectFrom("gate_failures").select("alertId"))
        .where((row) =>
          row.or([
            row("endsAtMs", "<=", checkersBeforeMs),
            row("id", "not in", checkers.where("verdict", "=", "checker")),
          ]),
        )
        .limit(maxRows)
        .execute();
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return { hasMore: false };
      await db.deleteFrom("judgements").where("alertId", "in", ids).execute();
      await db.deleteFrom("comments").where("alertId", "in", ids).execute();
      await db.deleteFrom("ended_alerts").where("id", "in", ids).execute();
      return { hasMore: ids.length >= maxRows };
    },
  };
}

function rowOf(state: AlertState) {
  const { id, check, slug, kind, incident } = state;
  return { id, checkName: check, slug, kind, incidentNumber: incident?.number ?? null, body: JSON.stringify(state) };
}

function readAll(rows: readonly { readonly body: string }[]): AlertState[] {
  return rows.map(({ body }) => readAlert(body));
}

function readAlert(body: string): AlertState {
  const parsed = storedAlert.safeParse(JSON.parse(body));
  if (parsed.success) return parsed.data;
  throw new FlatlineError("store_unusable", "a stored alert cannot be read", { cause: parsed.error });
}

/** Returns an alert with its end from its two texts. @throws FlatlineError store_unusable */
export function keptAlert(row: { readonly body: string; readonly endBody: string | null }): KeptAlert {
  const [alert] = readAll([row]);
  const end = row.endBody === null ? null : storedEnd.parse(JSON.parse(row.endBody));
  if (alert === undefined) throw new FlatlineError("internal", "a row has no alert");
  return { alert, end };
}

/** The texts of an alert, live or ended, to which another table is joined. */
export interface JoinedAlert {
  readonly liveBody: string | null;
  readonly endedBody: string | null;
  readonly endBody: string | null;
}

/** Returns the alert; none where neither of the two tables has it. @throws FlatlineError store_unusable */
export function keptAlerts({ liveBody, endedBody, endBody }: JoinedAlert): KeptAlert[] {
  const body = liveBody ?? endedBody;
  return body === null ? [] : [keptAlert({ body, endBody: liveBody === null ? endBody : null })];
}
