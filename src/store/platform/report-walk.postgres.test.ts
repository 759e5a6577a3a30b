import { Kysely, PostgresDialect, sql, type CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createDatabase, type TestDatabase } from "../../../test/support/postgres/postgres.ts";
import { createPostgresPool } from "../engine/postgres-pool.ts";
import { walkReports, type ReportWalk } from "./report-walk.ts";
import { createReviewStore } from "./reviews.ts";
import type { PlainTables } from "../schema.ts";
import { namedAsInCode, type Db } from "../tables.ts";

const reports = 20_000;
let database: TestDatabase;
let db: Db;
let asked: CompiledQuery[] = [];

beforeAll(async () => {
  database = await createDatabase();
  const connection = new Kysely<PlainTables>({
    dialect: new PostgresDialect({ pool: createPostgresPool({ url: database.url, poolSize: 1 }) }),
    log: (event) => {
      asked.push(event.query);
    },
  });
  db = namedAsInCode(connection);
  await sql`INSERT INTO organizations (organization_id, slug) VALUES (1, 'acme'), (2, 'globex')`.execute(db);
  await sql`INSERT INTO assets (asset_id, asset_type, content, status) VALUES (1, 'URL', 'x', 'UNKNOWN')`.execute(db);
  await sql`
    INSERT INTO reports (report_id, organization_id, created_at_ms, updated_at_ms, status, source, reporter_kind)
    SELECT report, 1 + report % 2, report / 3, 0, 'TODO', 'API', 'human'
    FROM generate_series(1, ${reports}::int) AS report`.execute(db);
  await sql`
    INSERT INTO proposals (proposal_id, report_id, asset_id, queue, is_resolved)
    SELECT report, report, 1, 'queued', 0 FROM generate_series(1, ${reports}::int) AS report`.execute(db);
  await sql`ANALYZE`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const walk: ReportWalk = {
  organizationId: 1,
  filters: { decisions: [], isQueued: false },
  fromMs: null,
  toMs: null,
  after: null,
  limit: 21,
  mostSteps: 2_000,
};
const deep = { createdAtMs: 1_000, id: 3_001 };

interface Plan {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly Plans?: readonly Plan[];
}

/** The last query that `work` asks, as PostgreSQL answered it: every step of its plan. */
async function stepsOf(work: () => Promise<unknown>): Promise<readonly Plan[]> {
  asked = [];
  await work();
  const query = asked.at(-1);
  if (query === undefined) throw new Error("nothing was asked");
  const explain = { ...query, sql: `EXPLAIN (ANALYZE, FORMAT JSON) ${query.sql}` };
  const { rows } = await db.executeQuery<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(explain);
  const all = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(all)];
  return (rows[0]?.["QUERY PLAN"] ?? []).flatMap(({ Plan: plan }) => all(plan));
}

describe("the listing's queries on PostgreSQL", () => {
  it.each<{ rule: string; asks: Partial<ReportWalk> }>([
    { rule: "the first page", asks: {} },
    { rule: "a page at any depth", asks: { after: deep } },
    { rule: "a span of dates", asks: { fromMs: 900, toMs: 1_000 } },
  ])("answer $rule from the index alone, a page's rows and no more", async ({ asks }) => {
    const steps = await stepsOf(() => walkReports(db, { ...walk, ...asks }));

    expect(steps.map((step) => step["Node Type"])).toEqual(["Limit", expect.stringMatching(/^Index (Only )?Scan$/)]);
    expect(steps.map((step) => step["Index Name"])).toContain("reports_by_creation");
    expect(steps.map((step) => step["Actual Rows"])).toEqual([21, 21]);
  });

  it("look the proposals up by report, for the reports that are walked", async () => {
    const filters = { status: "TODO", isQueued: true, decisions: [], assetType: "URL" };

    const steps = await stepsOf(() => walkReports(db, { ...walk, filters, after: deep }));

    expect(steps.map((step) => step["Index Name"])).toEqual(
      expect.arrayContaining(["reports_by_creation", "proposals_by_report"]),
    );
    expect(steps.map((step) => step["Node Type"]).filter((kind) => /Sort|Hash/.test(kind))).toEqual([]);
    expect(Math.max(...steps.map((step) => step["Actual Rows"]))).toBeLessThanOrEqual(walk.limit);
  });

  it("read the budget from its own index", async () => {
    await sql`SET enable_seqscan = off`.execute(db);

    const steps = await stepsOf(() => createReviewStore(db).apiReviewsAfter(1, 0, 10));

    expect(steps.map((step) => step["Index Name"])).toContain("reviews_by_api");
    expect(steps.map((step) => step["Node Type"])).not.toContain("Sort");
    await sql`RESET enable_seqscan`.execute(db);
  });
});
