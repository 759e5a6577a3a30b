import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { receiveBody } from "../../base/request-body.ts";
import type { WebParts } from "../parts.ts";
import { sendProblem } from "../problem.ts";
import { addRoute } from "../route.ts";

/** What another service says of the incidents that alerts opened there. */
export interface Hooks {
  /** Returns whether a receiver of PagerDuty has this name and a secret with which webhooks are signed. */
  isSigning(receiver: string): boolean;
  /**
   * Applies a webhook of PagerDuty. `unsigned`: it is not of that receiver's secret; `ignored`: it is about nothing that
   * changes an alert; else what became of it. @throws FlatlineError invalid_data for a signed body that is no webhook
   */
  pagerduty(webhook: {
    readonly receiver: string;
    readonly body: Uint8Array;
    readonly signature: string;
  }): Promise<"unsigned" | "ignored" | "applied" | "repeated" | "late" | "no_alert" | "unchanged">;
}

// A webhook of PagerDuty has some kilobytes.
const mostHookBytes = 64 * 1_024;
// All who know the name of a receiver can send hooks.
const mostBytesOfAll = 2 * 1_024 * 1_024;

/** `/api/v1/hooks/…`: what other services say of alerts. Their signatures let them in, not a token. */
export function addHookRoutes(server: FastifyInstance, { hooks, bodies }: WebParts): void {
  const limits = { mostBytes: mostHookBytes, budget: bodies.part(mostBytesOfAll) };
  addRoute(server, "POST /api/v1/hooks/pagerduty/:receiver", {
    access: "open",
    says: "A signed webhook (V3) of PagerDuty",
    bodySays: z.looseObject({}),
    answer: z.object({ outcome: z.string() }),
    handle: async ({ request, reply, params: { receiver } }) => {
      const { "x-pagerduty-signature": signature } = request.headers;
      // This is open to all: of a body that cannot be signed nothing is read.
      if (typeof signature !== "string" || !hooks.isSigning(receiver)) return sendProblem(reply, 403, refusal);
      // A signature is of the bytes as they came.
      const body = await receiveBody(request.raw, reply.raw, limits);
      const outcome = await hooks.pagerduty({ receiver, body, signature });
      if (outcome !== "unsigned") return { outcome };
      request.failedVia = "pagerduty";
      return sendProblem(reply, 403, refusal);
    },
  });
}

const refusal = "the signature is missing or is not of the webhookSecret of a pagerduty receiver with this name";
