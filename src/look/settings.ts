import type { Secret } from "../base/secret.ts";

/** What a second opinion is made with (CONTRACT 16); at least one of `dns`, `http`, `verifier` and `recorded` is there. */
export interface LookSettings {
  /** Dead assets, and controls of each kind, of a look at most. */
  readonly sample: number;
  readonly control: number;
  /** From one look by itself to the next. */
  readonly againMs: number;
  /** `servers`: addresses, empty: those of the system. */
  readonly dns: { readonly servers: readonly string[] } | null;
  readonly http: {
    readonly proxy: Secret;
    readonly userAgent: string;
    readonly timeoutMs: number;
    readonly allow: readonly string[];
  } | null;
  readonly verifier: VerifierSettings | null;
  /** A file of recorded answers, which are given in place of looking. */
  readonly recorded: string | null;
  /** Hosts of the configuration, which are never asked. */
  readonly hosts: readonly string[];
  /** Assets of an organization that are known to be alive. */
  readonly sentinelsOf: (slug: string) => readonly string[];
}

/** The operator's own program that looks. */
export interface VerifierSettings {
  readonly url: Secret;
  readonly timeoutMs: number;
  /** Returns the headers that sign a body. */
  readonly sign: (message: {
    readonly id: string;
    readonly atMs: number;
    readonly body: string;
  }) => Readonly<Record<string, string>>;
}
