/** What a token may do (CONTRACT 13). */
export const rights = ["read", "operate", "ingest", "gate", "admin"] as const;
export type Right = (typeof rights)[number];

/** Returns what may be done with these: each right includes `read`, but `ingest`. */
export function rightsOf(may: readonly Right[]): ReadonlySet<Right> {
  return new Set([...(may.some((right) => right !== "ingest") ? (["read"] as const) : []), ...may]);
}

/** How the token of `server.token` is called. */
export const oneTokenName = "token";

/** All rights, which the token of `server.token` has. */
export const allRights: ReadonlySet<Right> = new Set(rights);
