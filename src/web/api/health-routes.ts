import type { FastifyInstance, FastifyReply } from "fastify";

import { authorOf } from "../access/identity.ts";
import type { WebParts } from "../parts.ts";
import { sendProblem } from "../problem.ts";
import { addRoute } from "../route.ts";

/** What is wrong, for people; nothing: all is well. */
export interface HealthPort {
  /** With the scheduler and the outbox, which should tick. */
  unhealthy(): readonly string[];
  /** The store is not open, the configuration is not applied, or the process is stopping. */
  unready(): readonly string[];
}

/** `/-/healthy`, `/-/ready` and `/-/reload` (CONTRACT 8). */
export function addHealthRoutes(server: FastifyInstance, { health, reload }: WebParts): void {
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
