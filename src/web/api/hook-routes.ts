import type { FastifyInstance } from "fastify";

import { FlatlineError } from "../../base/errors.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { HooksPort } from "../ports/outside.ts";
import { sendProblem } from "../problem.ts";
import { addResource } from "../resource.ts";

/** `/api/v1/hooks/…`: what other services say of alerts. Their signatures let them in, not a token. */
export function addHookRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { hooks }: { readonly hooks: HooksPort },
): void {
  scope.removeAllContentTypeParsers();
  // A signature is of the bytes as they came.
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  addResource(scope, "/api/v1/hooks/pagerduty/:receiver", settings, {
    POST: {
      access: "open",
      handle: async (request, reply) => {
        const { receiver } = request.params as { readonly receiver: string };
        const { "x-pagerduty-signature": signature } = request.headers;
        if (typeof signature !== "string") return sendProblem(reply, 403, refusal);
        const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
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
