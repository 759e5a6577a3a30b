import type { FastifyInstance } from "fastify";

import { iso, withInstants } from "../../contract/v1/instant.ts";
import { statusSchema, type DaemonStatus } from "../../contract/v1/status.ts";
import { worstSeverity } from "../../contract/severity.ts";
import type { WebParts } from "../parts.ts";
import { countSeverities, overviewSentences } from "../pages/overview/headline.ts";
import { mostNamed } from "../read/unwatched.ts";
import { isLate } from "../read/frame.ts";
import { readOverview } from "../read/overview.ts";
import { readReceivers, receiverState } from "../read/receivers.ts";
import { addRoute } from "../route.ts";

/** Adds `GET /api/v1/status`: the daemon's state on one screen, for `flatline status`. */
export function addStatusRoute(server: FastifyInstance, parts: WebParts): void {
  const { version, unwatched, events, running } = parts;
  const startedAt = iso(running.clock.nowMs());

  /** Returns the parts that need `read`. */
  async function closedParts(): Promise<
    Pick<DaemonStatus, "receivers" | "unwatched" | "discovery" | "imports" | "refused">
  > {
    const unknown = await unwatched.slugs();
    const refused = events()?.refused() ?? null;
    const rows = await readReceivers(running, await running.store.outbox.list());
    return {
      receivers: rows.map(({ name, pending: waiting, oldestMs: oldestAtMs, deadLetters, pausedUntilMs, ...row }) => ({
        ...withInstants({ name, waiting, oldestAtMs, deadLetters, pausedUntilMs }),
        state: receiverState({ ...row, deadLetters, pausedUntilMs }),
        lastError: row.lastError && withInstants(row.lastError),
      })),
      discovery: running.discovery().map(withInstants),
      unwatched: [
        ...unknown.slice(0, mostNamed),
        ...(unknown.length > mostNamed ? [`+${unknown.length - mostNamed}`] : []),
      ],
      imports: (events()?.imports() ?? []).map(
        ({ name, rows, received, slugs: { length: organizations }, startedAtMs, renewedAtMs, isRunning }) =>
          withInstants({ name, rows, received, organizations, startedAtMs, renewedAtMs, isRunning }),
      ),
      refused: refused && withInstants(refused),
    };
  }

  addRoute(server, "GET /api/v1/status", {
    access: "public",
    says: "The whole daemon on one screen",
    answer: statusSchema,
    handle: async ({ withDetails }): Promise<DaemonStatus> => {
      const overview = await readOverview(parts, withDetails);
      const { nowMs, rows, held, alerts } = overview;
      const states = running.checks.all();
      const lastRunMs = states.reduce((latest, { last }) => Math.max(latest, last?.lastRunAtMs ?? 0), 0);
      const storeProblem = running.storeProblem();
      return {
        at: iso(nowMs),
        sentence: overviewSentences(overview).join(" ").replaceAll("\u00a0", " "),
        severity: worstSeverity(rows.map(({ severity }) => severity)),
        organizations: rows.length,
        severities: countSeverities(rows),
        alerts,
        unattended: alerts.firing,
        gate: storeProblem === null ? viewHeld(held) : null,
        runs: {
          checks: states.length,
          late: states.filter((state) => isLate(state, nowMs)).length,
          lastAt: lastRunMs === 0 ? null : iso(lastRunMs),
        },
        store: { bytes: await running.store.bytes(), problem: storeProblem },
        daemon: { version, startedAt },
        ...(withDetails ? await closedParts() : {}),
      };
    },
  });
}

function viewHeld(held: ReadonlyMap<string, number>): DaemonStatus["gate"] {
  const longest = [...held].toSorted(([, left], [, right]) => left - right)[0];
  return {
    held: held.size,
    longest: longest === undefined ? null : { slug: longest[0], since: iso(longest[1]) },
  };
}
