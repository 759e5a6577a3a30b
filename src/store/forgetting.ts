import { sql, type RawBuilder } from "kysely";
import type { ForgottenKind, ForgottenRows } from "../contract/v1/operator.ts";
import { literalPattern } from "../base/text-pattern.ts";
import type { KnownKeys } from "./platform/platform.ts";
import type { Db } from "./tables.ts";

type Step = readonly [kind: ForgottenKind | null, table: string, key: string, where: RawBuilder<unknown>];

/** Removes over one connection or transaction. */
export function createForgettingStore(db: Db<object>, knownKeys: KnownKeys | null = null) {
  return {
    /**
     * Removes rows of an organization, at most `maxRows` of each table, in the surrounding transaction; its audit rows
     * stay, and so do assets, which belong to no organization, and events (EventStore.forget).
     */
    forget: async (
      slug: string,
      maxRows: number,
    ): Promise<{ readonly removed: ForgottenRows; readonly hasMore: boolean }> => {
      const removed = { events: 0, history: 0, alerts: 0, silences: 0, markers: 0, keys: 0, records: 0 };
      let hasMore = false;
      for (const [kind, table, key, where] of stepsFor(slug)) {
        if (hasMore && isParent.has(table)) break;
        const keys = sql.raw(key);
        const { numAffectedRows } = await sql`
          DELETE FROM ${sql.table(table)} WHERE (${keys}) IN (
            SELECT ${keys} FROM ${sql.table(table)} WHERE ${where} LIMIT ${maxRows})`.execute(db);
        const rows = Number(numAffectedRows ?? 0n);
        if (kind !== null) removed[kind] += rows;
        // Rows that several organizations refer to are deleted when none of them is left.
        if (rows === maxRows) hasMore = true;
      }
      knownKeys?.forget();
      return { removed, hasMore };
    },
    /** Returns true if `forget` would count a row. */
    isStored: async (slug: string): Promise<boolean> => {
      for (const [kind, table, , where] of stepsFor(slug)) {
        if (kind === null) continue;
        const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} WHERE ${where} LIMIT 1`.execute(db);
        if (rows.length > 0) return true;
      }
      return false;
    },
  };
}

// Rows that refer to these tables are deleted before them.
const isParent = new Set(["checks", "alerts", "proposals", "reports", "legitimacy_rules"]);

function stepsFor(slug: string): Step[] {
  const ofSlug = sql`slug = ${slug}`;
  const check = sql`check_id IN (SELECT check_id FROM checks WHERE slug = ${slug})`;
  const organization = sql`organization_id = (SELECT organization_id FROM organizations WHERE slug = ${slug})`;
  const report = sql`report_id IN (SELECT report_id FROM reports WHERE ${organization})`;
  const proposal = sql`proposal_id IN (SELECT proposal_id FROM proposals WHERE ${report})`;
  const rule = sql`rule_id IN (SELECT rule_id FROM legitimacy_rules WHERE ${organization})`;
  const alert = sql`alert_id IN (SELECT id FROM alerts WHERE ${ofSlug})`;
  // A dead letter of an incident of several organizations stays, and so does an entry that is still to be delivered.
  const incidents = (which: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`SELECT incident_number FROM alerts WHERE incident_number IS NOT NULL AND ${which}`;
  const letter = sql`state = 'dead' AND incident IN (${incidents(ofSlug)})
    AND incident NOT IN (${incidents(sql`slug <> ${slug}`)})`;
  return [
    ["history", "run_hours", "check_id, hour", check],
    [null, "check_reports", "check_id, at_ms", check],
    [null, "runs", "check_id, at_ms", check],
    [null, "checks", "check_id", ofSlug],
    [null, "outbox", "seq", letter],
    [null, "queued_alerts", "alert_id, receiver, recipient", alert],
    [null, "alert_notified", "alert_id, receiver, recipient", alert],
    [null, "alert_log", "entry_id", ofSlug],
    ["alerts", "alerts", "id", ofSlug],
    [null, "act_notices", "seq", ofSlug],
    [null, "look_answers", "incident_number, number, ordinal", ofSlug],
    [null, "event_import_slugs", "import_id, slug", ofSlug],
    ["silences", "silences", "id", sql`slug = ${literalPattern(slug)}`],
    ["markers", "markers", "id", ofSlug],
    ["keys", "api_keys", "key_id", sql`organizations = ${JSON.stringify([slug])}`],
    [null, "reviews", "review_id", organization],
    [null, "reviews", "review_id", proposal],
    [null, "scans", "report_id, scan_id", report],
    [null, "proposals", "proposal_id", report],
    ["records", "reports", "report_id", organization],
    [null, "brands", "organization_id, brand_id", organization],
    [null, "legitimacy_domains", "domain, rule_id, includes_itself", rule],
    [null, "legitimacy_rules", "rule_id", organization],
    [null, "organizations", "organization_id", ofSlug],
  ];
}
