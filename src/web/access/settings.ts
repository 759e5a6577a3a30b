import type { Secret } from "../../base/secret.ts";
import type { Right } from "../../contract/rights.ts";

/** Who may read and write; asked at each request, so that a reload changes it. */
export interface AccessSettings {
  readonly tokens: readonly TokenAccess[];
  /** What a command on this machine shows; it may everything. */
  readonly localToken: Secret;
  /** With neither a token nor this all writes and protected reads are refused. */
  readonly trustedProxy: ProxyAccess | null;
  /** By which people reach flatline. */
  readonly externalUrl: string | null;
  readonly publicRead: boolean;
  /** For so long a session lasts without use. */
  readonly sessionTtlMs: number;
}

/** A reverse proxy that says who asks. */
export interface ProxyAccess {
  /** Addresses, and ranges of them: `10.0.0.0/8`. */
  readonly from: readonly string[];
  readonly userHeader: string;
  readonly groupsHeader: string;
  /** The rights of each group. */
  readonly may: Readonly<Record<string, readonly Right[]>>;
}

/** A token and what it is good for. */
export interface TokenAccess {
  readonly name: string;
  readonly secret: Secret;
  readonly rights: ReadonlySet<Right>;
  /** Patterns of the organizations whose events it may send; null: every organization. */
  readonly slugs: readonly string[] | null;
}
