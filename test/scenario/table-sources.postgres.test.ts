import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { FlatlineError } from "../../src/base/errors.ts";
import { Secret } from "../../src/base/secret.ts";
import { createSystemClock, hourMs } from "../../src/base/time.ts";
import type { DeathsQuery } from "../../src/contract/liveness-counts.ts";
import { createTableCounts } from "../../src/sources/table-counts.ts";
import { runCli } from "../support/program/cli-run.ts";
import type { TableEvent } from "../support/store/record-events.ts";
import { ownNames, tableEngines, type SourceChange, type TableEngine } from "../parity/table-engines.ts";

const nowMs = Date.parse("2026-03-01T12:00:30.000Z");
const event = (slug: string, atMs: number, more: Partial<TableEvent> = {}): TableEvent => ({
  slug,
  atMs,
  assetType: "URL",
  status: "DETECTED_AS_DEAD",
  count: 1,
  ...more,
});
/** 20 deaths within the last day, 7 in the week before, for acme; nothing unusual at globex. */
const events = [
  ...Array.from({ length: 20 }, (_, index) => event("acme", nowMs - index * hourMs)),
  ...Array.from({ length: 7 }, (_, index) => event("acme", nowMs - (30 + index * 20) * hourMs, { assetType: "EMAIL" })),
  event("globex", nowMs - hourMs),
];
const day = (slug: string): DeathsQuery => ({ slug, intervals: [{ afterMs: nowMs - 24 * hourMs, untilMs: nowMs }] });

const queries = {
  postgres: {
    counted: `select "Org" as slug, kind as assetType, date_trunc('minute', "checked at") as bucket, sum(n) as count
      from "Checks"."live events" -- what is dead; and :not a parameter
      where "Org" = any(:slugs) and "checked at" > :from and "checked at" <= :to and "Status" = 'DETECTED_AS_DEAD'
      group by 1, 2, 3;`,
    slow: `select ''::text as slug, ''::text as "assetType", :to as bucket, 1 as count, pg_sleep(5), :from, :slugs`,
    unnamed: `select "Org" as slug, kind as type, "checked at" as bucket, n as count from "Checks"."live events"
      where "Org" = any(:slugs) and "checked at" between :from and :to`,
    negative: `select unnest(:slugs) as slug, 'URL' as "assetType", :to as bucket, case when :from < :to then -1 end as count`,
    uncounted: `select slug, 'URL' as "assetType", :to as bucket, n as count
      from unnest(:slugs) as slug, (values (1), (null)) as counts(n) where :from < :to`,
    writing: `with gone as (delete from "Checks"."live events" returning 1)
      select ''::text as slug, ''::text as "assetType", :to as bucket, 1 as count where :from is null or '' = any(:slugs)`,
  },
  clickhouse: {
    counted: `select Org as slug, kind as assetType, toStartOfMinute(\`checked at\`) as bucket, sum(n) as count
      from Checks.\`live events\` -- what is dead; and {not:a} parameter
      where Org in {slugs:Array(String)} and \`checked at\` > {from:DateTime64(3)} and \`checked at\` <= {to:DateTime}
        and Status = 'DETECTED_AS_DEAD'
      group by slug, assetType, bucket;`,
    slow: `select 'acme' as slug, '' as assetType, {to:DateTime} as bucket, sleepEachRow(0.5) as count from numbers(10)
      where {from:DateTime} < {to:DateTime} and length({slugs:Array(String)}) > 0 settings max_block_size = 1`,
    unnamed: `select Org as slug, kind as type, \`checked at\` as bucket, n as count from Checks.\`live events\`
      where Org in {slugs:Array(String)} and bucket between {from:DateTime} and {to:DateTime}`,
    negative: `select arrayJoin({slugs:Array(String)}) as slug, 'URL' as assetType, {to:DateTime64(3)} as bucket,
      if({from:DateTime} < {to:DateTime}, -1, 0) as count`,
    uncounted: `select arrayJoin({slugs:Array(String)}) as slug, 'URL' as assetType, {to:DateTime64(3)} as bucket,
      arrayJoin([1, null]) as count where {from:DateTime} < {to:DateTime}`,
    writing: null,
  },
} as const;

for (const { name, note, start, isMissing } of tableEngines) {
  describe.skipIf(isMissing)(`a source in ${name} ${note}`, () => {
    let engine: TableEngine;
    let folder: string;
    beforeAll(async () => {
      engine = await start();
      await engine.replace(events);
      folder = await mkdtemp(join(tmpdir(), "flatline-table-source-"));
    });
    afterAll(async () => {
      await engine.close();
      await rm(folder, { recursive: true });
    });

    async function failureOf(change: SourceChange): Promise<FlatlineError> {
      const counts = engine.counts(change);
      try {
        const [answer] = await counts.deaths([day("acme")]).catch((error: FlatlineError) => [error]);
        return answer instanceof FlatlineError ? answer : expect.fail("it answered");
      } finally {
        await counts.close();
      }
    }

    it("asks once for all that is due together, and remembers first events", async () => {
      const codes: string[] = [];
      const counts = engine.counts({}, codes);
      const slugs = Array.from({ length: 500 }, (_, index) => `org-${index}`);

      const [acme] = await counts.deaths(["acme", ...slugs].map(day));
      await counts.firstEvents(["acme", "acme", ...slugs]);
      await counts.firstEvents(["acme"]);
      await counts.close();

      expect(acme).toEqual([{ assetType: "URL", deaths: [20] }]);
      expect(codes).toEqual(["count_deaths ok", "first_events ok"]);
    });

    it("counts by a query of the operator's, a bucket at its start", async () => {
      const counts = engine.counts({ events: { kind: "query", query: queries[name].counted } });

      const found = await counts.deaths([
        {
          slug: "acme",
          intervals: [
            { afterMs: nowMs - 24 * hourMs, untilMs: nowMs },
            { afterMs: nowMs - 30_000, untilMs: nowMs },
          ],
        },
        { slug: "acme", intervals: [{ afterMs: nowMs - 30_001, untilMs: nowMs }] },
      ]);
      const first = await counts.firstEvents(["acme"]);
      await counts.close();

      // The death at now is in the bucket that began 30 s before.
      expect(found).toEqual([[{ assetType: "URL", deaths: [20, 0] }], [{ assetType: "URL", deaths: [1] }]]);
      expect(first).toBeNull();
    });

    it.each([
      {
        rule: "a table that is not there",
        code: "api_bad_request",
        change: { events: { ...ownNames, table: "Checks.gone" } },
      },
      {
        rule: "a column that is not there",
        code: "api_bad_request",
        change: { events: { ...ownNames, columns: { ...ownNames.columns, at: "gone" } } },
      },
      {
        rule: "a name that tries to be more than a name",
        code: "api_bad_request",
        change: { events: { ...ownNames, columns: { ...ownNames.columns, slug: 'Org" = $1) or ("1`) or (`1' } } },
      },
      {
        rule: "a query that takes too long",
        code: "api_timeout",
        change: { timeoutMs: 1_000, events: { kind: "query", query: queries[name].slow } },
      },
      {
        rule: "a query without the columns",
        code: "api_bad_request",
        change: { events: { kind: "query", query: queries[name].unnamed } },
      },
      {
        rule: "a count below nothing",
        code: "api_invalid_response",
        change: { events: { kind: "query", query: queries[name].negative } },
      },
      {
        rule: "a count that is missing beside one that is there",
        code: "api_invalid_response",
        change: { events: { kind: "query", query: queries[name].uncounted } },
      },
      {
        rule: "whole numbers that are taken for times",
        code: "api_bad_request",
        change: { events: { ...ownNames, columns: { ...ownNames.columns, at: "at_ms" } } },
      },
      { rule: "times that are taken for whole numbers", code: "api_bad_request", change: { timeUnit: "milliseconds" } },
      { rule: "a port where nobody listens", code: "api_network", change: { url: new Secret(unheard[name]) } },
    ] as const)("says $code of $rule", async ({ code, change }) => {
      expect(await failureOf(change)).toMatchObject({ code, message: expect.stringMatching(/./) });
    });

    it("says where to look when times and numbers are mixed up, and does not repeat its query", async () => {
      const mixedUp = await failureOf({ timeUnit: "milliseconds" });
      const misspelt = await failureOf({
        events: { ...ownNames, columns: { ...ownNames.columns, at: "checked att" } },
      });

      expect(mixedUp.message).toContain("source.timeUnit");
      expect(misspelt.message).toContain("checked at");
      expect(misspelt.message).not.toMatch(/in scope|unnest|arrayCount/i);
    });

    it("says api_unauthorized of a wrong password, and never says the password", async () => {
      const change =
        name === "postgres"
          ? { url: withPassword(engine.source().url.reveal(), "wrong-hush") }
          : { username: "reader", password: new Secret("wrong-hush") };

      const error = await failureOf(change);

      // A PostgreSQL that trusts local users lets anybody in who exists: the user here does not.
      expect(error.code).toBe("api_unauthorized");
      expect(error.message).not.toContain("hush");
    });

    it("says in words of its reader's that a count is no whole number", async () => {
      const halves = queries[name].negative.replace("-1", "0.5");

      const error = await failureOf({ events: { kind: "query", query: halves } });

      expect(error).toMatchObject({ code: "api_invalid_response", message: expect.stringContaining("a whole number") });
      expect(error.message).not.toContain("pattern");
    });

    if (name === "postgres") {
      it("measures from the first event that has a moment: -infinity and infinity are none", async () => {
        await engine.run(
          `insert into "Checks"."live events"
         select slug, at, at at time zone 'UTC', 0, 0, 0, 'URL', 'DETECTED_AS_DEAD', 1 from (values
           ('eternal', '-infinity'::timestamptz), ('eternal', '2026-02-27T12:00:00.500Z'), ('eternal', 'infinity'),
           ('never', 'infinity')) as e(slug, at)`,
        );

        for (const at of ["checked at", "local"]) {
          const counts = engine.counts({ events: { ...ownNames, columns: { ...ownNames.columns, at } } });
          const first = await counts.firstEvents(["eternal", "never", "acme"]);
          const found = await counts.deaths([day("eternal")]);
          await counts.close();

          expect([...(first?.values() ?? [])]).toEqual([
            Date.parse("2026-02-27T12:00:00.500Z"),
            null,
            nowMs - 150 * hourMs,
          ]);
          expect(found).toEqual([[]]);
        }
      });
    }

    // In ClickHouse no query that can stand inside another one writes.
    const { writing } = queries[name];
    if (writing !== null) {
      it("may not write, whatever the query says", async () => {
        const error = await failureOf({ events: { kind: "query", query: writing } });

        expect(error.code).toMatch(/^api_(?:forbidden|bad_request)$/);
        const counts = engine.counts();
        expect(await counts.deaths([day("acme")])).toEqual([[{ assetType: "URL", deaths: [20] }]]);
        await counts.close();
      });
    }

    it("is what `check` evaluates, also as of then, and nothing else can be asked of it", async () => {
      const source = engine.source();
      const config = join(folder, "flatline.yaml");
      const access = source.type === "clickhouse" ? "  username: reader\n  password: ${file:password.txt}\n" : "";
      await writeFile(join(folder, "password.txt"), "it's a secret\n");
      await writeFile(
        config,
        `source:\n  type: ${name}\n  url: \${file:url.txt}\n${access}  table: "${ownNames.table}"\n` +
          `  columns: ${JSON.stringify(ownNames.columns)}\norganizations: [acme, globex]\nstorage: { path: ${join(folder, "flatline.db")} }\n`,
      );
      await writeFile(join(folder, "url.txt"), source.url.reveal());
      await writeFile(join(folder, "events.csv"), "at,slug,status\n2026-01-01T00:00:00Z,acme,DETECTED_AS_DEAD\n");
      const run = (...args: string[]) => runCli([...args, "-c", config], { cwd: folder });

      const then = await run("check", "--at", new Date(nowMs).toISOString(), "--json");
      const now = await run("check", "globex", "--json");

      expect(then.stderr).toBe("");
      expect(JSON.parse(then.stdout)).toMatchObject([
        {
          slug: "acme",
          severity: "fail",
          result: { observed: { currentCount: 20, baselineCount: 7, expectedCount: 1 } },
        },
        { slug: "globex", severity: "ok", result: { observed: { currentCount: 1, baselineCount: 0 } } },
      ]);
      expect(then.exitCode).toBe(2);
      expect(JSON.parse(now.stdout)).toMatchObject([{ slug: "globex", severity: "ok", error: null }]);
      expect(await run("config", "check")).toMatchObject({ exitCode: 0 });
      expect((await run("config", "show")).stdout).not.toContain(source.url.reveal());
      for (const args of [
        ["import", "events", "events.csv"],
        ["reports", "list", "--slug", "acme"],
        ["keys", "list"],
      ]) {
        const refused = await run(...args);
        expect(refused).toMatchObject({ exitCode: 64, stderr: expect.stringContaining("source") });
      }
    });
  });
}

/** Addresses at which nobody listens: the port of discard. */
const unheard = { postgres: "postgres://flatline:hush@127.0.0.1:9/none", clickhouse: "http://127.0.0.1:9" } as const;

function withPassword(url: string, password: string): Secret {
  const changed = new URL(url);
  changed.username = "nobody_here";
  changed.password = password;
  return new Secret(changed.href);
}

describe("an answer that is not ClickHouse's", () => {
  it.each([
    ["api_server_error", "a proxy's page", 502, "<html>Bad gateway</html>"],
    ["api_invalid_response", "no JSON", 200, "hello"],
    ["api_invalid_response", "an answer that was cut short", 200, '{"data":[{"flatline_slug":"acme"'],
    ["api_invalid_response", "rows of something else", 200, '{"a":1}'],
    ["api_forbidden", "a refusal of settings", 500, "Code: 164. DB::Exception: Cannot modify. (READONLY)"],
    [
      "api_server_error",
      "too many queries",
      500,
      "Code: 202. DB::Exception: Too many. (TOO_MANY_SIMULTANEOUS_QUERIES)",
    ],
  ])("is %s: %s", async (code, _rule, status, body) => {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const counts = createTableCounts(
      {
        type: "clickhouse",
        url: new Secret(`http://127.0.0.1:${port}`),
        username: "default",
        password: null,
        database: "default",
        events: ownNames,
        timeUnit: "timestamp",
        timeoutMs: 5_000,
      },
      { clock: createSystemClock(), onRequest: () => undefined },
    );

    await expect(counts.deaths([day("acme")])).rejects.toMatchObject({ code });

    await counts.close();
    await new Promise((resolve) => server.close(resolve));
  });
});
