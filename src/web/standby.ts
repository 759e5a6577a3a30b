import { fastify } from "fastify";

import { countedInstruments } from "../metrics/catalogue.ts";
import { contentType, formatFamily } from "../metrics/exposition.ts";
import { sendProblem, securityHeaders } from "./answer.ts";
import { bindServer, noSchemas, type WebTransport } from "./web.ts";

/** Creates the HTTP server of a standby process (CONTRACT 21): healthy, and not ready. */
export function createStandby(versions: { readonly version: string; readonly node: string }, transport?: WebTransport) {
  const server = fastify({ schemaController: noSchemas, forceCloseConnections: true });
  server.addHook("onSend", async (_request, reply) => void reply.headers(securityHeaders));
  server.get("/-/healthy", async () => ({ status: "ok" }));
  const metrics = [
    formatFamily("flatline_build_info", countedInstruments.flatline_build_info, [[versions, 1]]),
    formatFamily("flatline_standby", countedInstruments.flatline_standby, [[{}, 1]]),
  ].join("");
  server.get("/metrics", async (_request, reply) => reply.type(contentType).send(metrics));
  server.setNotFoundHandler((_request, reply) =>
    sendProblem(reply.header("retry-after", "5"), 503, "flatline stands by: another process writes to the store"),
  );
  return {
    /** @throws FlatlineError unavailable */
    listen: (listen: string) => bindServer(server, listen, transport),
    close: () => server.close(),
  };
}
