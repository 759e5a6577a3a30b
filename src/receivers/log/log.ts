import type { Logger } from "../../base/logger.ts";
import { formatCount } from "../../base/numbers.ts";
import { breakAddress, breakAddresses } from "../../base/broken-address.ts";
import type { AlertNotice, FleetNotice, Notification } from "../../alerting/notify/notification.ts";
import type { Receiver } from "../../alerting/deliver/receiver.ts";
import { countingOf } from "../../contract/death-counts.ts";
import { iso } from "../../contract/v1/instant.ts";
import { originsOf } from "../../words/message.ts";
import type { ReceiverKind } from "../kind.ts";

// Each alert has a line: the fleet verdict sums up a storm, and one number the rest.
const maxLines = 100;

/** The log of the daemon itself. */
export interface LogOptions {
  readonly type: "log";
  readonly name: string;
}

export const logKind = {
  summary: "A line in flatline's own log.",
  shape: {},
  resolve: ({ name }: { readonly name: string }): LogOptions => ({ type: "log", name }),
  describe: () => ({}),
  create: createLogReceiver,
} as const satisfies ReceiverKind;

/** Writes one line per alert to flatline's own log; cannot fail. */
export function createLogReceiver(options: LogOptions, deps: { readonly logger: Logger }): Receiver {
  const { logger } = deps;
  return {
    name: options.name,
    type: options.type,
    deliver: async (notification) => {
      logNotification(logger, notification, options.name);
      return { kind: "accepted", detail: "logged" };
    },
  };
}

function logNotification(logger: Logger, notification: Notification, receiver: string): void {
  const { id, fleet, status, severity, alerts } = notification;
  const own = originsOf(notification);
  const summary = breakAddresses(notification.summary, own);
  const base = { receiver, notification: id };
  if (fleet !== null) {
    const assetTypes = fleet.assetTypes.slice(0, 5).map(({ assetType, share }) => ({ assetType, share }));
    const { spiking, organizations } = fleet;
    const fields = {
      ...base,
      fleet: fleet.id,
      status,
      severity,
      spiking,
      organizations,
      assetTypes,
      summary,
      ...fleetSample(fleet),
    };
    if (status === "firing") logger.error(fields, "fleet verdict: one cause");
    else logger.info(fields, "fleet verdict resolved");
  } else if (alerts.length === 0) {
    logger.info({ ...base, status, severity, summary }, "notification");
  }
  for (const notice of alerts.slice(0, maxLines)) logNotice(logger, notice, base, own);
  const missing = alerts.length - maxLines;
  if (missing > 0) logger.warn({ ...base, more: `+${formatCount(missing)} more` }, "further alerts");
}

function fleetSample({ sample = [] }: FleetNotice): object {
  return sample.length === 0 ? {} : { sample: sample.map(({ asset }) => breakAddress(asset)) };
}

function logNotice(logger: Logger, notice: AlertNotice, base: object, own: readonly string[]): void {
  const { event, check, slug, severity, counts, reason, error, peak, isTest, sample = [] } = notice;
  const fields = {
    ...base,
    event,
    check,
    slug,
    severity,
    ...(counts === null ? {} : { count: counts.currentCount, expected: counts.expectedCount, ratio: counts.ratio }),
    ...(countingOf(notice.result) === "assets" ? { counting: "assets" } : {}),
    // The keys of this service are unknown: the result is logged as it is.
    ...(counts !== null && counts.currentCount === null && notice.result !== null
      ? { observed: notice.result.observed }
      : {}),
    ...(error === null ? {} : { errorReason: error.reason, error: breakAddresses(error.message, own) }),
    ...(sample.length === 0 ? {} : { sample: sample.map(({ asset }) => breakAddress(asset)) }),
    startsAt: iso(notice.startsAtMs),
    ...(notice.endsAtMs === null ? {} : { endsAt: iso(notice.endsAtMs), peak: peak?.currentCount ?? null }),
    reason,
    alert: notice.id,
    ...(isTest ? { isTest } : {}),
  };
  if (event === "judged") {
    const { judgement, act } = notice;
    const said = { ...base, event, check, slug, verdict: judgement?.verdict ?? null, by: act?.by, alert: notice.id };
    logger.info({ ...said, ...commentOf(notice, own) }, "alert judged");
  } else if (event === "acknowledged" || event === "unacknowledged") {
    const acted = { ...base, event, check, slug, by: notice.act?.by, alert: notice.id };
    logger.info({ ...acted, ...commentOf(notice, own) }, `alert ${event}`);
  } else if (event === "released") {
    const released = { ...base, event, check, slug, reason, by: notice.act?.by, alert: notice.id };
    logger.info({ ...released, ...commentOf(notice, own) }, "gate open");
  } else if (event === "test") logger.info(fields, "test notification");
  else if (notice.status === "resolved") logger.info(fields, "alert resolved");
  else if (severity === "fail") logger.error(fields, "alert firing");
  else logger.warn(fields, "alert firing");
}

function commentOf({ act }: AlertNotice, own: readonly string[]): object {
  return act?.comment === null || act === undefined ? {} : { comment: breakAddresses(act.comment, own) };
}
