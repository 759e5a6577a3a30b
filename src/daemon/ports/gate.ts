import {
  decideGate,
  gateChecks,
  releasesByAlerts,
  type AlertRelease,
  type GateDecision,
  type GatePolicy,
} from "../../alerting/decide/gate.ts";
import type { Logger } from "../../base/logger.ts";
import { hourMs, type Clock } from "../../base/time.ts";
import type { AlertHistoryEntry } from "../../store/alerts/alerts.ts";
import type { GateRelease } from "../../store/alerts/gate.ts";
import type { History } from "../../store/runs/history.ts";
import type { Store } from "../../store/store.ts";
import type { GatePort, GateView, ListedRelease } from "../../web/ports.ts";
import type { CheckStates } from "../check-states.ts";
import type { Runtime } from "../runtime.ts";

export interface GatePortOptions {
  readonly store: Store;
  readonly states: Pick<CheckStates, "of" | "staleAfterMs">;
  readonly history: Pick<History, "runs">;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly logger: Logger;
}

// Of a life that is longer the beginning is left out.
const mostHistory = 1_000;
const shownReleases = 10;
// From when a run was due to its end: a quarter of a day's interval (alerting/decide/run-time.ts).
const longestLagMs = 6 * hourMs;

/** The gate as the HTTP server sees it: read from what the alerts left, at each question. */
export function createGatePort({ store, states, history: runs, runtime, clock, logger }: GatePortOptions): GatePort {
  async function look(slug: string): Promise<GateView | null> {
    const applied = runtime.current();
    const organization = applied.config.organizations.find((one) => one.slug === slug);
    if (organization === undefined) return null;
    const nowMs = clock.nowMs();
    const fromMs = nowMs - applied.config.storage.retentionMs;
    const live = (await Promise.all(gateChecks.map((check) => store.alerts.live(check, slug)))).flat();
    const lives = gateChecks.map((check) => store.alerts.history({ check, slug, fromMs, limit: mostHistory }));
    const releases = await store.gate.releases(slug, fromMs);
    const told = (await Promise.all(lives)).flat();
    const history = await asRecorded(runs, told, releases);
    const state = states.of("dead-asset-spike", slug);
    const isKnown =
      state !== null &&
      state.lastReport?.kind === "result" &&
      nowMs - (state.lastRunAtMs ?? 0) <= states.staleAfterMs(state);
    const facts = { live, history, releases, isKnown };
    const decided = decideGate(facts, organization.gate);
    return {
      slug,
      ...decided,
      message: wordDecision(slug, decided, organization.gate),
      releases: listReleases(releasesByAlerts(facts, organization.gate), releases),
    };
  }

  return {
    look,
    release: async (slug, author, comment) => {
      if ((await look(slug)) === null) return null;
      const atMs = clock.nowMs();
      const { name: by, note } = author;
      await store.transaction(async ({ gate, audit }) => {
        await gate.addRelease({ slug, atMs, by, comment });
        await audit.append({ atMs, actor: author, action: "release", slug, subject: null, detail: { comment } });
      });
      logger.warn({ slug, by, note, comment }, "gate released by hand");
      return look(slug);
    },
  };
}

/**
 * History by when it was recorded, oldest first. A run counts from when it was due; who released the gate before its failure
 * was known has not released that one.
 */
async function asRecorded(
  runs: Pick<History, "runs">,
  history: readonly AlertHistoryEntry[],
  releases: readonly GateRelease[],
): Promise<readonly AlertHistoryEntry[]> {
  const acknowledged = history.filter(({ event }) => event === "acknowledged");
  const byPeople = [...releases, ...acknowledged].map(({ atMs }) => atMs);
  const recorded = history.map(async (entry): Promise<AlertHistoryEntry> => {
    const { check, slug, atMs, event, severity } = entry;
    const isFailure = severity === "fail" && (event === "firing" || event === "escalated");
    const isClose = byPeople.some((personAtMs) => personAtMs >= atMs && personAtMs - atMs <= longestLagMs);
    if (!isFailure || !isClose) return entry;
    const points = await runs.runs({ check, slug, fromMs: atMs - 1, toMs: atMs + longestLagMs });
    return { ...entry, atMs: points.find((point) => point.severity === "fail")?.atMs ?? atMs };
  });
  return (await Promise.all(recorded)).toSorted((left, right) => left.atMs - right.atMs);
}

/** By hand, and by alerts, newest first. */
function listReleases(byAlerts: readonly AlertRelease[], byHand: readonly GateRelease[]): ListedRelease[] {
  const listed = [
    ...byHand.map(({ atMs, by, comment }) => ({ atMs, how: "released" as const, alertId: null, by, comment })),
    ...byAlerts.map(({ atMs, how, alertId }) => ({ atMs, how, alertId, by: null, comment: null })),
  ];
  return listed.toSorted((left, right) => right.atMs - left.atMs).slice(0, shownReleases);
}

function wordDecision(slug: string, { decision, reason, failure }: GateDecision, { releaseOn }: GatePolicy): string {
  const failed = (how: string): string =>
    failure === null ? "" : `${failure.check} of ${slug} ${how} ${new Date(failure.failedAtMs).toISOString()}`;
  const firing = failed("has fired as fail since");
  switch (reason) {
    case "fail_firing":
      return `${firing}: act on none of its deaths until it is ${[...releaseOn, "released"].join(" or ")}`;
    case "fail_latched":
      return `${failed("fired as fail at")}, and nobody has released it yet`;
    case "released":
      return `${firing}, and somebody let its deaths be acted on`;
    case "unknown":
      return `nothing is known of ${slug} at the moment; gate.whenUnknown says ${decision}`;
    case "no_failure":
      return `no failure of ${slug} is open`;
    default:
      return reason satisfies never;
  }
}
