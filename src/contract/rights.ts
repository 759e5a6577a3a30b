/** What a token may do (CONTRACT 13). */
export const rights = ["read", "operate", "ingest", "gate", "admin"] as const;
export type Right = (typeof rights)[number];

/** How the token of `server.token` is called. */
export const oneTokenName = "token";

/** All of them: what the one token of `server.token` may do. */
export const allRights: ReadonlySet<Right> = new Set(rights);
