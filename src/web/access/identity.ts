import type { FastifyRequest } from "fastify";

import { firstCharacters } from "../../base/cut-text.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { Secret } from "../../base/secret.ts";
import type { Config } from "../../config/config.ts";
import { describeAuthor, userHeader, type Actor, type ActVia } from "../../contract/actor.ts";
import type { Right } from "../../contract/rights.ts";
import { nonBlank } from "../api/read-input.ts";

/** The settings of access; a reload changes it. If no identity is configured, writes and closed reads are refused. */
export type AccessSettings = Pick<Config["server"], "tokens" | "trustedProxy" | "publicRead" | "sessionTtlMs"> & {
  /** Commands on this machine show it; it has every right. */
  readonly localToken: Secret;
  readonly externalUrl: string | null;
};

/** A configured token with its rights. */
export type TokenAccess = AccessSettings["tokens"][number];

/** The caller of a request, with its rights (CONTRACT 13). */
export interface Identity {
  readonly name: string;
  /** The name that a person gave at the sign-in; null: none. */
  readonly personName: string | null;
  readonly via: Extract<ActVia, "token" | "proxy" | "session" | "cli">;
  readonly rights: ReadonlySet<Right>;
  /** Patterns of the organizations whose events it may send; null: all. */
  readonly slugs: readonly string[] | null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** null: the caller has no name, or the route is open. */
    identity: Identity | null;
  }
}

/** Returns the caller's name as others read it, "dana (ops)" for a session; null: it has none. */
export function readerOf({ identity }: Pick<FastifyRequest, "identity">): string | null {
  return identity === null ? null : describeAuthor(identity.name, identity.personName);
}

const longestUser = 200;

/**
 * Returns the author of an act. The name given at the sign-in replaces `note`, the body's own claim; neither is
 * verified. @throws FlatlineError internal on a route that needs no right
 */
export function authorOf(request: FastifyRequest, note: string | null | undefined = null): Actor {
  const { identity } = request;
  if (identity === null) throw new FlatlineError("internal", "an act on a route that asks for no right");
  const { name, via, personName } = identity;
  const said = personName ?? nonBlank(note);
  // A command on this machine acts as its user; it has no named token.
  const isUser = via === "cli";
  return { name, via, user: isUser ? null : commandUser(request), note: isUser && said === name ? null : said };
}

/** Returns the user that a command names, unverified; null: none. */
export function commandUser({ headers }: Pick<FastifyRequest, "headers">): string | null {
  const encoded = headers[userHeader];
  if (typeof encoded !== "string" || encoded.length > 12 * longestUser) return null;
  try {
    return nonBlank(firstCharacters(decodeURIComponent(encoded), longestUser));
  } catch {
    return null;
  }
}
