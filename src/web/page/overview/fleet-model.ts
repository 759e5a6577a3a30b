import { fleetEvidence, fleetMember } from "../../../contract/fleet/evidence.ts";
import { spanMs } from "../../../contract/fleet/verdict-words.ts";
import { hourMs } from "../../../base/time.ts";
import type { HourSeries } from "../../../store/runs/hour-series.ts";
import type { AlertsSnapshot } from "../../ports/alerts.ts";
import type { CheckSnapshot } from "../../ports/checks.ts";
import type { FleetData } from "./fleet.ts";
import type { FleetVerdict } from "./verdict.ts";
import type { Notified } from "../parts/notified.ts";
import type { PageFleetStanding, PagePort } from "../ports.ts";
import { viewUnaccepted } from "../unaccepted.ts";
import { shownSeverity, type RowData } from "./row.ts";

const historyHours = 7 * 24;

/** What is known of every organization, in the order of the rows. */
export interface FleetSources {
  readonly page: PagePort;
  readonly rows: readonly RowData[];
  readonly live: AlertsSnapshot;
  readonly past: readonly PastRuns[];
  /** Share of the organizations whose past has been read, 0–1. */
  readonly pastShare: number;
  readonly nowMs: number;
  readonly snapshots: ReadonlyMap<string, CheckSnapshot>;
  /** Whether what receivers answered is for the reader. */
  readonly withAnswers: boolean;
}

/** The last run of each hour of an organization, and for how many hours it is taken for those after it. */
export interface PastRuns {
  readonly hours: HourSeries;
  readonly carryHours: number;
}

/** Reads the fleet as a whole. */
export async function fleetOf({
  page,
  rows,
  live,
  past,
  pastShare,
  nowMs,
  snapshots,
  withAnswers,
}: FleetSources): Promise<FleetData> {
  const alerts = live.alerts.map(({ state }) => state);
  const standing = page.fleetStanding(
    [...snapshots.values()].map(({ state }) => state),
    alerts,
  );
  const { spiking, organizations, bound } = standing;
  const fleets = await page.fleets();
  const firstHour = Math.floor(nowMs / hourMs) - historyHours + 1;
  const trace = traceOf(past, firstHour);
  const traceVerdicts = trace.map((_, index) => {
    const [startMs, endMs] = [(firstHour + index) * hourMs, (firstHour + index + 1) * hourMs];
    return fleets.some((fleet) => fleet.startsAtMs < endMs && (fleet.endsAtMs ?? nowMs) >= startMs);
  });
  const lastHot = trace.findLastIndex((count) => count !== null && count > 0);
  const firstKnown = trace.findIndex((count) => count !== null);
  const isFlat = pastShare === 1 && rows.every((row) => shownSeverity(row) === "ok");
  const flatHours = lastHot === -1 ? firstKnown : lastHot + 1;
  const flatSinceMs =
    isFlat && flatHours >= 0 && flatHours < trace.length - 1 ? (firstHour + flatHours) * hourMs : null;
  return {
    spiking: spiking.size,
    withResult: organizations,
    from: bound,
    verdict: await verdictOf({ page, rows, live, snapshots, withAnswers }, standing),
    trace,
    pastShare,
    traceVerdicts,
    flatSinceMs,
  };
}

/** The verdict that lasts, or that is reached and not sent yet; null below the bounds. */
async function verdictOf(
  { page, rows, live, snapshots, withAnswers }: Omit<FleetSources, "past" | "pastShare" | "nowMs">,
  { spiking }: PageFleetStanding,
): Promise<FleetVerdict | null> {
  if (live.fleet === null) return null;
  const firing = live.alerts
    .map(({ state }) => state)
    .filter(
      ({ check, kind, state, slug }) =>
        check === "dead-asset-spike" && kind === "verdict" && state === "firing" && spiking.has(slug),
    );
  const heldSince = await page.heldSince();
  const held = [...spiking].flatMap((slug) => heldSince.get(slug) ?? []);
  const members = firing.map((alert) => fleetMember(alert, snapshots.get(alert.slug)?.state.lastResultReport ?? null));
  const common = {
    by: live.fleet.by,
    withinMs: spanMs(firing.map(({ startsAtMs }) => startsAtMs)),
    evidence: fleetEvidence(members),
    detectedAtMs: live.fleet.startsAtMs,
    assetTypes: carriers(
      rows.filter(({ slug }) => spiking.has(slug)),
      snapshots,
    ),
    open: {
      unacknowledged: firing.filter(({ acknowledgement }) => acknowledgement === null).length,
      unjudged: firing.filter(({ judgement }) => judgement === undefined).length,
    },
    held: held.length === 0 ? null : { organizations: held.length, sinceMs: Math.min(...held) },
  };
  if (live.fleet.isSent) {
    const { accepted, waiting } = await page.notifiedOfFleet(live.fleet.id);
    const notified = {
      accepted: accepted.map(({ receiver, atMs }) => ({ receiver, atMs })),
      // Which of its recipients is not said here, to nobody.
      waiting: waiting.map((entry) => viewUnaccepted({ ...entry, recipient: null }, withAnswers)),
    };
    return { ...common, stage: "sent", notified };
  }
  return { ...common, stage: "silent", notified: nobody };
}

const nobody: Notified = { accepted: [], waiting: [] };

function traceOf(past: readonly PastRuns[], firstHour: number): (number | null)[] {
  const counts: (number | null)[] = Array.from({ length: historyHours }, () => null);
  for (const { hours, carryHours } of past) {
    let index = 0;
    for (let offset = 0; offset < historyHours; offset++) {
      while (index < hours.length && hours.hour(index) <= firstHour + offset) index++;
      if (index === 0 || hours.hour(index - 1) < firstHour + offset - carryHours) continue;
      const severity = hours.severity(index - 1);
      if (severity !== "unknown") counts[offset] = (counts[offset] ?? 0) + (severity === "ok" ? 0 : 1);
    }
  }
  return counts;
}

/** Which asset types carry the excess of those that spike, with their share, largest first. */
function carriers(
  rows: readonly RowData[],
  snapshots: ReadonlyMap<string, CheckSnapshot>,
): { assetType: string; share: number }[] {
  const totals = new Map<string, number>();
  let all = 0;
  for (const { slug } of rows) {
    const report = snapshots.get(slug)?.state.lastReport;
    for (const { assetType, excess } of report?.kind === "result" ? (report.assetTypeExcess ?? []) : []) {
      totals.set(assetType, (totals.get(assetType) ?? 0) + excess);
      all += excess;
    }
  }
  return [...totals]
    .map(([assetType, excess]) => ({ assetType, share: excess / all }))
    .toSorted((left, right) => right.share - left.share);
}
