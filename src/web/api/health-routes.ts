import type { FastifyInstance, FastifyReply } from "fastify";

import { authorOf } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { HealthPort, HealthVerdict, ReloadPort } from "../ports/health.ts";
import { sendProblem } from "../problem.ts";
import { addResource, dropBodies } from "../resource.ts";

/** `/-/healthy`, `/-/ready` and `/-/reload` (CONTRACT 8). */
export function addHealthRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  ports: { readonly health: HealthPort; readonly reload: ReloadPort },
): void {
  dropBodies(scope);
  addResource(scope, "/-/healthy", settings, {
    GET: { access: "open", handle: (_request, reply) => answer(reply, ports.health.isHealthy(), "not healthy") },
  });
  addResource(scope, "/-/ready", settings, {
    GET: { access: "open", handle: (_request, reply) => answer(reply, ports.health.isReady(), "not ready") },
  });
  addResource(scope, "/-/reload", settings, {
    POST: {
      access: "admin",
      isAboutAll: true,
      handle: async (request) => {
        await ports.reload.reload(authorOf(request));
        return { status: "reloaded" };
      },
    },
  });
}

function answer(reply: FastifyReply, verdict: HealthVerdict, refusal: string): unknown {
  return verdict.ok ? { status: "ok" } : sendProblem(reply, 503, refusal, verdict.reasons);
}
