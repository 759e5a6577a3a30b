import { hash, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Secret } from "../../base/secret.ts";
import { minuteMs } from "../../base/time.ts";
import type { Action } from "../../contract/actor.ts";
import type { AuditAct } from "../../store/acts/audit.ts";
import type { StoredSession, TokenClaim } from "../../store/acts/sessions.ts";
import { basePathOf, isHostOf } from "../own-address.ts";
import type { Running } from "../read/running.ts";
import type { AccessSettings, TokenAccess } from "./admission.ts";

/** A session that has not ended, with its token. */
export interface ActiveSession {
  readonly stored: StoredSession;
  readonly token: TokenAccess;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The session of its cookie; null: none, or the request has an `Authorization`, which takes precedence. */
    session: ActiveSession | null;
  }
}

/** Begins, finds and ends sessions. */
export type Sessions = ReturnType<typeof createSessions>;

function actOf({ tokenName, personName }: StoredSession, action: Action, atMs: number): AuditAct {
  const author = { name: tokenName, via: "session", user: null, note: personName } as const;
  return { atMs, actor: author, action, slug: null, subject: null };
}

// These paths are open to all: their answers must not wait for the store.
const alwaysOpen = /^\/(?:assets\/|-\/(?:healthy|ready)\b)/;
// Nobody can guess 256 bits: a plain hash is enough.
const keyBytes = 32;
// The use of a session is stored at most this often; a short session's, after a share of its length.
const touchEveryMs = minuteMs;
const touchesPerTtl = 10;

/** Creates the sessions of one server. */
export function createSessions({ store, clock, logger }: Running, access: () => AccessSettings) {
  const proofOf = createProver(store);
  /** Sessions by their SHA-256. Open pages ask every few seconds, and no other process writes sessions. */
  const known = new Map<string, StoredSession>();

  /** Returns the token that began a session; null: it is gone, or its secret has changed. */
  async function tokenOf({ tokenName, tokenProof }: TokenClaim): Promise<TokenAccess | null> {
    const token = access().tokens.find(({ name }) => name === tokenName);
    return token !== undefined && (await proofOf(token.secret)) === tokenProof ? token : null;
  }

  /** Returns the session of a key; null: it has ended. */
  async function find(key: string): Promise<ActiveSession | null> {
    const sha256 = sha256Of(key);
    const stored = known.get(sha256) ?? (await store.sessions.bySha256(sha256));
    if (stored !== null) known.set(sha256, stored);
    if (stored === null || clock.nowMs() - stored.lastUsedAtMs >= access().sessionTtlMs) return null;
    const token = await tokenOf(stored);
    return token === null ? null : { stored, token };
  }

  /** Stores the use of a session, not each time; a remembered session also renews its cookie. */
  async function touch(request: FastifyRequest, reply: FastifyReply, key: string): Promise<void> {
    const stored = request.session?.stored;
    const nowMs = clock.nowMs();
    if (stored === undefined) return;
    if (nowMs - stored.lastUsedAtMs < Math.min(touchEveryMs, access().sessionTtlMs / touchesPerTtl)) return;
    try {
      await store.sessions.touch(stored.sha256, nowMs);
      known.set(stored.sha256, { ...stored, lastUsedAtMs: nowMs });
      if (stored.isRemembered) setCookie(request, reply, key, access().sessionTtlMs);
    } catch (error) {
      // The session stays valid.
      logger.warn({ err: error }, "the use of a session could not be noted");
    }
  }

  async function end(stored: StoredSession): Promise<void> {
    await store.transaction(async ({ sessions, audit }) => {
      if (await sessions.remove(stored.sha256)) await audit.append(actOf(stored, "sign_out", clock.nowMs()));
    });
    known.delete(stored.sha256);
  }

  /** `lastsMs`: how long the browser keeps it; null: until it closes. The path separates two flatlines on one host. */
  function setCookie({ headers }: FastifyRequest, reply: FastifyReply, key: string, lastsMs: number | null): void {
    const { externalUrl } = access();
    const url = URL.parse(externalUrl ?? "");
    const parts = [
      `${cookieNameOf(headers.host)}=${key}`,
      `Path=${basePathOf(externalUrl) || "/"}`,
      ...(lastsMs === null ? [] : [`Max-Age=${Math.floor(lastsMs / 1_000)}`]),
      "HttpOnly",
      "SameSite=Lax",
      ...(url?.protocol === "https:" && isHostOf(url, headers.host) ? ["Secure"] : []),
    ];
    void reply.header("set-cookie", parts.join("; "));
  }

  return {
    /** Sets the session of each request of a server. */
    addTo: (server: FastifyInstance): void => {
      server.decorateRequest("session", null);
      server.addHook("onRequest", async (request, reply) => {
        const { headers } = request;
        const key = headers.authorization === undefined ? keyOf(request) : null;
        if (key === null || alwaysOpen.test(request.url)) return;
        request.session = await find(key);
        // An open page that refreshes itself does not use its session.
        const isRefresh = headers["hx-request"] === "true" && headers["if-none-match"] !== undefined;
        if (!isRefresh) await touch(request, reply, key);
      });
    },
    /** Begins a session, ends the browser's former one, and sets its cookie. */
    signIn: async (
      request: FastifyRequest,
      reply: FastifyReply,
      { token, ...asked }: Pick<StoredSession, "personName" | "isRemembered"> & { readonly token: TokenAccess },
    ): Promise<void> => {
      const key = randomBytes(keyBytes).toString("base64url");
      const nowMs = clock.nowMs();
      if (request.session !== null) await end(request.session.stored);
      const session = {
        sha256: sha256Of(key),
        tokenName: token.name,
        tokenProof: await proofOf(token.secret),
        ...asked,
        createdAtMs: nowMs,
        lastUsedAtMs: nowMs,
      };
      await store.transaction(async ({ sessions, audit }) => {
        await sessions.add(session);
        await audit.append(actOf(session, "sign_in", nowMs));
      });
      setCookie(request, reply, key, asked.isRemembered ? access().sessionTtlMs : null);
    },
    /** Ends for good the sessions whose token is gone or has another secret. A reload calls it. */
    endStale: async (): Promise<void> => {
      for (const claim of await store.sessions.claims())
        if ((await tokenOf(claim)) === null) await store.sessions.removeOf(claim);
      known.clear();
    },
    /** Ends the session of the request, if any, and removes its cookie. */
    signOut: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (request.session !== null) await end(request.session.stored);
      setCookie(request, reply, "", 0);
    },
  };
}

const derive: (secret: string, salt: string, length: number) => Promise<unknown> = promisify(scrypt);
const saltBytes = 16;
const proofBytes = 32;

/**
 * Returns a proof of a token's secret, by which a session knows it, also after a restart: its scrypt hash (about 40 ms)
 * with the store's salt, so that a reader of the store cannot guess a weak secret fast. Each proof is made once.
 */
function createProver({ meta }: Pick<Running["store"], "meta">): (secret: Secret) => Promise<string> {
  const known = new WeakMap<Secret, string>();
  return async (secret) => {
    const proof = known.get(secret);
    if (proof !== undefined) return proof;
    const salt = await meta.getOrSet("session_salt", randomBytes(saltBytes).toString("base64url"));
    const made = ((await derive(secret.reveal(), salt, proofBytes)) as Buffer).toString("base64url");
    known.set(secret, made);
    return made;
  };
}

/** Returns the cookie's name. It has the port, because all ports of a host share cookies. */
function cookieNameOf(host = ""): string {
  const [, port] = /:(\d{1,5})$/.exec(host) ?? [];
  return port === undefined || ["80", "443"].includes(port) ? "flatline_session" : `flatline_session_${port}`;
}

/** Returns the key of a `Cookie` header; null: none, or several, because another site may have set one. */
function keyOf({ headers }: FastifyRequest): string | null {
  if (headers.cookie === undefined) return null;
  const cookieName = cookieNameOf(headers.host);
  const keys = headers.cookie.split(";").flatMap((pair) => {
    const [name = "", value = ""] = pair.trim().split("=");
    return name === cookieName && /^[\w-]{43}$/.test(value) ? [value] : [];
  });
  return keys.length === 1 ? (keys[0] ?? null) : null;
}

function sha256Of(key: string): string {
  return hash("sha256", key);
}
