/** Organizations and their brands for API v2. */
export interface OrganizationStore {
  /** Inserts or renames; a null name keeps the stored one. Returns the organization's number in other tables. */
  upsert(organization: { readonly slug: string; readonly name: string | null }): Promise<number>;
  /** Inserts or renames brands of one organization; other brands stay. */
  upsertBrands(
    organizationId: number,
    brands: readonly { readonly id: number; readonly name: string }[],
  ): Promise<void>;
  /** Locks the organization until the transaction ends; waits for other transactions that hold the lock. */
  lock(slug: string): Promise<void>;
  /** Returns the number of an organization; null if it does not exist. */
  idOf(slug: string): Promise<number | null>;
  /** Returns all slugs, sorted. */
  slugs(): Promise<readonly string[]>;
  hasBrand(organizationId: number, brandId: number): Promise<boolean>;
}
