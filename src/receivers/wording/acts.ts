import type { AlertNotice, NoticeEvent } from "../../alerting/notify/notification.ts";
import { countText } from "../../contract/death-counts.ts";
import { judgementMeanings } from "../../contract/judgement.ts";
import { capitalized, plainText } from "./text.ts";

const actEvents: ReadonlySet<NoticeEvent> = new Set([
  "judged",
  "released",
  "acknowledged",
  "unacknowledged",
  "commented",
]);

/** Returns whether the notice is of an act, not of the result of a run. */
export function isActNotice({ event }: AlertNotice): boolean {
  return actEvents.has(event);
}

/** `judged checker: acme, 5,119 deaths`: what was done, of which alert. */
export function actTitle(notice: AlertNotice, subject: string): string {
  const { event, reason, judgement, peak, check, result } = notice;
  const verdict = judgement === undefined ? "judgement withdrawn" : `judged ${judgement.verdict}`;
  const opened = reason === "released_by_judgement" ? `${verdict}, takedowns allowed` : "takedowns allowed";
  if (event === "acknowledged" || event === "unacknowledged" || event === "commented") return `${event}: ${subject}`;
  const count = check === "dead-asset-spike" ? (peak?.currentCount ?? null) : null;
  const deaths = count === null ? "" : `, ${countText(count, result)}`;
  return `${event === "judged" ? verdict : opened}: ${subject}${deaths}`;
}

/** Returns who did it, and what it means. */
export function actSentence({ event, reason, judgement, act }: AlertNotice): string {
  const by = plainText(act?.by ?? "a person");
  const comment = plainText(act?.comment ?? "");
  const why = comment === "" ? "." : `: ${comment}${/[.!?]$/.test(comment) ? "" : "."}`;
  const said =
    judgement === undefined
      ? `${by} has withdrawn the judgement${why}`
      : `${capitalized(judgementMeanings[judgement.verdict])}, says ${by}${why}`;
  if (event === "judged") return said;
  if (event === "acknowledged") return `${by} has acknowledged it, no more reminders${why}`;
  if (event === "commented") return `${by} says${why}`;
  if (event === "unacknowledged") return `${by} has taken the acknowledgement back, reminders go on${why}`;
  switch (reason) {
    case "released_by_judgement":
      return `${said} Takedowns are allowed again.`;
    case "released_by_end":
      return "Takedowns are allowed again: the alert is over.";
    case "released_by_configuration":
      return "Takedowns are allowed again: the configuration was changed.";
    default:
      return `${by} has released its takedowns${why}`;
  }
}
