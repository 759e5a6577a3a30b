import type { UpdateObject } from "kysely";
import { z } from "zod";

import { judgementVerdicts, type JudgementVerdict } from "../../contract/judgement.ts";
import { checkErrorReasons, type CheckName } from "../../contract/report.ts";
import { carrierSchema, excessSchema, onsetSchema, revivedSchema } from "../../contract/spike-evidence.ts";
import { severities } from "../../contract/severity.ts";
import { FlatlineError } from "../../base/errors.ts";
import { isAmong, rowStatement } from "../engine/dialect.ts";
import type { Db, PruneLimits, Pruned } from "../tables.ts";
import type { LogTables } from "./log.ts";

const severity = z.enum(severities);
const nullableNumber = z.number().nullable();
const alertKind = z.enum(["verdict", "unknown"]);
const alertStates = z.enum(["pending", "firing"]);

/** The worst that an alert has seen. */
const peakSchema = z.object({ severity, currentCount: nullableNumber, atMs: z.number() });

/** A person has seen it: no reminders and no escalation until it is resolved, or worse than `severity`. */
const acknowledgementSchema = z.object({
  atMs: z.number(),
  by: z.string().nullable(),
  /** What the request claims about its author; not verified. */
  note: z.string().nullable(),
  comment: z.string().nullable(),
  /** The incident's severity at that time: the acknowledgement ends when it gets worse. */
  severity,
  /** The receiver through whose link or hook it came; absent: through none. */
  receiver: z.string().exactOptional(),
});

/** The judgement of a person who looked at an alert. */
const judgementSchema = z.object({
  verdict: z.enum(judgementVerdicts),
  comment: z.string().nullable(),
  by: z.string(),
  /** What the request claims about its author; not verified. */
  note: z.string().nullable(),
  atMs: z.number(),
  /** It is of the whole incident; absent: of some of its alerts. */
  isWhole: z.literal(true).exactOptional(),
});

/** The findings of a run about an alert, as far as an incident sums them up. */
const foundSchema = z.object({
  /** null: the result does not say. `counting`: each asset counts once. */
  deaths: z
    .object({ count: z.number(), expected: z.number(), counting: z.literal("assets").exactOptional() })
    .nullable(),
  /** Values that its deaths share, with their shares (0–1) in the window and usually; the surest first. */
  carriers: z.array(carrierSchema).readonly(),
  /** Deaths whose asset is known, and those of them that were found alive; null: unknown. */
  revived: revivedSchema.nullable(),
  /** The likely cause that the result names; null: none. */
  cause: z.string().nullable(),
  /** Absent: unknown. */
  excess: excessSchema.exactOptional(),
  /** Why there was no result; null: there was one. */
  error: z
    .object({ reason: z.enum(checkErrorReasons), message: z.string(), status: z.number().exactOptional() })
    .nullable(),
});

/** The last changes of a firing alert, of which notifications are made. Instants are those of the commits. */
const changedSchema = z.object({
  firedAtMs: z.number(),
  firedReason: z.string(),
  /** Of the last change of its severity; the same as `firedAtMs` if it never changed. */
  atMs: z.number(),
  reason: z.string(),
  /** The organization's labels at the last change: it may no longer be configured. */
  labels: z.record(z.string(), z.string()),
  url: z.string().nullable(),
});

const bodySchema = z.object({
  id: z.string(),
  check: z.string(),
  slug: z.string(),
  kind: alertKind,
  state: alertStates,
  severity,
  /** Time of the episode's first non-ok (or first unknown) run. */
  startsAtMs: z.number(),
  firingAtMs: nullableNumber,
  /** First ok run since the last non-ok one, while keepFiringFor holds it; null while it is not ok. */
  okSinceMs: nullableNumber,
  /** Consecutive runs without a result, for kind unknown. */
  unknownRuns: z.number(),
  peak: peakSchema,
  /** When the excess began: the earliest onset that a run of the episode found; absent: none did. */
  onset: onsetSchema.exactOptional(),
  /** The window of the spike check at the episode's first run; absent: another check, or the service does not say. */
  windowHours: z.number().exactOptional(),
  /** Its incident, from the commit in which it fires; absent while pending. */
  incident: z.object({ id: z.string(), number: z.number() }).exactOptional(),
  /** The findings of its latest run that was not ok; absent if no such run had a result or an error. */
  found: foundSchema.exactOptional(),
  /** No run knew the rate before: its first run was the first ever, or after a changed configuration or a long gap. */
  isFirstLook: z.literal(true).exactOptional(),
  /** The named reason of the last decision about it (alerting/decide/reasons.ts). */
  reason: z.string(),
  /** When it fired, and its last change since, by the store's commits; absent while pending. */
  changed: changedSchema.exactOptional(),
});

/** How an alert that fired ended; its `reason` says why. */
const endSchema = z.object({
  /** Time of the run that ended it, or of the reload that removed it. */
  atMs: z.number(),
  /** Whether a run ended it, not a reload that removed its organization or check. */
  isByRun: z.boolean(),
  /** When the store committed it [`atMs`]. */
  storedAtMs: z.number().exactOptional(),
  /** The gate of its organization opened with it. */
  opensGate: z.literal(true).exactOptional(),
});

export type AlertPeak = z.infer<typeof peakSchema>;
export type AlertAcknowledgement = Readonly<z.infer<typeof acknowledgementSchema>>;
export type AlertJudgement = Readonly<z.infer<typeof judgementSchema>>;
export type AlertFound = Readonly<z.infer<typeof foundSchema>>;
export type AlertEnd = Readonly<z.infer<typeof endSchema>>;

/** An alert, from its first non-ok run until it is pruned; a (check, slug, kind) has one live at most (CONTRACT 7). */
export interface Alert extends Readonly<z.infer<typeof bodySchema>> {
  /** null while it lives. */
  readonly end: AlertEnd | null;
  readonly acknowledgement: AlertAcknowledgement | null;
  /** The current one; absent: none. */
  readonly judgement?: AlertJudgement;
  /** When it last reached fail while it fired and the gate saw it, and when a person released that; absent: never. */
  readonly failure?: { readonly atMs: number; readonly releasedAtMs: number | null };
}

/** What people say of an alert, and its gate, have their own columns: one act changes those of thousands. */
export interface AlertTables {
  readonly alerts: Pick<Alert, "id" | "slug" | "kind" | "state"> & {
    readonly checkName: CheckName;
    readonly incidentNumber: number | null;
    /** null while it lives. */
    readonly endsAtMs: number | null;
    /** The AlertEnd as JSON. */
    readonly endBody: string | null;
    /** As JSON. */
    readonly acknowledgement: string | null;
    readonly verdict: JudgementVerdict | null;
    /** As JSON. */
    readonly judgement: string | null;
    readonly failedAtMs: number | null;
    readonly releasedAtMs: number | null;
    /** The rest of the Alert as JSON. */
    readonly body: string;
  };
}

/** The columns of which {@link alertOf} makes an alert. */
export const alertColumns = [
  "endBody",
  "acknowledgement",
  "judgement",
  "failedAtMs",
  "releasedAtMs",
  "body",
] as const satisfies readonly (keyof AlertTables["alerts"])[];
export type AlertRow = Pick<AlertTables["alerts"], (typeof alertColumns)[number]>;

const selectLive = rowStatement<AlertRow>(
  ["text", "text"],
  (values) => `select end_body as "endBody", acknowledgement, judgement, failed_at_ms as "failedAtMs",
    released_at_ms as "releasedAtMs", body from alerts where ends_at_ms is null and (check_name, slug) in (${values})`,
);

/** Alerts that ended since an instant [of all checks and organizations]. */
interface PastQuery {
  readonly check?: CheckName;
  readonly slug?: string;
  readonly fromMs: number;
  readonly limit: number;
}

export type AlertStore = ReturnType<typeof createAlertStore>;

/** Alerts that live and that have ended, over the table `alerts`. */
export function createAlertStore(db: Db<AlertTables & LogTables>, bodiesOf: ReadBodies) {
  const rows = () => db.selectFrom("alerts").select(alertColumns);
  const read = async (query: { readonly execute: () => Promise<readonly AlertRow[]> }): Promise<readonly Alert[]> =>
    (await query.execute()).map((row) => alertOf(row));
  /** Changes what people said of these, live and ended, whatever their number. */
  const changeAll = async (ids: readonly string[], changed: UpdateObject<AlertTables, "alerts">): Promise<void> => {
    await db
      .updateTable("alerts")
      .set(changed)
      .where(isAmong(db, "id", ids))
      .execute();
  };
  return {
    /** The live alerts of these checks, in no order. */
    liveOf: (checks: readonly { readonly check: CheckName; readonly slug: string }[]): Promise<readonly Alert[]> => {
      const keys = checks.map(({ check, slug }) => [check, slug]);
      return read({ execute: () => selectLive(db, keys) });
    },
    allLive: async (): Promise<readonly Alert[]> => {
      const living = rows().select("id").where("endsAtMs", "is", null);
      const found = await living.orderBy("checkName").orderBy("slug").orderBy("kind").execute();
      const bodies = bodiesOf(found);
      return found.map((row) => alertOf(row, bodies.get(row.id)?.parsed));
    },
    save: async (alert: Alert): Promise<void> => {
      const row = rowOf(alert);
      const { id: _id, checkName: _check, slug: _slug, kind: _kind, ...changed } = row;
      await db
        .insertInto("alerts")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(changed))
        .execute();
    },
    /** Deletes one that never fired. */
    remove: async (alertId: string): Promise<void> => {
      await db.deleteFrom("alerts").where("id", "=", alertId).execute();
    },
    /** Live, or ended and still kept. */
    find: async (alertId: string): Promise<Alert | null> => {
      const row = await rows().where("id", "=", alertId).executeTakeFirst();
      return row === undefined ? null : alertOf(row);
    },
    /** Changes the body of a stored alert, live or ended; not what people said of it. */
    change: async (alert: Alert): Promise<void> => {
      await db
        .updateTable("alerts")
        .set({ body: rowOf(alert).body })
        .where("id", "=", alert.id)
        .execute();
    },
    acknowledge: (alertIds: readonly string[], acknowledgement: AlertAcknowledgement | null): Promise<void> =>
      changeAll(alertIds, { acknowledgement: textOf(acknowledgement) }),
    judge: (alertIds: readonly string[], judgement: AlertJudgement | null): Promise<void> =>
      changeAll(alertIds, { judgement: textOf(judgement), verdict: judgement?.verdict ?? null }),
    /** Releases by hand the gates that these alerts hold. */
    release: (alertIds: readonly string[], atMs: number): Promise<void> => changeAll(alertIds, { releasedAtMs: atMs }),
    /** Returns the alerts that ended since `fromMs`, newest first. */
    ended: ({ check, slug, fromMs, limit }: PastQuery): Promise<readonly Alert[]> => {
      let found = rows().where("endsAtMs", ">=", fromMs).orderBy("endsAtMs", "desc").limit(limit);
      if (check !== undefined) found = found.where("checkName", "=", check);
      if (slug !== undefined) found = found.where("slug", "=", slug);
      return read(found);
    },
    /** Returns every alert, live or ended, that is judged now [whatever the verdict, of all organizations]. */
    judged: ({ verdict, slug }: { verdict?: JudgementVerdict; slug?: string } = {}): Promise<readonly Alert[]> => {
      let found = rows().where("verdict", "is not", null);
      if (verdict !== undefined) found = found.where("verdict", "=", verdict);
      if (slug !== undefined) found = found.where("slug", "=", slug);
      return read(found);
    },
    /**
     * Deletes alerts that ended at or before `beforeMs`, with what was said of them, at most `maxRows` at a time. Those
     * of `holding` stay, and those judged `checker` that ended after `checkersBeforeMs`.
     */
    pruneEnded: async (
      limits: PruneLimits & { readonly checkersBeforeMs: number; readonly holding: readonly string[] },
    ): Promise<Pruned> => {
      const { beforeMs, checkersBeforeMs, holding, maxRows } = limits;
      const old = await db
        .selectFrom("alerts")
        .select("id")
        .where("endsAtMs", "<=", beforeMs)
        .where((row) => row.not(isAmong(db, "id", holding)))
        .where((row) =>
          row.or([
            row("endsAtMs", "<=", checkersBeforeMs),
            row("verdict", "is", null),
            row("verdict", "<>", "checker"),
          ]),
        )
        .limit(maxRows)
        .execute();
      const ids = old.map(({ id }) => id);
      if (ids.length === 0) return { hasMore: false };
      await db.deleteFrom("alert_log").where("alertId", "in", ids).execute();
      await db.deleteFrom("alerts").where("id", "in", ids).execute();
      return { hasMore: ids.length >= maxRows };
    },
  };
}

type AlertBody = z.infer<typeof bodySchema>;
type KnownBodies = ReadonlyMap<string, { readonly text: string; readonly parsed: AlertBody }>;
type ReadBodies = (rows: readonly { readonly id: string; readonly body: string }[]) => KnownBodies;

/** Returns a reader of the bodies of all live alerts, which parses only those that changed since its last call. */
export function createBodyReader(): ReadBodies {
  let last: KnownBodies = new Map();
  const read = (id: string, text: string) => {
    const known = last.get(id);
    return known?.text === text ? known : { text, parsed: readBody(text) };
  };
  // By id: the hash of each text would take longer than all else.
  return (rows) => (last = new Map(rows.map(({ id, body }) => [id, read(id, body)])));
}

function rowOf({ end, acknowledgement, judgement, failure, ...body }: Alert): AlertTables["alerts"] {
  return {
    id: body.id,
    checkName: body.check,
    slug: body.slug,
    kind: body.kind,
    state: body.state,
    incidentNumber: body.incident?.number ?? null,
    endsAtMs: end?.atMs ?? null,
    endBody: textOf(end),
    acknowledgement: textOf(acknowledgement),
    verdict: judgement?.verdict ?? null,
    judgement: textOf(judgement ?? null),
    failedAtMs: failure?.atMs ?? null,
    releasedAtMs: failure?.releasedAtMs ?? null,
    body: JSON.stringify(body),
  };
}

function textOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Returns the alert of a row. @throws FlatlineError store_unusable */
export function alertOf(row: AlertRow, body: AlertBody = readBody(row.body)): Alert {
  const { endBody, acknowledgement, judgement, failedAtMs, releasedAtMs } = row;
  return {
    ...body,
    end: endBody === null ? null : endSchema.parse(JSON.parse(endBody)),
    acknowledgement: acknowledgement === null ? null : acknowledgementSchema.parse(JSON.parse(acknowledgement)),
    ...(judgement === null ? {} : { judgement: judgementSchema.parse(JSON.parse(judgement)) }),
    ...(failedAtMs === null ? {} : { failure: { atMs: failedAtMs, releasedAtMs } }),
  };
}

function readBody(text: string): AlertBody {
  const parsed = bodySchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new FlatlineError("store_unusable", "a stored alert cannot be read", { cause: parsed.error });
}
