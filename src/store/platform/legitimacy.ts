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

export interface LegitimacyStore {
  /** Inserts or replaces by organization and name, in the surrounding transaction. */
  upsert(rule: LegitimacyRule): Promise<void>;
  /**
   * Returns the name of an enabled rule that protects `host`, null without one. `parents` are its parent domains:
   * `example.org` and `org` for `a.example.org`.
   */
  ruleFor(host: string, parents: readonly string[]): Promise<string | null>;
}
