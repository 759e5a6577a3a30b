import type { FastifyInstance } from "fastify";

import { statusSchema } from "../../contract/v1/status.ts";
import type { WebParts } from "../parts.ts";
import { countSeverities, overviewSentences } from "../pages/overview/headline.ts";
import { mostNamed } from "../read/unwatched.ts";
import { readOverview } from "../read/overview.ts";
import { readReceivers } from "../read/receivers.ts";
import { addRoute } from "../route.ts";

/** Adds `GET /api/v1/status`: the daemon's state on one screen, for `flatline status`. */
export function addStatusRoute(server: FastifyInstance, parts: WebParts): void {
  const { version, unwatched, events, running } = parts;
  const startedAtMs = running.clock.nowMs();

  /** Returns the parts that need `read`. */
  async function closedParts() {
    const unknown = await unwatched.slugs();
    const rows = await readReceivers(running, await running.store.outbox.list());
    return {
      receivers: rows.map((row) => ({ ...row, waiting: row.pending, oldestAtMs: row.oldestMs })),
      discovery: running.discovery(),
      unwatched: [
        ...unknown.slice(0, mostNamed),
        ...(unknown.length > mostNamed ? [`+${unknown.length - mostNamed}`] : []),
      ],
      imports: (events()?.imports() ?? []).map((one) => ({ ...one, organizations: one.slugs.length })),
      refused: events()?.refused() ?? null,
    };
  }

  addRoute(server, "GET /api/v1/status", {
    access: "public",
    says: "The whole daemon on one screen",
    answer: statusSchema,
    handle: async ({ withDetails }) => {
      const overview = await readOverview(parts, withDetails);
      const { nowMs, rows, held, alerts, severity, checks, late } = overview;
      const { holders } = await running.fleet();
      const lastRunMs = running.checks.all().reduce((latest, { last }) => Math.max(latest, last?.lastRunAtMs ?? 0), 0);
      const storeProblem = running.storeProblem();
      return {
        atMs: nowMs,
        sentence: overviewSentences(overview).join(" ").replaceAll("\u00a0", " "),
        severity,
        organizations: rows.length,
        severities: countSeverities(rows),
        alerts,
        unattended: alerts.firing,
        gate: storeProblem === null ? { ...viewHeld(held), incidents: holders } : null,
        runs: { checks, late, lastAtMs: lastRunMs === 0 ? null : lastRunMs },
        store: { bytes: await running.store.bytes(), problem: storeProblem },
        daemon: { version, startedAtMs },
        ...(withDetails ? await closedParts() : {}),
      };
    },
  });
}

function viewHeld(held: ReadonlyMap<string, number>) {
  const [longest] = [...held].toSorted(([, left], [, right]) => left - right);
  return { held: held.size, longest: longest === undefined ? null : { slug: longest[0], sinceMs: longest[1] } };
}
