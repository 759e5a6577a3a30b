/** Domains that a rule declares legitimate: assets on them can't be approved for blocking (CONTRACT 9, check 12). */
export interface LegitimacyRule {
  readonly name: string;
  readonly isEnabled: boolean;
  /** null: of no organization. It protects from every organization's review either way. */
  readonly organization: string | null;
  readonly domains: readonly {
    /** ASCII, lower case, without a trailing dot. */
    readonly domain: string;
    /** False: only its subdomains. */
    readonly includesItself: boolean;
  }[];
}

export interface LegitimacyStore {
  /** Inserts or replaces, by organization and name, in the surrounding transaction. */
  upsert(rule: LegitimacyRule): Promise<void>;
  /**
   * Name of an enabled rule that protects `host`, null without one. `parents` are the domains above it, as `example.org`
   * and `org` of `a.example.org`.
   */
  ruleFor(host: string, parents: readonly string[]): Promise<string | null>;
}
