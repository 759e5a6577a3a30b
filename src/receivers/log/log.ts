import type { Logger } from "../../base/logger.ts";
import { formatCount } from "../../base/numbers.ts";
import { breakAddress, breakAddresses } from "../../base/broken-address.ts";
import type { AlertNotice, NoticeEvent, Notification } from "../../alerting/notify/notification.ts";
import { countingOf } from "../../contract/death-counts.ts";
import { iso } from "../../contract/v1/instant.ts";
import { isActNotice, summaryOf } from "../../words/alert.ts";
import { gateSentences } from "../../words/headline.ts";
import { originsOf } from "../../words/message.ts";
import type { Delivering, OptionsOf, ReceiverKind } from "../kind.ts";

// A fleet verdict sums up a storm of alerts, and further alerts are only counted.
const maxLines = 100;

export const logKind = {
  summary: "A line in flatline's own log.",
  shape: {},
  create: createLogReceiver,
} as const satisfies ReceiverKind;

/** Writes one line per alert to flatline's own log; cannot fail. */
export function createLogReceiver(
  options: OptionsOf<"log", object>,
  { logger }: { readonly logger: Logger },
): Delivering {
  return {
    deliver: async (notification) => {
      logNotification(logger, notification, options.name);
      return { kind: "accepted", detail: "logged" };
    },
  };
}

function logNotification(logger: Logger, notification: Notification, receiver: string): void {
  const { id, fleet, incident, status, severity, alerts } = notification;
  const own = originsOf(notification);
  const gates = incident === null ? [] : gateSentences(incident.headline).map((one) => breakAddresses(one, own));
  const takedowns = gates.length === 0 ? undefined : gates.join(" ");
  const base = { receiver, notification: id };
  if (fleet !== null) {
    const { spiking, organizations, sample, id: verdict } = fleet;
    const assetTypes = fleet.assetTypes.slice(0, 5).map(({ assetType, share }) => ({ assetType, share }));
    const summary = breakAddresses(summaryOf(notification), own);
    const totals = { fleet: verdict, status, severity, spiking, organizations, assetTypes, summary, takedowns };
    const fields = { ...base, ...totals, sample: brokenSample(sample) };
    if (status === "firing") logger.error(fields, "fleet verdict: one cause");
    else logger.info(fields, "fleet verdict resolved");
  }
  for (const notice of alerts.slice(0, maxLines)) {
    const { event, check, slug, reason, id: alert } = notice;
    const facts = isActNotice(notice) ? actFields(notice, own) : alertFields(notice, own);
    const fields = { ...base, event, check, slug, ...facts, takedowns: fleet ? undefined : takedowns, reason, alert };
    const message = messages[event] ?? (notice.status === "resolved" ? "alert resolved" : "alert firing");
    if (message !== "alert firing") logger.info(fields, message);
    else if (notice.severity === "fail") logger.error(fields, message);
    else logger.warn(fields, message);
  }
  const missing = alerts.length - maxLines;
  if (missing > 0) logger.warn({ ...base, more: `+${formatCount(missing)} more` }, "further alerts");
}

const messages: Partial<Record<NoticeEvent, string>> = {
  judged: "alert judged",
  acknowledged: "alert acknowledged",
  unacknowledged: "alert unacknowledged",
  commented: "alert commented",
  released: "gate open",
  test: "test notification",
};

function actFields({ event, judgement, act }: AlertNotice, own: readonly string[]): object {
  return {
    verdict: event === "judged" ? (judgement?.verdict ?? null) : undefined,
    by: act?.by,
    comment: act?.comment ? breakAddresses(act.comment, own) : undefined,
  };
}

function alertFields(notice: AlertNotice, own: readonly string[]): object {
  const { severity, counts, error, peak, sample, result, startsAtMs, endsAtMs } = notice;
  return {
    severity,
    count: counts?.currentCount,
    expected: counts?.expectedCount,
    ratio: counts?.ratio,
    counting: countingOf(result) === "assets" ? "assets" : undefined,
    // The names of this service's counts are unknown: the result is logged as it is.
    observed: counts?.currentCount === null ? result?.observed : undefined,
    errorReason: error?.reason,
    error: error === null ? undefined : breakAddresses(error.message, own),
    sample: brokenSample(sample),
    startsAt: iso(startsAtMs),
    ...(endsAtMs === null ? {} : { endsAt: iso(endsAtMs), peak: peak?.currentCount ?? null }),
    isTest: notice.isTest,
  };
}

function brokenSample(sample: AlertNotice["sample"]): readonly string[] | undefined {
  return sample?.map(({ asset }) => breakAddress(asset));
}
