import { sql } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { chunksOf } from "../engine/chunks.ts";
import { createPlatformReportStore, createAssetStore, createReviewStore } from "./reports.ts";
import type { KeyRole, PlatformDb, PlatformTables } from "./tables.ts";

/** A key of the embedded service, without the key itself. */
export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly role: KeyRole;
  /** Slugs. */
  readonly organizations: readonly string[];
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

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

/** The records behind API v2. Calls that must commit together run in one `Store.transaction`. */
export type PlatformStore = ReturnType<typeof createPlatformStore>;

type ValidKey = StoredKey & { readonly sha256: string };

/** The valid keys that were asked for, by their SHA-256. */
export type KnownKeys = ReturnType<typeof createKnownKeys>;

/**
 * Creates a memory of keys for the one process that writes, by one connection. Each change of keys ends in `forget`,
 * within its transaction: what was read before goes into a map that nobody reads any more.
 */
export function createKnownKeys() {
  let valid = new Map<string, ValidKey>();
  return {
    valid: () => valid,
    forget: (): void => {
      valid = new Map();
    },
  };
}

/** Creates API v2's part of the store; without `known`, the database is asked for each key. */
export function createPlatformStore(db: PlatformDb, known: KnownKeys | null = null) {
  const organizations = createOrganizationStore(db);
  return {
    organizations,
    keys: createApiKeyStore(db, known),
    assets: createAssetStore(db),
    legitimacy: createLegitimacyStore(db, organizations),
    reports: createPlatformReportStore(db),
    reviews: createReviewStore(db),
  };
}

function createOrganizationStore(db: PlatformDb) {
  return {
    /** Inserts or renames; a null name keeps the stored one. Returns the organization's number in other tables. */
    upsert: async (organization: { readonly slug: string; readonly name: string | null }): Promise<number> => {
      const name = sql<string | null>`coalesce(excluded.name, organizations.name)`;
      const { organizationId } = await db
        .insertInto("organizations")
        .values(organization)
        .onConflict((conflict) => conflict.column("slug").doUpdateSet({ name }))
        .returning("organizationId")
        .executeTakeFirstOrThrow();
      return organizationId;
    },
    /** Inserts or renames brands of one organization; other brands stay. */
    upsertBrands: async (
      organizationId: number,
      brands: readonly { readonly id: number; readonly name: string }[],
    ): Promise<void> => {
      for (const { id, name } of brands)
        await db
          .insertInto("brands")
          .values({ organizationId, brandId: id, name })
          .onConflict((conflict) => conflict.columns(["organizationId", "brandId"]).doUpdateSet({ name }))
          .execute();
    },
    /** Returns the number of an organization; null if it does not exist. */
    idOf: async (slug: string): Promise<number | null> => {
      const found = db.selectFrom("organizations").select("organizationId").where("slug", "=", slug);
      return (await found.executeTakeFirst())?.organizationId ?? null;
    },
    /** Returns all slugs, sorted. */
    slugs: async (): Promise<readonly string[]> => {
      const rows = await db.selectFrom("organizations").select("slug").orderBy("slug").execute();
      return rows.map(({ slug }) => slug);
    },
    hasBrand: async (organizationId: number, brandId: number): Promise<boolean> => {
      const found = db.selectFrom("brands").select("brandId").where("organizationId", "=", organizationId);
      return (await found.where("brandId", "=", brandId).executeTakeFirst()) !== undefined;
    },
  };
}

const keyColumns = ["keyId as id", "name", "role", "organizations", "createdAtMs", "revokedAtMs"] as const;

function createApiKeyStore(db: PlatformDb, known: KnownKeys | null) {
  const keys = () => db.selectFrom("api_keys").select(keyColumns);
  return {
    /** Inserts a key, or updates name, role and organizations of the key with this hash and makes it valid again. */
    upsert: async (key: Omit<StoredKey, "revokedAtMs"> & { readonly sha256: string }): Promise<void> => {
      const { id, sha256, name, role, organizations, createdAtMs } = key;
      const said = { name, role, organizations: JSON.stringify(organizations), revokedAtMs: null };
      await db
        .insertInto("api_keys")
        .values({ ...said, keyId: id, keySha256: sha256, createdAtMs })
        .onConflict((conflict) => conflict.column("keySha256").doUpdateSet(said))
        .execute();
      known?.forget();
    },
    /** Returns the valid key with this SHA-256 (hex); null without one. */
    bySha256: async (sha256: string): Promise<ValidKey | null> => {
      const valid = db.isTransaction ? undefined : known?.valid();
      const held = valid?.get(sha256);
      if (held !== undefined) return held;
      const found = keys().where("keySha256", "=", sha256).where("revokedAtMs", "is", null);
      const row = await found.executeTakeFirst();
      if (row === undefined) return null;
      const key = { ...storedKey(row), sha256 };
      valid?.set(sha256, key);
      return key;
    },
    /** Returns all keys, revoked ones included, oldest first. */
    list: async (): Promise<readonly StoredKey[]> =>
      (await keys().orderBy("createdAtMs").orderBy("keyId").execute()).map(storedKey),
    /** Returns false if there is no valid key with this id. */
    revoke: async (id: string, atMs: number): Promise<boolean> => {
      const valid = db.updateTable("api_keys").where("keyId", "=", id).where("revokedAtMs", "is", null);
      const { numUpdatedRows } = await valid.set({ revokedAtMs: atMs }).executeTakeFirst();
      known?.forget();
      return numUpdatedRows > 0n;
    },
  };
}

function storedKey({
  organizations,
  ...row
}: Omit<PlatformTables["api_keys"], "keyId" | "keySha256"> & { readonly id: string }): StoredKey {
  return { ...row, organizations: JSON.parse(organizations) as string[] };
}

function createLegitimacyStore(db: PlatformDb, organizations: ReturnType<typeof createOrganizationStore>) {
  return {
    /** Inserts or replaces by organization and name, in the surrounding transaction. */
    upsert: async ({ name, isEnabled, organization, domains }: LegitimacyRule): Promise<void> => {
      const organizationId = organization === null ? 0 : await organizations.idOf(organization);
      if (organizationId === null)
        throw new FlatlineError("not_found", `organization "${organization}" does not exist`);
      const enabled = { isEnabled: Number(isEnabled) };
      const { ruleId } = await db
        .insertInto("legitimacy_rules")
        .values({ organizationId, name, ...enabled })
        .onConflict((conflict) => conflict.columns(["organizationId", "name"]).doUpdateSet(enabled))
        .returning("ruleId")
        .executeTakeFirstOrThrow();
      await db.deleteFrom("legitimacy_domains").where("ruleId", "=", ruleId).execute();
      for (const chunk of chunksOf(domains))
        await db
          .insertInto("legitimacy_domains")
          .values(
            chunk.map(({ domain, includesItself }) => ({ domain, ruleId, includesItself: Number(includesItself) })),
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
        .selectFrom("legitimacy_domains as listed")
        .innerJoin("legitimacy_rules as rule", "rule.ruleId", "listed.ruleId")
        .select("rule.name")
        .where("listed.domain", "in", [host, ...parents])
        .where("rule.isEnabled", "=", 1)
        .where((eb) => eb.or([eb("listed.domain", "<>", host), eb("listed.includesItself", "=", 1)]))
        .orderBy("rule.name")
        .limit(1)
        .executeTakeFirst();
      return row?.name ?? null;
    },
  };
}
