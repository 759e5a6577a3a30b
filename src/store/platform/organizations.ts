/** Organizations and their brands, as API v2 knows them. */
export interface OrganizationStore {
  /** Inserts or renames; a null name keeps the stored one. Answers the number under which other tables name it. */
  upsert(organization: { readonly slug: string; readonly name: string | null }): Promise<number>;
  /** Inserts or renames brands of one organization; those that are not named stay. */
  upsertBrands(
    organizationId: number,
    brands: readonly { readonly id: number; readonly name: string }[],
  ): Promise<void>;
  /** null when there is none with this slug. */
  /** Waits until no other transaction that took its turn for this organization is under way; within a transaction only. */
  takeTurn(slug: string): Promise<void>;
  idOf(slug: string): Promise<number | null>;
  /** All slugs, by name. */
  slugs(): Promise<readonly string[]>;
  hasBrand(organizationId: number, brandId: number): Promise<boolean>;
}
