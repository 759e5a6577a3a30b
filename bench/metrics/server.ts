import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { fastify } from "fastify";

import { addMetricsRoutes } from "../../src/web/api/metrics-routes.ts";
import { refuseOtherMethods } from "../../src/web/resource.ts";
import { benchScrapeMs, flatlineSeries, promClientSeries, seriesOrganizations } from "./series.ts";

// A process of its own for Prometheus to scrape: flatline's route, or what prom-client's documentation shows. Arguments:
// flatline | prom-client, and "quick". A twentieth of the organizations runs again between two scrapes.

// No path of this server has one.
const longestParameter = 100;
const isQuick = process.argv[3] === "quick";
const series =
  process.argv[2] === "flatline" ? flatlineSeries(seriesOrganizations(isQuick)) : await promClientSeries(isQuick);
setInterval(() => series.change(), benchScrapeMs);

if (process.argv[2] === "flatline") {
  const server = fastify();
  refuseOtherMethods(server, longestParameter);
  const settings = () => ({ tokens: [], trustedProxy: null, externalUrl: null, publicRead: true, sessionTtlMs: 0 });
  addMetricsRoutes(server, settings, {
    renderMetrics: (format, encoding) => series.render(format, encoding),
    probe: async () => null,
    checks: { names: () => [] },
  });
  await server.listen({ port: 0, host: "127.0.0.1" });
  console.log((server.server.address() as AddressInfo).port);
} else {
  const answer = async (response: ServerResponse): Promise<void> => {
    const [body] = await series.render("text", "identity");
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(body);
  };
  const server = createServer((_request, response) => void answer(response));
  server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
}
