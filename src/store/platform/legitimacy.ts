import { FlatlineError } from "../../base/errors.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { Db } from "../schema.ts";

/** Domains that a rule declares legitimate: their assets cannot be approved for blocking (CONTRACT 9, check 12). */
export interface LegitimacyRule {
  readonly name: string;
  readonly isEnabled: boolean;
  /** null: a global rule. Every rule applies to the reviews of every organization. */
  readonly organization: string | null;
  readonly domains: readonly {
    /** ASCII, lower case, without a trailing dot. */
    readonly domain: string;
    /** False: only subdomains. */
    readonly includesItself: boolean;
  }[];
}

/** Creates the store of legitimacy rules over `legitimacy_rules` and `legitimacy_domains`. */
export function createLegitimacyStore(db: Db) {
  async function organizationId(slug: string | null): Promise<number> {
    if (slug === null) return 0;
    const row = await db
      .selectFrom("organizations")
      .select("organization_id")
      .where("slug", "=", slug)
      .executeTakeFirst();
    if (row === undefined) throw new FlatlineError("not_found", `organization "${slug}" does not exist`);
    return row.organization_id;
  }

  return {
    /** Inserts or replaces by organization and name, in the surrounding transaction. */
    upsert: async ({ name, isEnabled, organization, domains }: LegitimacyRule): Promise<void> => {
      const is_enabled = isEnabled ? 1 : 0;
      const { rule_id } = await db
        .insertInto("legitimacy_rules")
        .values({ organization_id: await organizationId(organization), name, is_enabled })
        .onConflict((conflict) => conflict.columns(["organization_id", "name"]).doUpdateSet({ is_enabled }))
        .returning("rule_id")
        .executeTakeFirstOrThrow();
      await db.deleteFrom("legitimacy_domains").where("rule_id", "=", rule_id).execute();
      for (const chunk of chunksOf(domains))
        await db
          .insertInto("legitimacy_domains")
          .values(
            chunk.map(({ domain, includesItself }) => ({ domain, rule_id, includes_itself: includesItself ? 1 : 0 })),
          )
          .onConflict((conflict) => conflict.doNothing())
          .execute();
    },
    /**
     * Returns the name of an enabled rule that protects `host`, null without one. `parents` are its parent domains:
     * `example.org` and `org` for `a.example.org`.
     */
    ruleFor: async (host: string, parents: readonly string[]): Promise<string | null> => {
      const row = await db
        .selectFrom("legitimacy_domains")
        .innerJoin("legitimacy_rules", "legitimacy_rules.rule_id", "legitimacy_domains.rule_id")
        .select("legitimacy_rules.name")
        .where("legitimacy_domains.domain", "in", [host, ...parents])
        .where("legitimacy_rules.is_enabled", "=", 1)
        .where((eb) =>
          eb.or([eb("legitimacy_domains.domain", "<>", host), eb("legitimacy_domains.includes_itself", "=", 1)]),
        )
        .orderBy("legitimacy_rules.name")
        .limit(1)
        .executeTakeFirst();
      return row?.name ?? null;
    },
  };
}
