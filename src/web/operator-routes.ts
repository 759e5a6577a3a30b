import type { FastifyInstance } from "fastify";

import { iso } from "./check-view.ts";
import type { AccessSettings, ConfigurationPort, OutboxPort } from "./ports.ts";
import { addResource } from "./resource.ts";

/** What only an operator sees: outbox, receivers and configuration (CONTRACT 8). */
export function addOperatorRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { outbox, configuration }: { readonly outbox: OutboxPort; readonly configuration: ConfigurationPort },
): void {
  addResource(scope, "/api/v1/outbox", settings, {
    GET: {
      access: "read",
      handle: async () =>
        (await outbox.list()).map(({ createdAtMs, nextAttemptAtMs, payload: _payload, ...entry }) => ({
          ...entry,
          createdAt: iso(createdAtMs),
          nextAttemptAt: entry.state === "dead" ? null : iso(nextAttemptAtMs),
        })),
    },
  });
  addResource(scope, "/api/v1/receivers", settings, {
    GET: { access: "read", handle: () => outbox.receivers() },
  });
  addResource(scope, "/api/v1/config", settings, {
    GET: { access: "read", handle: (_request, reply) => reply.send(configuration.show()) },
  });
}
