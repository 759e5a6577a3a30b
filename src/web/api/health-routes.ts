import type { FastifyInstance, FastifyReply } from "fastify";

import type { Actor } from "../../contract/actor.ts";
import { authorOf } from "../access/identity.ts";
import { sendProblem } from "../problem.ts";
import { addRoute } from "../route.ts";

/** What is wrong, for people; nothing: all is well. */
export interface HealthPort {
  /** With the scheduler and the outbox, which should tick. */
  unhealthy(): readonly string[];
  /** The store is not open, the configuration is not applied, or the process is stopping. */
  unready(): readonly string[];
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
    handle: ({ reply }) => answer(reply, health.unhealthy(), "not healthy"),
  });
  addRoute(server, "GET /-/ready", {
    access: "open",
    handle: ({ reply }) => answer(reply, health.unready(), "not ready"),
  });
  addRoute(server, "POST /-/reload", {
    access: "admin",
    handle: async ({ request }) => {
      await reload(authorOf(request));
      return { status: "reloaded" };
    },
  });
}

function answer(reply: FastifyReply, reasons: readonly string[], refusal: string): unknown {
  return reasons.length === 0 ? { status: "ok" } : sendProblem(reply, 503, refusal, reasons);
}
