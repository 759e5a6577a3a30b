import { ownOrigins } from "../../../base/broken-address.ts";
import { dayMs } from "../../../base/time.ts";
import { brokenResult } from "../../../contract/healthcheck.ts";
import type { AlertHistoryEntry } from "../../../store/alerts/alerts.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import type { AlertComment } from "../../../store/alerts/comments.ts";
import { isStaleResult, viewResult } from "../../api/check-view.ts";
import type { GateView } from "../../ports/gate.ts";
import type { ChartData } from "../chart/chart-data.ts";
import type { Lanes } from "../chart/lanes.ts";
import { findingLines } from "../organization/evidence.ts";
import { lanesActs, lanesSent, peopleEvents, readChart, spansOf } from "../chart/chart-model.ts";
import { timelineOf } from "../organization/model.ts";
import type { OrganizationData, TimelineEntry } from "../organization/organization.ts";
import type { PageModel, DetailPorts } from "../overview/overview-model.ts";
import type { FleetData } from "../overview/fleet.ts";
import type { RowData } from "../overview/row.ts";
import type { Unaccepted } from "../parts/notified.ts";
import type { PageActRules, PageAlert, PageSilencedSpan } from "../ports.ts";
import { viewUnaccepted } from "../unaccepted.ts";
import type { HoldFacts } from "./act-facts.ts";
import { beganMs } from "./alert-row.ts";

/** Which stretch of time the chart shows. */
export const alertRanges = ["alert", "24h", "3d", "7d", "all"] as const;
export type AlertRange = (typeof alertRanges)[number];

const rangeMs: Readonly<Record<Exclude<AlertRange, "alert">, number>> = {
  "24h": dayMs,
  "3d": 3 * dayMs,
  "7d": 7 * dayMs,
  all: 400 * dayMs,
};

// What waits for it is a line of a table each.
const mostWaiting = 100;

export interface AlertAsk {
  readonly id: string;
  readonly params: URLSearchParams;
  readonly hasToken: boolean;
  readonly withPeople: boolean;
}

/** Everything that the page of one alert shows. Times are epoch ms. */
export interface AlertData {
  readonly nowMs: number;
  readonly view: PageAlert;
  /** Its organization as it is now; null: it is no longer configured. */
  readonly row: RowData | null;
  readonly fleet: FleetData;
  readonly gate: GateView | null;
  readonly rules: PageActRules | null;
  readonly hold: HoldFacts;
  readonly history: readonly AlertHistoryEntry[];
  readonly comments: readonly AlertComment[];
  readonly deliveries: readonly DeliveryAttempt[];
  /** Its notifications that no receiver has accepted yet. */
  readonly waiting: readonly Unaccepted[];
  readonly chart: ChartData;
  readonly range: AlertRange;
  readonly isScaleAsked: boolean;
  readonly lanes: Lanes;
  readonly assetTypes: OrganizationData["assetTypes"];
  readonly findings: OrganizationData["findings"];
  /** When the run was that found it, of an alert that is over; null: it is the last one, or nothing is known. */
  readonly foundAtMs: number | null;
  readonly suggestedAction: string | null;
  readonly timeline: readonly TimelineEntry[];
  readonly hasToken: boolean;
  readonly withPeople: boolean;
}

/** Reads what the page of one alert shows; null when none has this id, or it is no longer kept. */
export async function readAlert(
  ports: DetailPorts,
  model: PageModel,
  { id, params, hasToken, withPeople }: AlertAsk,
): Promise<AlertData | null> {
  const { page, outbox } = ports;
  const detail = await page.alert(id);
  if (detail === null) return null;
  const { view, history, comments, worstResult } = detail;
  const { alert, endsAtMs } = view;
  const { slug, check, kind } = alert;
  const { nowMs } = model;
  const endMs = endsAtMs ?? nowMs;
  const range = alertRanges.find((one) => one === params.get("range")) ?? "alert";
  const startMs = range === "alert" ? beganMs(alert) - dayMs : nowMs - rangeMs[range];
  const { chart, isScaleAsked, points, silenced } = await readChart(page, {
    slug,
    params,
    range: { fromMs: startMs, toMs: range === "alert" ? endMs : nowMs },
    emptyFromMs: range === "all" ? startMs : null,
    nowMs,
    beganMs: alert.onset?.atMs ?? null,
  });
  const { fromMs, toMs } = chart;
  const gate = await ports.gate.look(slug);
  const isOfAlert = (one: PageSilencedSpan): boolean => one.toMs > alert.startsAtMs && one.fromMs < endMs;
  const deliveries = (await page.deliveriesOf(slug, alert.startsAtMs)).filter(({ atMs }) => atMs <= endMs + dayMs);
  const markers = await ports.markers.between({ slug, fromMs: Math.min(fromMs, beganMs(alert) - dayMs), toMs });
  const subject = `${check}/${slug}/${kind}`;
  const waiting =
    endsAtMs === null ? await outbox.waitingWith({ subject, fromMs: alert.startsAtMs, limit: mostWaiting }) : [];
  const checks = [model.snapshots.get(slug), ...(model.others.get(slug) ?? [])];
  const snapshot = checks.find((one) => one?.state.check === check);
  const last = snapshot === undefined || isStaleResult(snapshot, nowMs) ? null : snapshot.state.lastReport;
  const found = endsAtMs !== null ? (worstResult?.result ?? null) : last?.kind === "result" ? last.result : null;
  const result = found === null ? null : brokenResult(viewResult(check, found, withPeople), ownOrigins(found.appUrl));
  const own = snapshot === undefined ? [] : snapshot.alerts.filter((one) => one.id === id);
  return {
    nowMs,
    view,
    row: model.rows.find((one) => one.slug === slug) ?? null,
    fleet: model.fleet,
    gate,
    rules: page.actRules(slug),
    hold: (await page.holds())(alert),
    history,
    comments,
    deliveries,
    waiting: waiting.map((entry) => viewUnaccepted(entry, withPeople)),
    chart,
    range,
    isScaleAsked,
    lanes: {
      spans: snapshot === undefined ? [] : spansOf(history, { ...snapshot, alerts: own }, silenced, fromMs, endMs),
      events: history
        .filter(({ event }) => !peopleEvents.has(event))
        .map(({ atMs, event, severity }) => ({ atMs, event, severity })),
      sent: lanesSent(deliveries),
      acts: lanesActs({ history, comments, releases: gate?.releases ?? [], silenced, markers }),
    },
    assetTypes: endsAtMs === null && check === "dead-asset-spike" ? await page.assetTypes(slug) : [],
    findings: findingLines(result),
    foundAtMs: worstResult?.atMs ?? null,
    // There is nothing to do about an alert that is over.
    suggestedAction: endsAtMs === null ? (result?.suggestedAction ?? null) : null,
    timeline: timelineOf(history, markers, deliveries, points, nowMs, [], {
      silenced: silenced.filter(isOfAlert),
      releases: (gate?.releases ?? []).filter(({ atMs }) => atMs >= alert.startsAtMs && atMs <= endMs),
      withPeople,
    }),
    hasToken,
    withPeople,
  };
}
