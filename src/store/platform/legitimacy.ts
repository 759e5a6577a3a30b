import { FlatlineError } from "../../base/errors.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { Db, RowId } from "../tables.ts";
import { createOrganizationStore } from "./organizations.ts";

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

export interface LegitimacyTables {
  readonly legitimacy_rules: {
    readonly ruleId: RowId;
    /** 0: no organization. */
    readonly organizationId: number;
    readonly name: string;
    readonly isEnabled: number;
  };
  readonly legitimacy_domains: { readonly domain: string; readonly ruleId: number; readonly includesItself: number };
}

/** Creates the store of legitimacy rules over `legitimacy_rules` and `legitimacy_domains`. */
export function createLegitimacyStore(db: Db) {
  async function organizationId(slug: string | null): Promise<number> {
    if (slug === null) return 0;
    const id = await createOrganizationStore(db).idOf(slug);
    if (id === null) throw new FlatlineError("not_found", `organization "${slug}" does not exist`);
    return id;
  }

  return {
    /** Inserts or replaces by organization and name, in the surrounding transaction. */
    upsert: async ({ name, isEnabled, organization, domains }: LegitimacyRule): Promise<void> => {
      const enabled = { isEnabled: isEnabled ? 1 : 0 };
      const { ruleId } = await db
        .insertInto("legitimacy_rules")
        .values({ organizationId: await organizationId(organization), name, ...enabled })
        .onConflict((conflict) => conflict.columns(["organizationId", "name"]).doUpdateSet(enabled))
        .returning("ruleId")
        .executeTakeFirstOrThrow();
      await db.deleteFrom("legitimacy_domains").where("ruleId", "=", ruleId).execute();
      for (const chunk of chunksOf(domains))
        await db
          .insertInto("legitimacy_domains")
          .values(
            chunk.map(({ domain, includesItself }) => ({ domain, ruleId, includesItself: includesItself ? 1 : 0 })),
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
        .innerJoin("legitimacy_rules", "legitimacy_rules.ruleId", "legitimacy_domains.ruleId")
        .select("legitimacy_rules.name")
        .where("legitimacy_domains.domain", "in", [host, ...parents])
        .where("legitimacy_rules.isEnabled", "=", 1)
        .where((eb) =>
          eb.or([eb("legitimacy_domains.domain", "<>", host), eb("legitimacy_domains.includesItself", "=", 1)]),
        )
        .orderBy("legitimacy_rules.name")
        .limit(1)
        .executeTakeFirst();
      return row?.name ?? null;
    },
  };
}
