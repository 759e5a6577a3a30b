import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";

import type { Actor } from "../../contract/actor.ts";
import { viewOutboxEntry } from "../../alerting/deliver/outbox-acts.ts";
import { unknownReceiver } from "../../alerting/deliver/test-delivery.ts";
import { authorOf } from "../access/identity.ts";
import { iso } from "../../contract/v1/instant.ts";
import type {
  OutboxEntryAnswer,
  ReceiverAnswer,
  ReceiverTestAnswer,
  UnwatchedAnswer,
} from "../../contract/v1/operator.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { UnwatchedReading } from "../read/unwatched.ts";
import type { OutboxReading } from "../read/outbox.ts";
import { addResource } from "../resource.ts";
import { outboxEntrySchema, receiverSchema, receiverTestSchema, unwatchedSchema } from "../../contract/v1/operator.ts";
import { readInput } from "./read-input.ts";

const testQuerySchema = z.strictObject({ incident: z.enum(["true", "false"], "must be true or false").optional() });

/** Registers the routes that only an operator sees: outbox, receivers, configuration and slugs that nothing checks (CONTRACT 8 and 11). */
export function addOperatorRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  ports: {
    readonly outbox: OutboxReading;
    readonly showConfiguration: () => unknown;
    readonly unwatched: UnwatchedReading;
  },
): void {
  const { outbox, showConfiguration, unwatched } = ports;
  addResource(scope, "/api/v1/outbox", settings, {
    GET: {
      access: "read",
      about: { says: "Waiting notifications, and those that gave up", answer: z.array(outboxEntrySchema) },
      handle: async (): Promise<OutboxEntryAnswer[]> => (await outbox.list()).map(viewOutboxEntry),
    },
  });
  const change =
    (work: (id: string, author: Actor) => Promise<void>) => async (request: FastifyRequest, reply: FastifyReply) => {
      const { id } = request.params as { readonly id: string };
      await work(id, authorOf(request));
      return reply.code(204).send();
    };
  addResource(scope, "/api/v1/outbox/:id/retry", settings, {
    POST: {
      access: "admin",
      about: { says: "Tries it again now" },
      handle: change((id, author) => outbox.retry(id, author)),
    },
  });
  addResource(scope, "/api/v1/outbox/:id", settings, {
    DELETE: {
      access: "admin",
      about: { says: "Discards it" },
      handle: change((id, author) => outbox.discard(id, author)),
    },
  });
  addResource(scope, "/api/v1/receivers/:name/test", settings, {
    POST: {
      access: "admin",
      about: { says: "Sends a marked test", query: testQuerySchema, answer: receiverTestSchema },
      handle: async (request): Promise<ReceiverTestAnswer> => {
        const { name } = request.params as { readonly name: string };
        const { incident } = readInput(testQuerySchema, request.query, "not a test of a receiver");
        const deliveries = await outbox.test(name, authorOf(request), incident === "true");
        if (deliveries === null) throw unknownReceiver(name, await outbox.receivers());
        return { receiver: name, accepted: deliveries.every(({ outcome }) => outcome === "accepted"), deliveries };
      },
    },
  });
  addResource(scope, "/api/v1/receivers", settings, {
    GET: {
      access: "read",
      about: { says: "The receivers, without their addresses", answer: z.array(receiverSchema) },
      handle: async (): Promise<ReceiverAnswer[]> =>
        (await outbox.receivers()).map(({ pausedUntilMs, ...receiver }) => ({
          ...receiver,
          pausedUntil: iso(pausedUntilMs),
        })),
    },
  });
  addResource(scope, "/api/v1/config", settings, {
    GET: {
      access: "read",
      about: { says: "The effective configuration, secrets redacted", answer: z.looseObject({}) },
      handle: (_request, reply) => reply.send(showConfiguration()),
    },
  });
  addResource(scope, "/api/v1/unwatched", settings, {
    GET: {
      access: "read",
      about: { says: "Organizations that send events and are not configured", answer: unwatchedSchema },
      handle: async (): Promise<UnwatchedAnswer> => {
        const { items, more } = await unwatched.list();
        const slugs = items.map(({ slug, events, firstAtMs, lastAtMs }) => ({
          slug,
          events,
          firstAt: iso(firstAtMs),
          lastAt: iso(lastAtMs),
        }));
        return { slugs, ...(more > 0 ? { more } : {}) };
      },
    },
  });
}
