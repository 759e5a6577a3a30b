import { sql } from "kysely";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import { readRecords, walkReports, type ReportWalk } from "./listing.ts";
import type { AssetStatus, PlatformDb, PlatformTables } from "./tables.ts";

/** The subject of a proposal. Global: unique by type and content, one status for every organization. */
export interface Asset {
  readonly id: number;
  readonly type: string;
  readonly content: string;
  readonly status: AssetStatus;
}

/** Reports of an import, with what belongs to them. */
export interface ImportedReports {
  readonly reports: readonly (Omit<PlatformTables["reports"], "updatedAtMs"> & {
    /** null: the creation time of a new report, otherwise the time of the import. */
    readonly updatedAtMs: number | null;
  })[];
  readonly proposals: readonly PlatformTables["proposals"][];
  readonly scans: readonly PlatformTables["scans"][];
}

/** A proposal with the facts that the rules of a review need. */
export type ProposalContext = NonNullable<
  Awaited<ReturnType<ReturnType<typeof createPlatformReportStore>["proposal"]>>
>;

/** Sets columns to what was to be inserted. */
function inserted<Column extends string>(...columns: readonly Column[]) {
  const given = columns.map((column) => [column, sql.ref<never>(`excluded.${column}`)] as const);
  return Object.fromEntries(given) as Record<Column, (typeof given)[number][1]>;
}

/** Creates the asset store over the table `assets`. */
export function createAssetStore(db: PlatformDb) {
  const one = (id: number) => db.updateTable("assets").where("assetId", "=", id);
  return {
    /**
     * Inserts or updates by id, in the surrounding transaction. Type and content must not belong to another asset
     * (`holderOf`).
     */
    upsert: async (assets: readonly Asset[]): Promise<void> => {
      for (const chunk of chunksOf(assets))
        await db
          .insertInto("assets")
          .values(chunk.map(({ id, type, ...rest }) => ({ assetId: id, assetType: type, ...rest })))
          .onConflict((conflict) => conflict.column("assetId").doUpdateSet(inserted("assetType", "content", "status")))
          .execute();
    },
    /** Returns the id of the asset with this type and content; null without one. */
    holderOf: async ({ type, content }: Pick<Asset, "type" | "content">): Promise<number | null> => {
      const found = db.selectFrom("assets").select("assetId").where("assetType", "=", type);
      return (await found.where("content", "=", content).executeTakeFirst())?.assetId ?? null;
    },
    /** Returns the ids that exist. */
    existing: async (ids: readonly number[]): Promise<ReadonlySet<number>> => {
      const rows = await inChunks(ids, (some) =>
        db.selectFrom("assets").select("assetId").where("assetId", "in", some).execute(),
      );
      return new Set(rows.map(({ assetId }) => assetId));
    },
    byId: async (id: number): Promise<(Asset & { readonly isWatchlisted: boolean }) | null> => {
      const row = await db.selectFrom("assets").selectAll().where("assetId", "=", id).executeTakeFirst();
      if (row === undefined) return null;
      const { assetType: type, content, status } = row;
      return { id, type, content, status, isWatchlisted: row.isWatchlisted === 1 };
    },
    /** Blocks the asset for every organization. */
    block: async (id: number): Promise<void> => void (await one(id).set({ status: "BLOCKED" }).execute()),
    /** Puts the asset on the watchlist; its status does not change. */
    watchlist: async (id: number): Promise<void> => void (await one(id).set({ isWatchlisted: 1 }).execute()),
  };
}

/** Creates the report store over `reports`, `proposals` and `scans`. */
export function createPlatformReportStore(db: PlatformDb) {
  return {
    /**
     * Inserts or updates reports, proposals and scans by id, in the surrounding transaction. A stored report keeps its
     * organization, a stored proposal its report.
     */
    upsert: async ({ reports, proposals, scans }: ImportedReports, nowMs: number): Promise<void> => {
      for (const chunk of chunksOf(reports))
        await db
          .insertInto("reports")
          .values(chunk.map((report) => ({ ...report, updatedAtMs: report.updatedAtMs ?? report.createdAtMs })))
          .onConflict((conflict) =>
            conflict.column("reportId").doUpdateSet({
              ...inserted("createdAtMs", "status", "source", "country", "title", "reporterKind", "reporterName"),
              ...inserted("reporterOrganization", "slaDueAtMs", "slaBreached"),
              updatedAtMs: nowMs,
            }),
          )
          .execute();
      for (const { reportId, updatedAtMs } of reports)
        if (updatedAtMs !== null)
          await db.updateTable("reports").set({ updatedAtMs }).where("reportId", "=", reportId).execute();
      for (const chunk of chunksOf(proposals))
        await db
          .insertInto("proposals")
          .values(chunk)
          .onConflict((conflict) =>
            conflict
              .column("proposalId")
              .doUpdateSet(inserted("assetId", "decision", "decidedBy", "queue", "isResolved")),
          )
          .execute();
      for (const chunk of chunksOf(scans))
        await db
          .insertInto("scans")
          .values(chunk)
          .onConflict((conflict) =>
            conflict.columns(["reportId", "scanId"]).doUpdateSet(inserted("assetId", "status", "atMs")),
          )
          .execute();
    },
    /** Reads reports of a listing, in its order. */
    walk: (walk: ReportWalk) => walkReports(db, walk),
    /** Returns the records of these reports, in the order of `ids`; `nowMs` decides which SLA is breached. */
    records: (ids: readonly number[], nowMs: number) => readRecords(db, ids, nowMs),
    /** Returns a proposal; null without one. */
    proposal: async (id: number) => {
      const row = await db
        .selectFrom("proposals")
        .innerJoin("reports", "reports.reportId", "proposals.reportId")
        .innerJoin("organizations", "organizations.organizationId", "reports.organizationId")
        .selectAll("proposals")
        .select(["reports.organizationId", "reports.reporterOrganization", "organizations.slug"])
        .where("proposalId", "=", id)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { assetId, decision, decidedBy, queue, reportId, organizationId } = row;
      const isSelfReported = row.reporterOrganization === row.slug;
      const isResolved = row.isResolved === 1;
      return { id, assetId, decision, decidedBy, queue, isResolved, reportId, organizationId, isSelfReported };
    },
    /** Returns the organization (slug) of each of these reports; missing ones are omitted. */
    organizationsOf: async (ids: readonly number[]): Promise<ReadonlyMap<number, string>> => {
      const rows = await inChunks(ids, (some) =>
        db
          .selectFrom("reports")
          .innerJoin("organizations", "organizations.organizationId", "reports.organizationId")
          .select(["reportId", "slug"])
          .where("reportId", "in", some)
          .execute(),
      );
      return new Map(rows.map(({ reportId, slug }) => [reportId, slug]));
    },
    /** Returns the report of each of these proposals; missing ones are omitted. */
    reportsOfProposals: async (ids: readonly number[]): Promise<ReadonlyMap<number, number>> => {
      const rows = await inChunks(ids, (some) =>
        db.selectFrom("proposals").select(["proposalId", "reportId"]).where("proposalId", "in", some).execute(),
      );
      return new Map(rows.map(({ proposalId, reportId }) => [proposalId, reportId]));
    },
    /** Updates a proposal and its report's `updatedAt`, in the surrounding transaction. */
    updateProposal: async (
      id: number,
      change: Partial<Pick<PlatformTables["proposals"], "decision" | "decidedBy" | "queue" | "isResolved">>,
      nowMs: number,
    ): Promise<void> => {
      const proposal = db.updateTable("proposals").set(change).where("proposalId", "=", id);
      const { reportId } = await proposal.returning("reportId").executeTakeFirstOrThrow();
      // A clock that was set back must not lower it.
      const updatedAtMs = sql<number>`case when updated_at_ms > ${nowMs} then updated_at_ms else ${nowMs} end`;
      await db.updateTable("reports").set({ updatedAtMs }).where("reportId", "=", reportId).execute();
    },
  };
}

/** Creates the review store over the table `reviews`. */
export function createReviewStore(db: PlatformDb) {
  return {
    /** Stores a review and returns its id. */
    add: async (review: Omit<PlatformTables["reviews"], "reviewId">): Promise<number> =>
      (await db.insertInto("reviews").values(review).returning("reviewId").executeTakeFirstOrThrow()).reviewId,
    /** Returns the creation times of the organization's API reviews after `afterMs`, newest first, at most `limit`. */
    apiReviewsAfter: async (organizationId: number, afterMs: number, limit: number): Promise<readonly number[]> => {
      const rows = await db
        .selectFrom("reviews")
        .select("createdAtMs")
        .where("organizationId", "=", organizationId)
        // Literal text of the partial index; a parameter would not match it.
        .where(sql<boolean>`origin = 'api'`)
        .where("createdAtMs", ">", afterMs)
        .orderBy("createdAtMs", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => row.createdAtMs);
    },
  };
}
