import { z } from "zod";

import { createHttpDispatcher } from "../../base/http-dispatcher.ts";
import { FlatlineError } from "../../base/errors.ts";
import { HttpFailure } from "../../base/http.ts";
import type { Config } from "../../config/config.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { reportSchema } from "../../contract/report-schemas.ts";
import type { Report } from "../../contract/reports.ts";
import { createRemoteSource, type RemoteSourceDeps } from "../../daemon/source.ts";
import type { ApiClient } from "../api-client.ts";
import { recode } from "../ask.ts";
import { askApi } from "../door.ts";
import type { AskFlags, CliContext } from "../context.ts";

/** The operations that commands use. */
export type AskedPlatform = Pick<PlatformApi, "listReports" | "reviewProposal">;

/**
 * Lets `work` ask the configured source: the service with the key of `slug`, or the embedded one with a customer's
 * rights for `slug` (CONTRACT 9). @throws usage if `slug` is required, and the errors of askApi
 */
export async function askPlatform<Answer>(
  config: Config,
  flags: AskFlags,
  context: CliContext,
  slug: string | undefined,
  work: (api: AskedPlatform) => Promise<Answer>,
  onIgnoredFilter?: RemoteSourceDeps["onIgnoredFilter"],
): Promise<Answer> {
  const { source, organizations } = config;
  const [first, second] = organizations;
  const chosen = slug ?? (second === undefined ? first?.slug : undefined);
  if (!source.isLocal) {
    if (chosen === undefined && source.apiKey === null)
      throw new FlatlineError("usage", "--slug is needed: each organization has an API key of its own");
    const dispatcher = createHttpDispatcher({ env: context.env });
    const deps = { ...context, dispatcher, onRequest: () => undefined, ...(onIgnoredFilter && { onIgnoredFilter }) };
    try {
      // "" has no key of its own: the source's key is used.
      return await work(createRemoteSource(config, source, deps).forOrganization(chosen ?? ""));
    } finally {
      await dispatcher.destroy();
    }
  }
  if (!source.hasReports)
    throw new FlatlineError(
      "usage",
      `reports and proposals need source.type remote or embedded: a ${source.type} source holds liveness events only`,
    );
  if (chosen === undefined)
    throw new FlatlineError("usage", "--slug is needed: the configuration has several organizations, or none");
  return askApi(flags, context, (api) => work(embeddedService(api, chosen)), "store");
}

// Keeps the report as it is, with the order of its fields.
const asSent = z.custom<Report>((value) => reportSchema.safeParse(value).success);
const pageSchema = z.object({ reports: z.array(asSent), cursor: z.string().optional() });
const outcomeSchema = z.object({ proposal: z.unknown(), review: z.unknown(), watchlisted: z.boolean() });

function embeddedService(api: ApiClient, slug: string): AskedPlatform {
  const path = "/api/v1/platform";
  // A refusal by the service is not a wrong use of the command.
  const refuse = recode({
    usage: "api_bad_request",
    forbidden: "api_forbidden",
    not_found: "api_not_found",
    conflict: "api_conflict",
    too_many: "api_rate_limited",
  });
  return {
    listReports: async (query) => {
      const { cursor, ...page } = await api
        .send("POST", `${path}/list_reports`, { slug, ...query }, pageSchema, { isSlow: true })
        .catch(refuse);
      return { ...page, ...(cursor === undefined ? {} : { cursor }) };
    },
    reviewProposal: (request) =>
      api.send("POST", `${path}/review_proposal`, { slug, ...request }, outcomeSchema).catch((error: unknown) => {
        const cause = error instanceof FlatlineError ? error.cause : null;
        if (!(cause instanceof HttpFailure) || !cause.mayHaveBeenSent) return refuse(error);
        const message = "it is unknown whether the review was made: read the proposal again before you decide again";
        throw new FlatlineError("api_outcome_unknown", message, { cause });
      }),
  };
}
