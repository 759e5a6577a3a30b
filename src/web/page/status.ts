import type { FastifyInstance, FastifyRequest } from "fastify";

import { FlatlineError } from "../../base/errors.ts";
import { severities, worstSeverity } from "../../contract/severity.ts";
import { reaches, reachesEverything, seesDetails } from "../access/identity.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { DaemonStatus } from "../../contract/v1/status.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { UnwatchedPort } from "../ports/events.ts";
import { addResource } from "../resource.ts";
import { countSeverities, fleetSentence } from "./overview/fleet.ts";
import type { PageModel, PageModelPorts } from "./overview/overview-model.ts";
import { readReceiverRows } from "./receivers/receiver-rows.ts";
import { receiverState } from "./receivers/receivers.ts";

export interface StatusOptions extends PageModelPorts {
  readonly version: string;
  readonly unwatched: UnwatchedPort;
  readonly readModel: (request: FastifyRequest) => Promise<PageModel>;
}

/** `GET /api/v1/status`: the whole daemon on one screen, for `flatline status`; it says the same as the pages. */
export function addStatusRoute(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { version, clock, alerts, outbox, unwatched, page, readModel }: StatusOptions,
): void {
  const startedAt = iso(clock.nowMs());

  /** null: the store cannot be read, which `store.problem` explains. */
  async function heldGates({ identity }: FastifyRequest, storeProblem: string | null): Promise<Held | null> {
    if (storeProblem !== null) return null;
    try {
      return [...(await page.heldSince())].filter(([slug]) => reaches(identity, slug));
    } catch (error) {
      if (error instanceof FlatlineError && error.fault !== "bug") return null;
      throw error;
    }
  }

  /** What is closed without `read`, and what is about all organizations. */
  async function closedParts({ identity }: FastifyRequest): Promise<Pick<DaemonStatus, "receivers" | "unwatched">> {
    const names = await unwatched.slugs((slug) => reaches(identity, slug));
    const rows = await readReceiverRows({ outbox, page, entries: await outbox.list() });
    return {
      receivers: rows.map((row) => ({
        name: row.name,
        state: receiverState(row),
        waiting: row.waiting,
        oldestAt: iso(row.oldestMs),
        deadLetters: row.deadLetters,
        pausedUntil: iso(row.pausedUntilMs),
        lastError: row.lastError === null ? null : { at: iso(row.lastError.atMs), text: row.lastError.text },
      })),
      unwatched: [...names.items, ...(names.more > 0 ? [`+${names.more}`] : [])],
    };
  }

  addResource(scope, "/api/v1/status", settings, {
    GET: {
      access: "public",
      handle: async (request, reply): Promise<DaemonStatus> => {
        const { identity } = request;
        const model = await readModel(request);
        const { nowMs, rows, fleet, storeProblem, snapshots, others, checks, late } = model;
        const live = (await alerts.list()).alerts.filter(({ state }) => reaches(identity, state.slug));
        const held = await heldGates(request, storeProblem);
        const lastRuns = [...snapshots.values(), ...[...others.values()].flat()].map(
          ({ state }) => state.lastRunAtMs ?? 0,
        );
        const lastRunMs = lastRuns.reduce((last, one) => Math.max(last, one), 0);
        const isAboutAll = reachesEverything(identity);
        const counts = countSeverities(rows);
        void reply.header("cache-control", "no-store");
        return {
          at: iso(nowMs),
          sentence: fleetSentence(rows, fleet, nowMs),
          severity: worstSeverity(severities.filter((severity) => counts[severity] > 0)),
          organizations: rows.length,
          severities: counts,
          alerts: countAlerts(live),
          unattended: model.unattended,
          gate: held === null ? null : viewHeld(held),
          runs: { checks, late, lastAt: lastRunMs === 0 ? null : iso(lastRunMs) },
          store: { bytes: isAboutAll ? await page.storeBytes() : null, problem: storeProblem },
          daemon: { version, startedAt },
          ...(seesDetails(request) && isAboutAll ? await closedParts(request) : {}),
        };
      },
    },
  });
}

/** The organizations whose gate a failure holds, and since when. */
type Held = readonly (readonly [slug: string, sinceMs: number])[];

function viewHeld(held: Held): DaemonStatus["gate"] {
  const longest = held.toSorted(([, left], [, right]) => left - right)[0];
  return {
    held: held.length,
    longest: longest === undefined ? null : { slug: longest[0], since: iso(longest[1]) },
  };
}

type Live = Awaited<ReturnType<PageModelPorts["alerts"]["list"]>>["alerts"];

/** Each alert once: silenced before acknowledged, as on the page. */
function countAlerts(live: Live): Readonly<Record<"firing" | "acknowledged" | "pending" | "silenced", number>> {
  const counts = { firing: 0, acknowledged: 0, pending: 0, silenced: 0 };
  for (const { state, silenced } of live) {
    if (state.state === "pending") counts.pending++;
    else if (silenced) counts.silenced++;
    else if (state.acknowledgement !== null) counts.acknowledged++;
    else counts.firing++;
  }
  return counts;
}
