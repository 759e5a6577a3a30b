import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { secondMs } from "../../base/time.ts";
import { renderReport } from "../../metrics/check-series.ts";
import { contentType } from "../../metrics/exposition.ts";
import { authorOf } from "../access/admission.ts";
import { unknownCheck } from "./check-routes.ts";
import { acceptsGzip, sendProblem } from "../answer.ts";
import type { WebParts } from "../parts.ts";
import { addRoute } from "../route.ts";

const defaultCheck = "dead-asset-spike";
// The answer needs this time to reach Prometheus (CONTRACT 6; the blackbox exporter's default).
const scrapeMarginMs = 500;
// A request by hand has no timeout header; the blackbox exporter's default is the same.
const longestProbeMs = 120_000;

const probeSchema = z.object({
  slug: z.string("one slug is needed: /probe?slug=SLUG").min(1, "one slug is needed: /probe?slug=SLUG"),
  check: z.string("at most one check can be asked for").default(defaultCheck),
});

/** Reports what is wrong, in words; empty: nothing. */
export interface HealthPort {
  /** Includes a scheduler or an outbox that stands still. */
  unhealthy(): readonly string[];
  /** The store is not open, no configuration is applied, or the process is stopping. */
  unready(): readonly string[];
}

/** Adds `/metrics` and `/probe` (CONTRACT 6), `/-/healthy`, `/-/ready` and `/-/reload` (CONTRACT 8). */
export function addMetricsRoutes(
  server: FastifyInstance,
  { renderMetrics, probe, running, health, reload }: WebParts,
): void {
  addRoute(server, "GET /metrics", {
    access: "public",
    handle: async ({ request, reply }) => sendExposition(request, reply, await renderMetrics()),
  });
  addRoute(server, "GET /probe", {
    access: "public",
    query: probeSchema,
    handle: async ({ request, reply, query: { slug, check } }) => {
      const timeoutMs = probeTimeoutMs(request.headers["x-prometheus-scrape-timeout-seconds"]);
      const report = await probe(check, slug, timeoutMs);
      if (report === null) throw unknownCheck(check, slug, running.checkNames());
      return sendExposition(request, reply, [Buffer.from(renderReport(report))]);
    },
  });
  addRoute(server, "GET /-/healthy", {
    access: "open",
    handle: ({ reply }) => answer(reply, health.unhealthy(), "not healthy"),
  });
  addRoute(server, "GET /-/ready", {
    access: "open",
    handle: ({ reply }) => answer(reply, health.unready(), "not ready"),
  });
  addRoute(server, "POST /-/reload", {
    access: "admin",
    handle: async ({ request }) => {
      await reload(authorOf(request));
      return { status: "reloaded" };
    },
  });
}

/** Returns the probe's timeout: the scrape's less a margin, or half of a very short one. */
function probeTimeoutMs(header: string | string[] | undefined): number {
  if (header === undefined) return longestProbeMs;
  const seconds = Number(header);
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new FlatlineError("invalid_data", "X-Prometheus-Scrape-Timeout-Seconds is not a number of seconds");
  }
  const scrapeMs = seconds * secondMs;
  return Math.min(longestProbeMs, Math.max(scrapeMs - scrapeMarginMs, scrapeMs / 2));
}

function sendExposition(request: FastifyRequest, reply: FastifyReply, pieces: readonly Buffer[]): FastifyReply {
  reply.type(contentType).header("vary", "accept-encoding");
  const body = Readable.from(pieces.filter(({ length }) => length > 0));
  if (!acceptsGzip(request)) return reply.send(body);
  // The fastest level makes series twenty times smaller.
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  return reply.header("content-encoding", "gzip").send(pipeline(body, gzip, () => undefined));
}

function answer(reply: FastifyReply, reasons: readonly string[], refusal: string): unknown {
  return reasons.length === 0 ? { status: "ok" } : sendProblem(reply, 503, refusal, reasons);
}
