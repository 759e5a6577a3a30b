import type { FastifyReply, FastifyRequest } from "fastify";

import type { AccessSettings } from "./ports.ts";
import { sendProblem } from "./problem.ts";

/**
 * Who gets in (CONTRACT 8): `open` everybody; `public` everybody unless `publicRead` is off; `read` who has the token, as
 * Bearer or as the password of Basic; `write` who has it as Bearer.
 */
export type AccessLevel = "open" | "public" | "read" | "write";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Every route of ours has one: see the hook in web.ts. */
    readonly access?: AccessLevel;
  }
}

const bearerChallenge = 'Bearer realm="flatline"';
const basicChallenge = 'Basic realm="flatline", charset="UTF-8"';

/** Answers 401 or 403 and true when the request may not go on; false when it may. */
export function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  level: AccessLevel,
  settings: AccessSettings,
): boolean {
  if (level === "open" || (level === "public" && settings.publicRead)) return false;
  if (settings.token === null) {
    void sendProblem(reply, 403, "this needs a token, and none is configured (server.token)");
    return true;
  }
  if (level === "write" ? hasBearer(request, settings) : isAuthorized(request, settings)) return false;
  // Basic is for reading only: a browser sends it along with requests that another site made up.
  void reply.header("www-authenticate", level === "write" ? [bearerChallenge] : [bearerChallenge, basicChallenge]);
  void sendProblem(reply, 401, "the token is missing or wrong");
  return true;
}

/** Whether both let in the same readers. */
export function isSameAccess(left: AccessSettings, right: AccessSettings): boolean {
  if (left.publicRead !== right.publicRead) return false;
  return left.token === null ? right.token === null : right.token !== null && right.token.equals(left.token.reveal());
}

/** Whether the request carries the token, in either way. Always false while none is configured. */
export function isAuthorized(request: FastifyRequest, settings: AccessSettings): boolean {
  return hasBearer(request, settings) || hasBasic(request, settings);
}

function hasBearer(request: FastifyRequest, { token }: AccessSettings): boolean {
  const credentials = credentialsOf(request, "bearer");
  return token !== null && credentials !== null && token.equals(credentials);
}

function hasBasic(request: FastifyRequest, { token }: AccessSettings): boolean {
  const credentials = credentialsOf(request, "basic");
  if (token === null || credentials === null) return false;
  const plain = Buffer.from(credentials, "base64").toString("utf8");
  const colon = plain.indexOf(":");
  return colon >= 0 && token.equals(plain.slice(colon + 1));
}

function credentialsOf(request: FastifyRequest, scheme: string): string | null {
  const match = /^([\w-]+) +(.+)$/.exec(request.headers.authorization ?? "");
  return match !== null && match[1]?.toLowerCase() === scheme ? (match[2] ?? null) : null;
}
