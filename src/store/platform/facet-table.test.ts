import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

import { Kysely, type CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createSystemClock } from "../../base/time.ts";
import { openStore } from "../open.ts";
import { createPlatformReportStore, type PlatformReportStore, type ReportWalk } from "./reports.ts";
import { facetNames } from "./facets.ts";
import { createReviewStore } from "./reviews.ts";
import type { PlainTables } from "../schema.ts";
import { namedAsInCode, type Db } from "../tables.ts";
import { createSqliteDialect } from "../engine/sqlite-driver.ts";

const clock = createSystemClock();
let folder: string;
let plain: DatabaseSync;
let db: Db;
let reports: PlatformReportStore;
let asked: CompiledQuery[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-facets-"));
  const path = join(folder, "flatline.db");
  const store = await openStore({ path, clock });
  await store.transaction(async ({ platform }) => {
    const organizationId = await platform.organizations.upsert({ slug: "acme", name: null });
    await platform.assets.upsert([{ id: 1, type: "URL", content: "x", status: "UNKNOWN" }]);
    const statements = Array.from({ length: 300 }, (_, index) => ({
      id: index + 1,
      organizationId,
      createdAtMs: index,
      updatedAtMs: null,
      status: "TODO" as const,
      source: "API" as const,
      country: "US",
      title: null,
      reporter: { kind: "human" as const, name: null, organization: null },
      sla: null,
      proposals: [
        {
          id: index + 1,
          assetId: 1,
          decision: "REJECT" as const,
          decidedBy: "human" as const,
          queue: "queued" as const,
          isResolved: false,
        },
      ],
      scans: [],
    }));
    await platform.reports.upsert(statements, 0);
  });
  await store.close();
  const connection = new Kysely<PlainTables>({
    dialect: createSqliteDialect({ path, clock }),
    log: (event) => {
      asked.push(event.query);
    },
  });
  db = namedAsInCode(connection);
  reports = createPlatformReportStore(db);
  plain = new DatabaseSync(path);
});

afterAll(async () => {
  plain.close();
  await db.destroy();
  await rm(folder, { recursive: true, force: true });
});

/** How SQLite answers every query that `work` asks. */
async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
  asked = [];
  await work();
  return asked.flatMap(({ sql, parameters }) =>
    plain
      .prepare(`explain query plan ${sql}`)
      .all(...(parameters as readonly SQLInputValue[]))
      .map((row) => String(row["detail"])),
  );
}

const walk: ReportWalk = {
  organizationId: 1,
  facets: [],
  fromMs: null,
  toMs: null,
  after: null,
  limit: 21,
  mostSteps: 2_000,
};
const middle = { createdAtMs: 150, id: 151 };

const walks: readonly { readonly rule: string; readonly walk: Partial<ReportWalk>; readonly bounds: string }[] = [
  { rule: "the first page", walk: {}, bounds: "organization_id=? AND facet_id=?" },
  {
    rule: "a page at any depth",
    walk: { after: middle },
    bounds: "organization_id=? AND facet_id=? AND (created_at_ms,report_id)<(?,?)",
  },
  {
    rule: "a span of dates",
    walk: { fromMs: 10, toMs: 20 },
    bounds: "organization_id=? AND facet_id=? AND created_at_ms>? AND created_at_ms<?",
  },
  ...[
    facetNames.queued,
    facetNames.status("TODO"),
    facetNames.decision("REJECT"),
    facetNames.assetType("URL"),
    facetNames.source("API"),
    facetNames.reportedBy("human"),
    facetNames.reviewedBy("human"),
    facetNames.country("US"),
  ].map((facet) => ({
    rule: `the filter ${facet} at any depth`,
    walk: { facets: [facet], after: middle },
    bounds: "organization_id=? AND facet_id=? AND (created_at_ms,report_id)<(?,?)",
  })),
];

describe("the listing's queries", () => {
  it.each(walks)("answer $rule from the index alone", async ({ walk: given, bounds }) => {
    const plans = await plansOf(() => reports.walk({ ...walk, ...given }));

    expect(plans).toContain(`SEARCH walked USING PRIMARY KEY (${bounds})`);
    expect(plans.filter((plan) => /SCAN|TEMP B-TREE/.test(plan))).toEqual([]);
  });

  it("look further filters up by primary key", async () => {
    const facets = [facetNames.queued, facetNames.status("TODO"), facetNames.country("US")];

    const plans = await plansOf(() => reports.walk({ ...walk, facets, after: middle }));

    const lookup = "USING PRIMARY KEY (organization_id=? AND facet_id=? AND created_at_ms=? AND report_id=?)";
    // Newer versions of SQLite say that an EXISTS became a join.
    const lookups = plans.filter((plan) => plan.startsWith("SEARCH other")).map((plan) => plan.replace(" EXISTS", ""));
    expect(lookups).toEqual([`SEARCH other ${lookup}`, `SEARCH other ${lookup}`]);
    expect(plans.filter((plan) => /SCAN|TEMP B-TREE/.test(plan))).toEqual([]);
  });

  it("read the records of a page by key", async () => {
    const plans = await plansOf(() => reports.records([1, 2, 3], 0));

    expect(plans.filter((plan) => /SCAN (?!json)/.test(plan))).toEqual([]);
  });

  it("read the budget from its own index", async () => {
    const plans = await plansOf(() => createReviewStore(db).apiReviewsAfter(1, 0, 10));

    expect(plans).toEqual([
      "SEARCH reviews USING COVERING INDEX reviews_by_api (organization_id=? AND created_at_ms>?)",
    ]);
  });
});

describe("walk", () => {
  it("tells where to go on when its steps are used up before the limit", async () => {
    const facets = [facetNames.queued, facetNames.country("US")];

    const first = await reports.walk({ ...walk, facets, mostSteps: 5 });
    const second = await reports.walk({ ...walk, facets, mostSteps: 5, after: first.resumeAfter });

    expect(first.positions.map(({ id }) => id)).toEqual([300, 299, 298, 297, 296]);
    expect(first.resumeAfter).toEqual({ createdAtMs: 295, id: 296 });
    expect(second.positions.map(({ id }) => id)).toEqual([295, 294, 293, 292, 291]);
  });

  it("has nothing to go on from at its end, and for a facet that no report has", async () => {
    const end = await reports.walk({ ...walk, facets: [facetNames.queued, facetNames.country("US")], limit: 400 });
    const none = await reports.walk({ ...walk, facets: [facetNames.country("XX")] });

    expect(end).toMatchObject({ positions: { length: 300 }, resumeAfter: null });
    expect(none).toEqual({ positions: [], resumeAfter: null });
  });
});
