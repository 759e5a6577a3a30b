import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { discardEntry, retryEntry } from "../../alerting/deliver/outbox-acts.ts";
import { unknownReceiver } from "../../alerting/deliver/test-delivery.ts";
import {
  auditSchema,
  outboxEntrySchema,
  receiverSchema,
  receiverTestSchema,
  unwatchedSchema,
} from "../../contract/v1/operator.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import { changeOutbox, readReceivers, testReceiver } from "../read/receivers.ts";
import { addRoute } from "../route.ts";
import { cursorSchema, defaultLimit, flagSchema, instantSchema, limitSchema, writeCursor } from "../input.ts";

const auditQuerySchema = z.strictObject({
  since: instantSchema.optional(),
  until: instantSchema.optional(),
  actor: z.string().min(1).optional(),
  limit: limitSchema.optional(),
  cursor: cursorSchema(z.tuple([z.int(), z.int()])).optional(),
});

/** Adds audit, outbox, receivers, configuration and unwatched slugs, for operators (CONTRACT 8, 11, 13). */
export function addOperatorRoutes(server: FastifyInstance, { running, showConfiguration, unwatched }: WebParts): void {
  addRoute(server, "GET /api/v1/audit", {
    access: "admin",
    isWrite: false,
    says: "Who did what, newest first",
    query: auditQuerySchema,
    answer: auditSchema,
    handle: async ({ query: { since, until, actor, limit = defaultLimit, cursor } }) => {
      const found = await running.store.audit.list({
        sinceMs: since,
        untilMs: until,
        actor,
        after: cursor && { atMs: cursor[0], id: cursor[1] },
        // One more entry shows that there is a next page.
        limit: limit + 1,
      });
      const last = found.length > limit ? found[limit - 1] : undefined;
      return {
        entries: found.slice(0, limit).map((entry) => ({ ...entry, id: String(entry.id) })),
        cursor: last && writeCursor([last.atMs, last.id]),
      };
    },
  });
  addRoute(server, "GET /api/v1/outbox", {
    access: "read",
    says: "Waiting notifications, and those that gave up",
    answer: z.array(outboxEntrySchema),
    handle: async () => {
      const entries = await running.store.outbox.list();
      return entries.map((one) => ({ ...one, nextAttemptAtMs: one.state === "dead" ? null : one.nextAttemptAtMs }));
    },
  });
  addRoute(server, "POST /api/v1/outbox/:id/retry", {
    access: "admin",
    says: "Tries it again now",
    handle: ({ request, params: { id } }) => changeOutbox(running, retryEntry, { id, author: authorOf(request) }),
  });
  addRoute(server, "DELETE /api/v1/outbox/:id", {
    access: "admin",
    says: "Discards it",
    handle: ({ request, params: { id } }) => changeOutbox(running, discardEntry, { id, author: authorOf(request) }),
  });
  addRoute(server, "POST /api/v1/receivers/:name/test", {
    access: "admin",
    says: "Sends a marked test",
    query: z.strictObject({ incident: flagSchema.optional() }),
    answer: receiverTestSchema,
    handle: async ({ request, params: { name }, query: { incident = false } }) => {
      const deliveries = await testReceiver(running, name, authorOf(request), incident);
      if (deliveries === null) throw unknownReceiver(name, running.config().receivers);
      return { receiver: name, accepted: deliveries.every(({ outcome }) => outcome === "accepted"), deliveries };
    },
  });
  addRoute(server, "GET /api/v1/receivers", {
    access: "read",
    says: "The receivers, without their addresses",
    answer: z.array(receiverSchema),
    handle: async () => readReceivers(running, await running.store.outbox.list()),
  });
  addRoute(server, "GET /api/v1/config", {
    access: "read",
    says: "The effective configuration, secrets redacted",
    answer: z.looseObject({}),
    handle: () => showConfiguration(),
  });
  addRoute(server, "GET /api/v1/unwatched", {
    access: "read",
    says: "Organizations that send events and are not configured",
    answer: unwatchedSchema,
    handle: async () => ({ slugs: await unwatched.list() }),
  });
}
