import type { AlertNotice, Notification } from "../alerting/notify/notification.ts";
import { Secret } from "../base/secret.ts";
import { isActNotice } from "./wording/acts.ts";
import type { MessageLink } from "./wording/message.ts";
import { isTest, latestNotices } from "./wording/wording.ts";

/** Makes the links by which a reader acts on an alert, signed for a receiver at the time of an attempt. */
export type SignLinks = (subject: LinkSubject, receiver: string, nowMs: number) => readonly MessageLink[];

/** The subject of a link: an alert, or several alerts of an incident, by its number. */
export type LinkSubject = Pick<AlertNotice, "id"> | { readonly number: number; readonly toAcknowledge: number };

/**
 * Returns the links of a message that is about one alert or incident which fires (CONTRACT 7 and 15); none in any other. They are made for each attempt and
 * are nowhere else: every holder of one may use it.
 */
export function actLinks(
  { alerts, fleet, incident, receiver, status }: Notification,
  sign: SignLinks | null | undefined,
  nowMs: number,
): readonly MessageLink[] {
  const [alert, ...others] = latestNotices(alerts);
  if (sign === null || sign === undefined || alert === undefined) return [];
  if (others.length > 0 || fleet !== null) {
    const toAcknowledge = incident?.own.toAcknowledge ?? 0;
    const isActedOn = incident !== null && status === "firing" && !alerts.some(isActNotice);
    return isActedOn && toAcknowledge > 0 ? sign({ number: incident.number, toAcknowledge }, receiver, nowMs) : [];
  }
  const isOfAlert = alert.status === "firing" && !isTest(alert) && !isActNotice(alert);
  return isOfAlert ? sign(alert, receiver, nowMs) : [];
}

/** Returns what must not be shown of them: an answer may echo the message. */
export function linkSecrets(links: readonly MessageLink[]): Secret[] {
  return links.map(({ url }) => new Secret(new URL(url).searchParams.get("signature") ?? url));
}
