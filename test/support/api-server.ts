import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { asFlatlineError } from "../../src/base/errors.ts";
import { apiErrorStatuses, type ErrorBody } from "../../src/contract/error-body.ts";
import { spikeRequestSchema } from "../../src/contract/healthcheck.ts";
import { issueMessages } from "../../src/contract/issues.ts";
import { operations } from "../../src/contract/operations.ts";
import type { PlatformApi } from "../../src/contract/platform-api.ts";

/** The wire between a client and an implementation of the port, and nothing else: no keys, no limits. */
export interface ApiServer {
  /** Ends in /api/v2. */
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** Serves the healthcheck of `api` on 127.0.0.1 as API v2 describes it. */
export async function startApiServer(api: Pick<PlatformApi, "deadAssetSpike">): Promise<ApiServer> {
  async function answer(
    method: string | undefined,
    url: string | undefined,
    body: unknown,
  ): Promise<[number, unknown]> {
    if (method !== operations.deadAssetSpike.method || url !== `/api/v2${operations.deadAssetSpike.path}`)
      return refusal(404, ["no such operation"]);
    const parsed = spikeRequestSchema.safeParse(body);
    if (!parsed.success) return refusal(400, issueMessages(parsed.error));
    try {
      return [200, await api.deadAssetSpike(parsed.data)];
    } catch (error) {
      const { httpStatus, message } = asFlatlineError(error);
      return refusal(httpStatus, [message]);
    }
  }
  const server = createServer((incoming, outgoing) => {
    void json(incoming)
      .then((body) => answer(incoming.method, incoming.url, body))
      .catch(() => refusal(400, ["not JSON"]))
      .then(([status, body]) => outgoing.writeHead(status).end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refusal(status: number, issues: readonly string[]): [number, ErrorBody] {
  const known = Object.entries(apiErrorStatuses).find(([, itsStatus]) => itsStatus === status);
  const code = (known?.[0] ?? "INTERNAL_SERVER_ERROR") as ErrorBody["code"];
  return [status, { message: issues[0] ?? code, code, issues: issues.map((message) => ({ message })) }];
}
