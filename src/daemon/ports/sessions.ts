import type { Action } from "../../contract/actor.ts";
import type { AuditAct } from "../../store/acts/audit.ts";
import type { StoredSession } from "../../store/acts/sessions.ts";
import type { Store } from "../../store/store.ts";
import type { SessionsPort } from "../../web/ports/sessions.ts";

/** Creates the sessions over the store; each begins and ends with its row of the audit. */
export function createSessionsPort(store: Pick<Store, "sessions" | "transaction">): SessionsPort {
  return {
    find: (sha256) => store.sessions.bySha256(sha256),
    touch: (sha256, atMs) => store.sessions.touch(sha256, atMs),
    begin: (session) =>
      store.transaction(async ({ sessions, audit }) => {
        await sessions.add(session);
        await audit.append(actOf(session, "sign_in", session.createdAtMs));
      }),
    end: (session, atMs) =>
      store.transaction(async ({ sessions, audit }) => {
        if (await sessions.remove(session.sha256)) await audit.append(actOf(session, "sign_out", atMs));
      }),
  };
}

function actOf({ tokenName, personName }: StoredSession, action: Action, atMs: number): AuditAct {
  const author = { name: tokenName, via: "session", user: null, note: personName } as const;
  return { atMs, actor: author, action, slug: null, subject: null };
}
