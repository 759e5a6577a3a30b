import type { FastifyInstance, FastifyReply } from "fastify";

import type { Actor } from "../../contract/actor.ts";
import { authorOf } from "../access/identity.ts";
import { sendProblem } from "../problem.ts";
import { addRoute } from "../route.ts";

/** Whether all is well; the reasons are for people. */
export interface HealthVerdict {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

export interface HealthPort {
  /** The scheduler and the outbox tick. */
  isHealthy(): HealthVerdict;
  /** The store is open, the configuration is applied, and the process is not stopping. */
  isReady(): HealthVerdict;
}

export interface HealthRoutesOptions {
  readonly health: HealthPort;
  /** Reads the configuration again and applies it. @throws FlatlineError invalid_config with one issue per problem */
  readonly reload: (author: Actor) => Promise<void>;
}

/** `/-/healthy`, `/-/ready` and `/-/reload` (CONTRACT 8). */
export function addHealthRoutes(server: FastifyInstance, { health, reload }: HealthRoutesOptions): void {
  addRoute(server, "GET /-/healthy", {
    access: "open",
    handle: ({ reply }) => answer(reply, health.isHealthy(), "not healthy"),
  });
  addRoute(server, "GET /-/ready", {
    access: "open",
    handle: ({ reply }) => answer(reply, health.isReady(), "not ready"),
  });
  addRoute(server, "POST /-/reload", {
    access: "admin",
    handle: async ({ request }) => {
      await reload(authorOf(request));
      return { status: "reloaded" };
    },
  });
}

function answer(reply: FastifyReply, verdict: HealthVerdict, refusal: string): unknown {
  return verdict.ok ? { status: "ok" } : sendProblem(reply, 503, refusal, verdict.reasons);
}
