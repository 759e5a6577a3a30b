import { Kysely, PostgresDialect, sql, type CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createDatabase, type TestDatabase } from "../../../test/support/postgres/postgres.ts";
import { createPlatformReportStore, type ReportWalk } from "./reports.ts";
import { createPostgresPool } from "../engine/postgres-pool.ts";
import { facetNames } from "./facets.ts";
import { createReviewStore } from "./reviews.ts";
import type { PlainTables } from "../schema.ts";
import { namedAsInCode, type Db } from "../tables.ts";

const reports = 20_000;
const facets = [facetNames.all, facetNames.queued, facetNames.status("TODO"), facetNames.country("US")];

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
  // The entries alone: the walk looks at nothing else.
  await sql`INSERT INTO facets (name) SELECT unnest(${facets}::text[])`.execute(db);
  await sql`
    INSERT INTO report_facets (organization_id, facet_id, created_at_ms, report_id)
    SELECT 1 + report % 2, facet_id, report / 3, report FROM generate_series(1, ${reports}::int) AS report, facets`.execute(
    db,
  );
  await sql`
    INSERT INTO facet_counts (organization_id, facet_id, reports)
    SELECT organization_id, facet_id, count(*) FROM report_facets GROUP BY 1, 2`.execute(db);
  await sql`ANALYZE`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const walk: ReportWalk = {
  organizationId: 1,
  facets: [],
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
    { rule: "a filter at any depth", asks: { facets: [facetNames.queued], after: deep } },
  ])("answer $rule from the index alone, a page's rows and no more", async ({ asks }) => {
    const store = createPlatformReportStore(db);

    const steps = await stepsOf(() => store.walk({ ...walk, ...asks }));

    expect(steps.map((step) => step["Node Type"])).toEqual(["Limit", expect.stringMatching(/^Index (Only )?Scan$/)]);
    expect(steps.map((step) => step["Index Name"])).toContain("report_facets_pkey");
    expect(steps.map((step) => step["Actual Rows"])).toEqual([21, 21]);
  });

  it("look further filters up by primary key, for the rows of a page", async () => {
    const store = createPlatformReportStore(db);

    const steps = await stepsOf(() => store.walk({ ...walk, facets: facets.slice(1), after: deep }));

    const kinds = steps.map((step) => step["Node Type"]);
    expect(kinds.filter((kind) => /Sort|Seq Scan|Hash/.test(kind))).toEqual([]);
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
