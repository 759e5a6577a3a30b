import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { type ByteBudget, receiveBody } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { AccessSettings } from "../access/settings.ts";
import { sendProblem } from "../problem.ts";
import { addResource } from "../resource.ts";

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

/** `/api/v1/hooks/…`: what other services say of alerts. Their signatures let them in, not a token. */
export function addHookRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { hooks, bodies }: { readonly hooks: Hooks; readonly bodies: ByteBudget },
): void {
  addResource(scope, "/api/v1/hooks/pagerduty/:receiver", settings, {
    POST: {
      access: "open",
      about: {
        says: "A signed webhook (V3) of PagerDuty",
        body: z.looseObject({}),
        answer: z.object({ outcome: z.string() }),
      },
      handle: async (request, reply) => {
        const { receiver } = request.params as { readonly receiver: string };
        const { "x-pagerduty-signature": signature } = request.headers;
        // This is open to all: of a body that cannot be signed nothing is read.
        if (typeof signature !== "string" || !hooks.isSigning(receiver)) return sendProblem(reply, 403, refusal);
        // A signature is of the bytes as they came.
        const body = await receiveBody(request.raw, reply.raw, { mostBytes: mostHookBytes, budget: bodies });
        try {
          const outcome = await hooks.pagerduty({ receiver, body, signature });
          if (outcome !== "unsigned") return { outcome };
          request.failedVia = "pagerduty";
          return await sendProblem(reply, 403, refusal);
        } catch (error) {
          if (error instanceof FlatlineError && error.code === "invalid_data")
            return sendProblem(reply, 400, error.message);
          throw error;
        }
      },
    },
  });
}

const refusal = "the signature is missing or is not of the webhookSecret of a pagerduty receiver with this name";
