import { hourMs } from "../../base/time.ts";
import type { VerdictHour } from "../../store/runs/verdicts.ts";
import type { AlertsSnapshot, CheckSnapshot } from "../ports.ts";
import type { FleetData, FleetVerdict } from "./fleet.ts";
import type { PagePort } from "./ports.ts";
import { shownSeverity, type RowData } from "./row.ts";

const historyHours = 7 * 24;

/** What is known of every organization, in the order of the rows. */
export interface FleetSources {
  readonly page: PagePort;
  readonly rows: readonly RowData[];
  readonly live: AlertsSnapshot;
  readonly past: readonly PastRuns[];
  readonly nowMs: number;
  readonly snapshots: ReadonlyMap<string, CheckSnapshot>;
}

/** The last run of each hour of an organization, and for how many hours it is taken for those after it. */
export interface PastRuns {
  readonly hours: readonly VerdictHour[];
  readonly carryHours: number;
}

/** Reads the fleet as a whole. */
export async function fleetOf({ page, rows, live, past, nowMs, snapshots }: FleetSources): Promise<FleetData> {
  const firing = live.alerts
    .map(({ state }) => state)
    .filter(({ check, kind, state }) => check === "dead-asset-spike" && kind === "verdict" && state === "firing");
  const spikingSlugs = new Set(firing.map(({ slug }) => slug));
  const fresh = rows.filter(
    ({ slug, severity }) => spikingSlugs.has(slug) || (severity !== null && severity !== "unknown"),
  );
  const rule = page.fleetRule();
  const from = rule === null ? null : Math.max(rule.minOrganizations, Math.ceil(rule.ratio * fresh.length), 1);
  const fleets = await page.fleets();
  const firstHour = Math.floor(nowMs / hourMs) - historyHours + 1;
  const trace = traceOf(past, firstHour);
  const traceVerdicts = trace.map((_, index) => {
    const [startMs, endMs] = [(firstHour + index) * hourMs, (firstHour + index + 1) * hourMs];
    return fleets.some((fleet) => fleet.startsAtMs < endMs && (fleet.endsAtMs ?? nowMs) >= startMs);
  });
  const oldest = firing.toSorted((left, right) => left.startsAtMs - right.startsAtMs)[0];
  const verdict: FleetVerdict | null =
    live.fleet === null
      ? null
      : {
          sinceMs: live.fleet.startsAtMs,
          first: oldest === undefined ? null : { slug: oldest.slug, atMs: oldest.startsAtMs },
          assetTypes: carriers(
            rows.filter(({ slug }) => spikingSlugs.has(slug)),
            snapshots,
          ),
          ...(await notified(page, live.fleet.id)),
        };
  const lastHot = trace.findLastIndex((count) => count !== null && count > 0);
  const firstKnown = trace.findIndex((count) => count !== null);
  const isFlat = rows.every((row) => shownSeverity(row) === "ok");
  const flatHours = lastHot === -1 ? firstKnown : lastHot + 1;
  const flatSinceMs =
    isFlat && flatHours >= 0 && flatHours < trace.length - 1 ? (firstHour + flatHours) * hourMs : null;
  return { spiking: spikingSlugs.size, withResult: fresh.length, from, verdict, trace, traceVerdicts, flatSinceMs };
}

async function notified(page: PagePort, fleetId: string): Promise<Pick<FleetVerdict, "notified" | "notifiedMs">> {
  const { receivers, atMs } = await page.toldOfFleet(fleetId);
  return { notified: receivers, notifiedMs: atMs };
}

function traceOf(past: readonly PastRuns[], firstHour: number): (number | null)[] {
  const counts: (number | null)[] = Array.from({ length: historyHours }, () => null);
  for (const { hours, carryHours } of past) {
    let index = 0;
    for (let offset = 0; offset < historyHours; offset++) {
      while (index < hours.length && (hours[index]?.hour ?? 0) <= firstHour + offset) index++;
      const last = hours[index - 1];
      if (last === undefined || last.hour < firstHour + offset - carryHours || last.severity === "unknown") continue;
      counts[offset] = (counts[offset] ?? 0) + (last.severity === "warn" || last.severity === "fail" ? 1 : 0);
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
