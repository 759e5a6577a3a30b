import type { FastifyReply, FastifyRequest } from "fastify";

import { firstCharacters } from "../../base/outside-text.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { Secret } from "../../base/secret.ts";
import type { Config } from "../../config/config.ts";
import { describeAuthor, userHeader, type Actor, type ActVia } from "../../contract/actor.ts";
import { allRights, type Right } from "../../contract/rights.ts";
import { sendProblem } from "../answer.ts";
import { nonBlank } from "../input.ts";
import { isFromOwnPage } from "../own-address.ts";
import { identifyByProxy } from "./proxy.ts";

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
function commandUser({ headers }: Pick<FastifyRequest, "headers">): string | null {
  const encoded = headers[userHeader];
  if (typeof encoded !== "string" || encoded.length > 12 * longestUser) return null;
  try {
    return nonBlank(firstCharacters(decodeURIComponent(encoded), longestUser));
  } catch {
    return null;
  }
}

/** The access that a route needs (CONTRACT 13). `open`: none; `public`: none while `publicRead` is on, else `read`. */
export type Access = "open" | "public" | Right;

export interface Requirement {
  readonly access: Access;
  /** Default: true for every right but `read`. */
  readonly isWrite?: boolean;
}

const bearerChallenge = 'Bearer realm="flatline"';
const basicChallenge = 'Basic realm="flatline", charset="UTF-8"';

/** The refusal of a request. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly message: string;
  /** Values of `WWW-Authenticate`. */
  readonly challenges: readonly string[];
}

export function sendRefusal(reply: FastifyReply, { status, message, challenges }: Refusal): FastifyReply {
  if (challenges.length > 0) void reply.header("www-authenticate", challenges);
  return sendProblem(reply, status, message);
}

/** Identifies the caller of a request and returns the refusal; null: access is granted. */
export function refusalOf(request: FastifyRequest, requirement: Requirement, settings: AccessSettings): Refusal | null {
  const { access } = requirement;
  if (access === "open") return null;
  const right = access === "public" ? "read" : access;
  const isWrite = requirement.isWrite ?? right !== "read";
  const found = identify(request, settings, !isWrite);
  if (found === "wrong") {
    request.failedVia = request.headers.authorization === undefined ? "proxy" : "token";
    return unauthorized(isWrite, settings);
  }
  request.identity = found;
  if (access === "public" && settings.publicRead) return null;
  if (found === null) {
    if (hasIdentities(settings)) return unauthorized(isWrite, settings);
    return forbidden("this needs a token, and none is configured: set server.token and reload");
  }
  if (!found.rights.has(right)) {
    const who = `the ${found.via === "proxy" ? "user" : "token"} ${JSON.stringify(found.name)}`;
    return forbidden(`${who} has no right to do this: it needs ${JSON.stringify(right)} in its \`may\``);
  }
  const isHostEnough = found.via === "session";
  const isByToken = found.via === "token" || found.via === "cli";
  if (isWrite && !isByToken && !isFromOwnPage(request.raw, settings.externalUrl, { isHostEnough }))
    return forbidden("a page of another site sent this, or a program that should show a token");
  return null;
}

/** Returns whether tokens or a trusted proxy are configured. */
export function hasIdentities({ tokens, trustedProxy }: AccessSettings): boolean {
  return tokens.length > 0 || trustedProxy !== null;
}

function unauthorized(isWrite: boolean, { tokens, trustedProxy }: AccessSettings): Refusal {
  const message = `the token${trustedProxy === null ? "" : " or the proxy's user"} is missing or wrong`;
  // Browsers also send Basic credentials with requests that another site made: Basic is only for reading.
  const isBasic = !isWrite && tokens.length > 0;
  return { status: 401, message, challenges: isBasic ? [bearerChallenge, basicChallenge] : [bearerChallenge] };
}

function forbidden(message: string): Refusal {
  return { status: 403, message, challenges: [] };
}

/** Returns the caller of a request; null: it shows no credentials; "wrong": they are false. */
function identify(request: FastifyRequest, settings: AccessSettings, mayBeBasic: boolean): Identity | null | "wrong" {
  const { headers, raw, session } = request;
  const { tokens, trustedProxy, localToken } = settings;
  const given = credentialsOf(headers.authorization ?? "", mayBeBasic);
  if (given !== null && localToken.equals(given))
    return { name: commandUser(request) ?? "unknown", personName: null, via: "cli", rights: allRights, slugs: null };
  // No caller can be identified: the header is for another program, such as a proxy before flatline.
  if (!hasIdentities(settings)) return null;
  if (session !== null) {
    const { token, stored } = session;
    return { ...identityOf(token), via: "session", personName: stored.personName };
  }
  if (headers.authorization === undefined) return trustedProxy === null ? null : identifyByProxy(raw, trustedProxy);
  const token = given === null ? undefined : tokens.find(({ secret }) => secret.equals(given));
  return token === undefined ? "wrong" : identityOf(token);
}

function identityOf({ name, rights, slugs }: TokenAccess): Identity {
  return { name, personName: null, via: "token", rights, slugs };
}

/** Returns the token of an `Authorization` header: Bearer, or the password of Basic; null: neither. */
function credentialsOf(header: string, mayBeBasic: boolean): string | null {
  const [, scheme = "", value = ""] = /^([\w-]+) +(.+)$/.exec(header) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  if (scheme.toLowerCase() !== "basic" || !mayBeBasic) return null;
  const plain = Buffer.from(value, "base64").toString("utf8");
  const colon = plain.indexOf(":");
  return colon === -1 ? null : plain.slice(colon + 1);
}
