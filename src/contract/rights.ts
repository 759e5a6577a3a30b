/** The rights of tokens (CONTRACT 13). */
export const rights = ["read", "operate", "ingest", "gate", "admin"] as const;
export type Right = (typeof rights)[number];

/** Each right includes `read`, except `ingest`. */
export function rightsOf(may: readonly Right[]): ReadonlySet<Right> {
  return new Set([...(may.some((right) => right !== "ingest") ? (["read"] as const) : []), ...may]);
}

export const oneTokenName = "token";

export const allRights: ReadonlySet<Right> = new Set(rights);
