import { pageUrl } from "../../base/url.ts";
import { describeAuthor } from "../../contract/actor.ts";
import type { CheckReport } from "../../contract/report.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Board } from "../../store/runs/board.ts";
import type { AlertingSettings } from "../settings.ts";
import type { AlertNotice } from "./notification.ts";

export interface NoticeSource {
  readonly settings: AlertingSettings;
  readonly board: Pick<Board, "state">;
  readonly nowMs: number;
}

type NoticeSettings = Pick<AlertingSettings, "externalUrl" | "hasAssets" | "targetOf">;

/** What happened to an alert, with other known facts. */
export type Said = Pick<AlertNotice, "event" | "reason" | "previousSeverity"> & Partial<AlertNotice>;

/** Returns the notice of an alert as it is now or, when it has ended, as it was. */
export function noticeOf(
  { settings, board }: { readonly settings: NoticeSettings; readonly board: NoticeSource["board"] },
  alert: Alert,
  said: Said,
): AlertNotice {
  const { id, check, slug, kind, severity, startsAtMs, peak, onset, judgement, incident, acknowledgement } = alert;
  const report = reportOf(board, alert);
  const shown = report?.kind === "result" ? report : null;
  const { labels, url } = settings.targetOf(check, slug) ?? alert.changed ?? { labels: {}, url: null };
  const assetsUrl = assetsUrlOf(settings, alert);
  const restoreUrl = said.act === undefined ? null : restoreUrlOf(settings, alert);
  return {
    id,
    check,
    slug,
    kind,
    severity,
    status: alert.end === null ? "firing" : "resolved",
    startsAtMs,
    endsAtMs: alert.end?.atMs ?? null,
    peak,
    ...(onset === undefined ? {} : { onset }),
    labels,
    url: url ?? shown?.result.appUrl ?? null,
    result: shown?.result ?? null,
    counts: shown?.counts ?? null,
    error: report?.kind === "error" ? report.error : null,
    ...(incident === undefined ? {} : { incident }),
    ...(judgement === undefined ? {} : { judgement }),
    ...(acknowledgement === null ? {} : { acknowledgedBy: describeAuthor(acknowledgement.by, acknowledgement.note) }),
    ...(assetsUrl === null ? {} : { assetsUrl }),
    ...(restoreUrl === null ? {} : { restoreUrl }),
    ...(said.act === undefined || alert.end === null ? {} : noResult),
    ...said,
  };
}

/** The last result says nothing about an alert that has ended; only the notice of its end shows one. */
export const noResult = { result: null, counts: null, error: null } as const;

/** Returns the report to show with an alert: a verdict's last result, an ended alert's last report only if ok. */
export function reportOf(board: NoticeSource["board"], alert: Alert): CheckReport | null {
  const state = board.state(alert.check, alert.slug);
  const isWithout = alert.kind === "verdict" && state?.lastReport.kind !== "result";
  const report = (isWithout ? state?.lastResultReport : state?.lastReport) ?? null;
  return alert.end === null || report?.severity === "ok" ? report : null;
}

/** Returns the URL of the incident's assets to restore (CONTRACT 15); null: not judged `checker`, or no list. */
function restoreUrlOf({ externalUrl, hasAssets }: NoticeSettings, alert: Alert): string | null {
  const { check, judgement, incident } = alert;
  if (hasAssets !== true || check !== "dead-asset-spike" || judgement?.verdict !== "checker") return null;
  return pageUrl(externalUrl, `api/v1/incidents/${incident?.number}/assets?toRestore=true`);
}

/** Returns the URL of the alert's dead assets (CONTRACT 12); null: there is no list. */
function assetsUrlOf({ externalUrl, hasAssets }: NoticeSettings, alert: Alert): string | null {
  if (hasAssets !== true || alert.check !== "dead-asset-spike" || alert.kind !== "verdict") return null;
  return pageUrl(externalUrl, `api/v1/alerts/${encodeURIComponent(alert.id)}/assets`);
}
