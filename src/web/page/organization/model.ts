import { brokenResult } from "../../../contract/healthcheck.ts";
import { breakAddresses, ownOrigins } from "../../../base/broken-address.ts";
import { dayMs, hourMs } from "../../../base/time.ts";
import { deathWords } from "../../../contract/death-counts.ts";
import type { AlertHistoryEntry } from "../../../store/alerts/alerts.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import type { VerdictPoint } from "../../../store/runs/history.ts";
import { otherChecksOf } from "../overview/checks.ts";
import { findingLines } from "./evidence.ts";
import type { PageModel, DetailPorts } from "../overview/overview-model.ts";
import { baselineDaysOf } from "./baseline-days.ts";
import { ranges, type Range } from "../chart/chart-data.ts";
import { lanesActs, lanesSent, peopleEvents, readChart, spansOf } from "../chart/chart-model.ts";
import { formatCount } from "../../../base/numbers.ts";
import { formatTime, nbsp } from "../../parts/figures.ts";
import type { RowSeverity } from "../parts/marks.ts";
import type { OrganizationData, TimelineEntry } from "./organization.ts";
import { selectRows } from "../overview/row.ts";
import type { EndedAlert } from "../../ports/checks.ts";
import type { GateView } from "../../ports/gate.ts";
import type { PageSilencedSpan } from "../ports.ts";

const rangeMs: Readonly<Record<Range, number>> = { "24h": dayMs, "3d": 3 * dayMs, "7d": 7 * dayMs, all: 400 * dayMs };
const mostTimeline = 40;
// The lane shows comments of so many alerts, the last ones.
const mostCommented = 20;

export interface OrganizationAsk {
  readonly slug: string;
  readonly params: URLSearchParams;
  readonly hasToken: boolean;
  /** Who asks may see names and reasons. */
  readonly withPeople: boolean;
}

/** Reads what the page of one organization shows; null when it is not configured. */
export async function readOrganization(
  ports: DetailPorts,
  model: PageModel,
  ask: OrganizationAsk,
): Promise<OrganizationData | null> {
  const { slug, params } = ask;
  const row = model.rows.find((one) => one.slug === slug);
  const snapshot = model.snapshots.get(slug);
  if (row === undefined || snapshot === undefined) return null;
  const { page } = ports;
  const { nowMs } = model;
  const organization = page.organizations().find((one) => one.slug === slug) ?? null;
  const range = ranges.find((one) => one === params.get("range")) ?? "3d";
  const others = model.others.get(slug) ?? [];
  const checks = [snapshot, ...others].map(({ state }) => state.check);
  const spikeAlert = snapshot.alerts.find(({ kind }) => kind === "verdict");
  const { chart, isScaleAsked, points, silenced } = await readChart(page, {
    slug,
    params,
    range: { fromMs: nowMs - rangeMs[range], toMs: nowMs },
    emptyFromMs: range === "all" ? nowMs - dayMs : null,
    nowMs,
    beganMs: spikeAlert?.onset?.atMs ?? null,
  });
  const { fromMs } = chart;
  const markers = await ports.markers.between({ slug, fromMs, toMs: chart.toMs });
  const histories = await Promise.all(checks.map((check) => page.alertHistory(check, slug, fromMs)));
  const [history = []] = histories;
  const alertIds = [...new Set(history.map(({ alertId }) => alertId))].slice(-mostCommented);
  const deliveries = await page.deliveriesOf(slug, fromMs);
  const firing = [snapshot, ...others].flatMap(({ alerts }) => alerts).filter(({ state }) => state === "firing");
  const report = snapshot.state.lastReport;
  const result = report?.kind === "result" ? brokenResult(report.result, ownOrigins(report.result.appUrl)) : null;
  const order = selectRows(model.rows, { severities: [], text: "", sort: "severity", dir: "desc" });
  const at = order.indexOf(row);
  const lastGood = snapshot.state.lastResultReport;
  const gate = await ports.gate.look(slug);
  return {
    nowMs,
    row,
    origin: organization?.origin ?? null,
    gate: gate === null || gate.reason === "no_failure" ? null : gate,
    fleet: model.fleet,
    previous: order[at - 1]?.slug ?? null,
    next: order[at + 1]?.slug ?? null,
    chart,
    range,
    isScaleAsked,
    lanes: {
      spans: spansOf(history, snapshot, silenced, fromMs, nowMs),
      events: history
        .filter(({ event }) => !peopleEvents.has(event))
        .map(({ atMs, event, severity }) => ({ atMs, event, severity })),
      sent: lanesSent(deliveries),
      acts: lanesActs({
        history,
        comments: await page.commentsOn(alertIds),
        releases: gate?.releases ?? [],
        silenced,
        markers,
      }),
    },
    days: result === null ? [] : baselineDaysOf(result.observed),
    assetTypes: await page.assetTypes(slug),
    findings: findingLines(result),
    suggestedAction: result?.suggestedAction ?? null,
    appUrl: result?.appUrl ?? null,
    error: report?.kind === "error" ? { ...report.error, message: breakAddresses(report.error.message) } : null,
    lastResult: lastGood === null ? null : { severity: lastGood.severity, atMs: lastGood.finishedAtMs },
    lastRunTookMs: report === null ? null : report.finishedAtMs - report.startedAtMs,
    unknownRuns: row.alert?.unknownRuns ?? 0,
    checks,
    others: otherChecksOf(others, nowMs),
    openAlerts: firing.filter(({ acknowledgement }) => acknowledgement === null).map(({ id }) => id),
    sent: {
      accepted: deliveries.filter(({ outcome }) => outcome === "accepted").length,
      dead: deliveries.filter(({ outcome }) => outcome === "refused").length,
    },
    timeline: timelineOf(
      histories.flat(),
      markers,
      deliveries,
      points,
      nowMs,
      await ports.checks.ended("dead-asset-spike", slug),
      {
        silenced,
        releases: (gate?.releases ?? []).filter(({ atMs }) => atMs >= fromMs),
        withPeople: ask.withPeople,
      },
    ),
    settings: organization?.settings ?? [],
    thresholds: organization?.thresholds ?? { warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 },
    hasToken: ask.hasToken,
    silences: (await page.silences()).filter(
      ({ state, organizations }) => state === "active" && organizations.includes(slug),
    ),
    withPeople: ask.withPeople,
  };
}

const eventWords: Readonly<Record<string, (severity: RowSeverity) => string>> = {
  pending: (severity) => `Pending with ${severity}`,
  firing: (severity) => `Firing with ${severity}`,
  escalated: (severity) => `Escalated to ${severity}`,
  deescalated: (severity) => `Down to ${severity}`,
  resolved: () => "Resolved",
  unknown: () => "No result",
  recovered: () => "Results again",
  cleared: () => "Ok before it fired",
  acknowledged: () => "Acknowledged",
  judged: () => "Judged",
  judgement_withdrawn: () => "Judgement withdrawn",
};

/** Returns what happened to alerts, the newest first. */
export function timelineOf(
  history: readonly AlertHistoryEntry[],
  markers: readonly { readonly atMs: number; readonly text: string }[],
  deliveries: readonly DeliveryAttempt[],
  points: readonly VerdictPoint[],
  nowMs: number,
  ended: readonly EndedAlert[],
  people: {
    readonly silenced: readonly PageSilencedSpan[];
    readonly releases: GateView["releases"];
    readonly withPeople: boolean;
  },
): TimelineEntry[] {
  const entries: TimelineEntry[] = history.map((entry) => {
    const { alertId, check, atMs, event, severity } = entry;
    const isSpike = check === "dead-asset-spike";
    const later = history.filter((one) => one.check === check && one.atMs > atMs).map((one) => one.atMs);
    const untilMs = Math.min(nowMs, ...later);
    const word = eventWords[event]?.(severity) ?? event;
    const isEnd = event === "resolved" || event === "recovered" || event === "cleared";
    // No notification is sent of an alert that never fired: one sent then was of another check.
    const isNotified = event !== "pending" && event !== "cleared" && !peopleEvents.has(event);
    const sent = deliveries.filter((one) => one.atMs >= atMs && one.atMs < Math.min(untilMs, atMs + hourMs));
    return {
      atMs,
      kind: peopleEvents.has(event) ? "dot" : "mark",
      severity: isEnd ? "ok" : severity,
      title: isSpike ? word : `${check}: ${word.charAt(0).toLowerCase()}${word.slice(1)}`,
      text: !isSpike
        ? ""
        : `${countsAt(points, atMs)}${isEnd ? undoneText(ended.find(({ id }) => id === alertId)) : ""}`,
      notified: isNotified ? notifiedOf(sent) : null,
    };
  });
  entries.push(
    ...silenceEntries(people.silenced, people.withPeople, nowMs),
    ...releaseEntries(people.releases, people.withPeople),
  );
  for (const { atMs, text } of markers)
    entries.push({
      atMs,
      kind: "dot",
      severity: "ok",
      title: "Marked",
      text: `«${breakAddresses(text)}»`,
      notified: null,
    });
  for (const { receiver, recipient, atMs, outcome, detail } of deliveries) {
    if (outcome !== "refused") continue;
    entries.push({
      atMs,
      kind: "cross",
      severity: "fail",
      title: `Not delivered to ${recipient === null ? receiver : `one recipient of ${receiver}`}`,
      text: people.withPeople ? `${detail}, dead-lettered at once.` : "Dead-lettered at once.",
      notified: null,
    });
  }
  const first = history.find(
    ({ check, event }) => check === "dead-asset-spike" && (event === "firing" || event === "pending"),
  );
  const lastOk =
    first === undefined ? undefined : points.findLast(({ atMs, severity }) => severity === "ok" && atMs < first.atMs);
  if (lastOk !== undefined)
    entries.push({
      atMs: lastOk.atMs,
      kind: "mark",
      severity: "ok",
      title: "Last ok run",
      text: countsAt(points, lastOk.atMs),
      notified: null,
    });
  return entries.toSorted((left, right) => right.atMs - left.atMs).slice(0, mostTimeline);
}

function silenceEntries(silenced: readonly PageSilencedSpan[], withPeople: boolean, nowMs: number): TimelineEntry[] {
  const common = { kind: "dot", severity: "ok", notified: null } as const;
  return silenced.flatMap(({ fromMs, toMs, comment, by, madeAtMs }): TimelineEntry[] => {
    const why = withPeople ? `${by === null ? "" : ` by ${by}`} «${breakAddresses(comment)}»` : "";
    const beginMs = Math.max(fromMs, madeAtMs ?? fromMs);
    const begin = { ...common, atMs: beginMs, title: "Silenced", text: `until ${formatTime(toMs, nowMs)}${why}` };
    const end = { ...common, atMs: toMs, title: "Silence ended", text: "" };
    return [...(beginMs > nowMs ? [] : [begin]), ...(toMs > nowMs ? [] : [end])];
  });
}

function releaseEntries(releases: GateView["releases"], withPeople: boolean): TimelineEntry[] {
  return releases.flatMap(({ atMs, how, by, comment }): TimelineEntry[] => {
    if (how !== "released") return [];
    const why = withPeople
      ? `${by === null ? "" : `by ${by}`}${comment === null ? "" : ` «${breakAddresses(comment)}»`}`.trim()
      : "";
    return [{ atMs, kind: "dot", severity: "ok", title: "Released by hand", text: why, notified: null }];
  });
}

function countsAt(points: readonly VerdictPoint[], atMs: number): string {
  // A run's alert begins with the run, its point is of the end.
  const point = points.find((one) => one.atMs >= atMs) ?? points.at(-1);
  if (point === undefined || point.currentCount === null || Math.abs(point.atMs - atMs) > hourMs) return "";
  return deathWords(point) ?? "";
}

/** Returns how many deaths of an alert were undone since; left out when unknown. */
function undoneText(alert: EndedAlert | undefined): string {
  if (alert === undefined || alert.deaths === null) return "";
  const { judgedCount, revivedCount } = alert.deaths;
  const revised = alert.revisedCause === null ? "" : ": the likely cause was the liveness checker";
  return `. ${formatCount(revivedCount)} of its ${formatCount(judgedCount)} deaths were undone since${revised}`;
}

function notifiedOf(deliveries: readonly DeliveryAttempt[]): string | null {
  const accepted = deliveries.filter(({ outcome }) => outcome === "accepted");
  if (accepted.length === 0) return null;
  const names = [...Map.groupBy(deliveries, ({ receiver }) => receiver)].flatMap(([receiver, attempts]) =>
    acceptedBy(receiver, attempts),
  );
  const slowest = Math.max(...accepted.map(({ tookMs }) => tookMs));
  return `${names.join(" and ")}, accepted in ${slowest}${nbsp}ms`;
}

/** The receiver, with how many of its recipients accepted where not all did: who they are is not for everybody. */
function acceptedBy(receiver: string, attempts: readonly DeliveryAttempt[]): string[] {
  const all = new Set(attempts.map(({ recipient }) => recipient)).size;
  const { size } = new Set(attempts.filter(({ outcome }) => outcome === "accepted").map(({ recipient }) => recipient));
  if (size === 0) return [];
  return [size === all ? receiver : `${size} of ${all} recipients of ${receiver}`];
}
