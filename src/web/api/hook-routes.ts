import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { receiveBody } from "../../base/request-body.ts";
import type { WebParts } from "../parts.ts";
import { sendProblem } from "../answer.ts";
import { addRoute } from "../route.ts";

/** Applies what other services report of flatline's alerts. */
export interface Hooks {
  /** Returns whether a PagerDuty receiver has this name and a `webhookSecret`. */
  isSigning(receiver: string): boolean;
  /**
   * Applies a webhook of PagerDuty. `unsigned`: its signature is wrong; `ignored`: its event changes no alert. @throws
   * FlatlineError invalid_data for a signed body that is no webhook
   */
  pagerduty(webhook: {
    readonly receiver: string;
    readonly body: Uint8Array;
    readonly signature: string;
  }): Promise<"unsigned" | "ignored" | "applied" | "repeated" | "late" | "no_alert" | "unchanged">;
}

// PagerDuty's webhooks have some kilobytes.
const mostHookBytes = 64 * 1_024;
// Anyone who knows a receiver's name can send webhooks.
const mostBytesOfAll = 2 * 1_024 * 1_024;

/** Adds `/api/v1/hooks/…`. Webhooks have a signature and need no token. */
export function addHookRoutes(server: FastifyInstance, { hooks, bodies }: WebParts): void {
  const limits = { mostBytes: mostHookBytes, budget: bodies.part(mostBytesOfAll) };
  addRoute(server, "POST /api/v1/hooks/pagerduty/:receiver", {
    access: "open",
    says: "A signed webhook (V3) of PagerDuty",
    bodySays: z.looseObject({}),
    answer: z.object({ outcome: z.string() }),
    handle: async ({ request, reply, params: { receiver } }) => {
      const { "x-pagerduty-signature": signature } = request.headers;
      // The route is open: it reads a body only if its signature can be checked.
      if (typeof signature !== "string" || !hooks.isSigning(receiver)) return sendProblem(reply, 403, refusal);
      // The signature is for the raw bytes.
      const body = await receiveBody(request.raw, reply.raw, limits);
      const outcome = await hooks.pagerduty({ receiver, body, signature });
      if (outcome !== "unsigned") return { outcome };
      request.failedVia = "pagerduty";
      return sendProblem(reply, 403, refusal);
    },
  });
}

const refusal = "the signature is missing or is not of the webhookSecret of a pagerduty receiver with this name";
