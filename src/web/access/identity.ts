import type { FastifyRequest } from "fastify";

import { firstCharacters } from "../../base/cut-text.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { Secret } from "../../base/secret.ts";
import type { Config } from "../../config/config.ts";
import { describeAuthor, userHeader, type Actor, type ActVia } from "../../contract/actor.ts";
import type { Right } from "../../contract/rights.ts";

/** Who may read and write; asked at each request, so that a reload changes it. With no identity all writes and closed reads are refused. */
export type AccessSettings = Pick<Config["server"], "tokens" | "trustedProxy" | "publicRead" | "sessionTtlMs"> & {
  /** What a command on this machine shows; it may everything. */
  readonly localToken: Secret;
  /** By which people reach flatline. */
  readonly externalUrl: string | null;
};

/** A token and what it is good for. */
export type TokenAccess = AccessSettings["tokens"][number];

/** Who asks, and what that one may do and see; found once for each request (CONTRACT 13). */
export interface Identity {
  readonly name: string;
  /** The name that a person gave at the sign-in with this token; null: not said. */
  readonly personName: string | null;
  readonly via: Extract<ActVia, "token" | "proxy" | "session" | "cli">;
  readonly rights: ReadonlySet<Right>;
  /** Patterns of the organizations whose events it may send; null: every organization. */
  readonly slugs: readonly string[] | null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** null: no name was given, or the route is open to all and did not ask. */
    identity: Identity | null;
  }
}

/** Returns who reads or acts, as others read it: "dana (ops)" of a session; null: nobody is named. */
export function readerOf({ identity }: Pick<FastifyRequest, "identity">): string | null {
  return identity === null ? null : describeAuthor(identity.name, identity.personName);
}

/** Returns whether it may see what is not public: who did what and why, findings of the review queue, answers of receivers. */
export function seesDetails({ identity }: Pick<FastifyRequest, "identity">): boolean {
  return identity?.rights.has("read") ?? false;
}

/** Returns the refusal of an identity that lacks a right. */
export function missingRight({ via, name }: Identity, right: Right): string {
  const who = `the ${via === "proxy" ? "user" : "token"} ${JSON.stringify(name)}`;
  return `${who} has no right to do this: it needs ${JSON.stringify(right)} in its \`may\``;
}

// What a command says of its user; a longer one is none.
const longestUser = 200;

/**
 * Returns the author of the requested act. `note` is what the body claims about it, in place of which the name stands
 * that a session was begun with; neither is verified.
 * @throws FlatlineError internal on a route that asks for no right
 */
export function authorOf(request: FastifyRequest, note: string | null | undefined = null): Actor {
  const { identity } = request;
  if (identity === null) throw new FlatlineError("internal", "an act on a route that asks for no right");
  const { name, via, personName } = identity;
  const said = personName ?? blankAsNull(note ?? null);
  // A command on this machine acts as its user, whom no token stands for.
  const isUser = via === "cli";
  return { name, via, user: isUser ? null : commandUser(request), note: isUser && said === name ? null : said };
}

/** Returns who runs the command that asks, by its own word. */
export function commandUser({ headers }: Pick<FastifyRequest, "headers">): string | null {
  const encoded = headers[userHeader];
  if (typeof encoded !== "string" || encoded.length > 12 * longestUser) return null;
  try {
    return blankAsNull(firstCharacters(decodeURIComponent(encoded), longestUser));
  } catch {
    return null;
  }
}

function blankAsNull(text: string | null): string | null {
  return text === null || text.trim() === "" ? null : text;
}
