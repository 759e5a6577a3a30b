import type {
  AlertNotice,
  FleetNotice,
  IncidentNotice,
  Notification,
  NotifiedAct,
  SampledAsset,
} from "../alerting/notify/notification.ts";
import { breakAddress, breakAddresses } from "../base/broken-address.ts";
import { mapTexts } from "../base/json.ts";
import { secondMs } from "../base/time.ts";
import { brokenResult } from "../contract/healthcheck.ts";
import { iso, withInstants } from "../contract/v1/instant.ts";
import { summaryOf } from "../words/alert.ts";

/** The webhook payload, version 1 (CONTRACT 7); templates get it with broken addresses. */
export type NotificationPayload = ReturnType<typeof notificationPayload>;

/** Returns the payload of CONTRACT 7. Fields may be added; a new meaning needs a new `version`. */
export function notificationPayload(notification: Notification) {
  const { id, receiver, status, severity, externalUrl, fleet, incident } = notification;
  return {
    version: "1" as const,
    id,
    receiver,
    status,
    severity,
    summary: summaryOf(notification),
    generatedAt: iso(notification.generatedAtMs),
    externalUrl,
    fleet: fleet === null ? null : fleetPayload(fleet),
    incident: incident === null ? null : incidentPayload(incident),
    alerts: notification.alerts.map(alertPayload),
  };
}

function fleetPayload({ evidence, sample = [], withinMs, ...fleet }: FleetNotice) {
  return {
    ...fleet,
    withinSeconds: Math.ceil(withinMs / secondMs),
    /** The median of the members' onsets; null: no events, or the end. */
    beganAt: iso(evidence?.beganAtMs ?? null),
    markers: (evidence?.markers ?? []).map(withInstants),
    undone: evidence?.undone ?? null,
    sample: sample.map(samplePayload),
  };
}

/** Totals without silenced alerts and without names (CONTRACT 15). */
function incidentPayload({ secondOpinion, ...incident }: IncidentNotice) {
  const { worst: _worst, outlived: _outlived, own: _own, headline: _headline, ...summary } = incident;
  const { asked, alive, gone, verdict } = secondOpinion ?? {};
  return { ...withInstants(summary), secondOpinion: secondOpinion && { asked, alive, gone, verdict } };
}

function alertPayload(notice: AlertNotice) {
  const { check, slug, kind, event, status, severity, previousSeverity, id, reason, startsAtMs, endsAtMs } = notice;
  const { peak, labels, url, result, error, judgement, act, sample = [] } = notice;
  const { notifiedAtMs = null, assetsUrl = null, restoreUrl = null } = notice;
  const said = { check, slug, kind, event, status, severity, previousSeverity, id, reason };
  const onsetAtMs = notice.onset?.atMs ?? null;
  return {
    ...said,
    incidentId: notice.incident?.id ?? null,
    // `beganAt`: the onset; `detectedAt`: the first run that was not ok; `notifiedAt`: the first accepted message.
    ...withInstants({ startsAtMs, beganAtMs: onsetAtMs, detectedAtMs: startsAtMs, notifiedAtMs, endsAtMs, onsetAtMs }),
    peak: peak && withInstants(peak),
    labels,
    url,
    result,
    error,
    isDrill: notice.isTest === true,
    gateOpened: notice.gateOpened === true,
    judgement: judgement === undefined ? null : { verdict: judgement.verdict, ...saidPayload(judgement) },
    assetsUrl,
    restoreUrl,
    act: act === undefined ? null : saidPayload(act),
    sample: sample.map(samplePayload),
  };
}

function saidPayload({ comment, by, atMs }: NotifiedAct) {
  return { comment, by, at: iso(atMs) };
}

function samplePayload({ asset, assetType, deadAtMs, attributes }: SampledAsset) {
  return { asset, assetType, deadAt: iso(deadAtMs), attributes };
}

/** Returns the payload for a template: addresses are broken, except in `asset_raw` of a dead asset. */
export function templatePayload(payload: NotificationPayload, own: readonly string[]) {
  const broken = <Said>(said: Said): Said => mapTexts(said, (text) => breakAddresses(text, own));
  const { fleet, alerts, summary } = payload;
  return {
    ...payload,
    summary: broken(summary),
    fleet: fleet === null ? null : { ...broken(fleet), sample: fleet.sample.map(templateSample) },
    alerts: alerts.map(({ judgement, act, result, error, sample, ...alert }) => ({
      ...alert,
      judgement: broken(judgement),
      act: broken(act),
      result: result === null ? null : brokenResult(result, own),
      error: broken(error),
      sample: sample.map(templateSample),
    })),
  };
}

function templateSample({ asset, ...facts }: ReturnType<typeof samplePayload>) {
  return { ...facts, asset: breakAddress(asset), asset_raw: asset };
}
