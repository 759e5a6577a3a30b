import type { AlertNotice, FleetNotice, Notification } from "../../alerting/notify/notification.ts";
import { formatCount } from "../../base/numbers.ts";
import { sampleLines } from "./broken.ts";
import type { Message } from "./message.ts";
import { noticeTitle } from "./notice.ts";
import { durationText, instantText, percentText } from "./numbers.ts";
import { plainText } from "./text.ts";

// As many as the evaluation names of one organization (CONTRACT 2): the rest is the tail.
const maxAssetTypes = 5;

/**
 * Returns the fleet verdict (CONTRACT 7): many organizations at once mean that the liveness checker broke. Numbers are totals; names
 * are those of the notification's own alerts only.
 */
export function fleetMessage(
  notification: Notification,
  fleet: FleetNotice,
  notices: readonly AlertNotice[],
): Pick<Message, "title" | "intro" | "facts" | "sections" | "lines" | "sample"> {
  const isDrill = notices.length > 0 && notices.every((notice) => notice.isDrill);
  const marker = isDrill ? "[DRILL] " : "";
  return {
    title: `${marker}${notification.status === "resolved" ? endedTitle : firingTitle(fleet)}`,
    intro: notification.status === "resolved" ? endedIntro(notices) : firingIntro(fleet),
    facts: fleetFacts(fleet, notification),
    sections: [],
    lines: notices.map(noticeTitle),
    sample: notification.status === "resolved" ? [] : sampleLines(fleet.sample, notification.generatedAtMs),
  };
}

const endedTitle = "fleet resolved: no organization spikes any more";

function firingIntro({ spiking }: FleetNotice): string {
  const many = `${formatCount(spiking)} ${spiking === 1 ? "organization" : "organizations"}`;
  return `Suspect the liveness checker. Treat these deaths as wrong until it is cleared: attackers do not leave ${many} on one day.`;
}

function firingTitle({ spiking, organizations }: FleetNotice): string {
  const noun = organizations === 1 ? "organization" : "organizations";
  return `fleet: ${formatCount(spiking)} of ${formatCount(organizations)} ${noun} spike at once`;
}

function endedIntro(notices: readonly AlertNotice[]): string {
  const startsAtMs = Math.min(...notices.map((notice) => notice.startsAtMs));
  const endsAtMs = Math.max(...notices.map((notice) => notice.endsAtMs ?? Number.NEGATIVE_INFINITY));
  const after = endsAtMs > startsAtMs ? ` ${durationText(endsAtMs - startsAtMs)} after the first of these spiked` : "";
  return (
    `All rates are back under their thresholds${after}. ` +
    "That does not clear the deaths that were counted: check those, and the liveness checker, before they are acted on."
  );
}

function fleetFacts(
  fleet: FleetNotice,
  { status, generatedAtMs }: Pick<Notification, "status" | "generatedAtMs">,
): Message["facts"] {
  const { organizations, assetTypes, evidence } = fleet;
  const spiking = status === "resolved" ? (fleet.peakSpiking ?? fleet.spiking) : fleet.spiking;
  const share = organizations === 0 ? "" : ` (${percentText(spiking / organizations)})`;
  const facts = [
    {
      name: status === "resolved" ? "At most" : "Spiking",
      value: `${formatCount(spiking)} of ${formatCount(organizations)}${share}`,
    },
    ...(evidence === undefined ? [] : evidenceFacts(evidence, generatedAtMs)),
  ];
  if (assetTypes.length === 0) return facts;
  const shown = assetTypes
    .slice(0, maxAssetTypes)
    .map((type) => `${plainText(type.assetType)} ${percentText(type.share)} (${formatCount(type.count)})`);
  const missing = assetTypes.length - shown.length;
  const value = [...shown, ...(missing === 0 ? [] : [`+${missing} more`])].join(", ");
  return [...facts, { name: "Carried by", value }];
}

function evidenceFacts(
  { beganAtMs, markers, undone }: NonNullable<FleetNotice["evidence"]>,
  nowMs: number,
): Message["facts"] {
  const facts = [];
  if (beganAtMs !== null) facts.push({ name: "Began", value: `${instantText(beganAtMs, nowMs)}, by the median` });
  if (markers.length > 0)
    facts.push({ name: "Marker", value: markers.map((one) => markedText(one, nowMs)).join("; ") });
  if (undone !== null)
    facts.push({ name: "Undone", value: `${percentText(undone.share)} of the deaths were found alive again` });
  return facts;
}

function markedText({ text, atMs }: { readonly text: string; readonly atMs: number }, nowMs: number): string {
  return `«${plainText(text)}» ${instantText(atMs, nowMs)}`;
}
