import { formatCount } from "../../../base/numbers.ts";
import { countOf, formatLengthInProse, formatTime } from "../../parts/figures.ts";
import type { PageAlert } from "../ports.ts";
import { beganMs, groupOf, type AlertGroup } from "./alert-row.ts";

/** What the list of alerts shows. Times are epoch ms. */
export interface AlertsData {
  readonly nowMs: number;
  readonly alerts: readonly PageAlert[];
  /** Acknowledged alerts whose deaths are held. */
  readonly held: number;
  readonly retentionDays: number;
  /** Whether acts are possible: tokens or a proxy are configured. */
  readonly hasToken: boolean;
  /** Who reads it may see names. */
  readonly withPeople: boolean;
}

/** Returns what waits, in one sentence. */
export function alertsSentence({ alerts, nowMs, held }: AlertsData): string {
  const groups = Map.groupBy(alerts, groupOf);
  const count = (group: AlertGroup): number => groups.get(group)?.length ?? 0;
  const [firing, acknowledged, pending, silenced] = [
    count("firing"),
    count("acknowledged"),
    count("pending"),
    count("silenced"),
  ];
  const holds =
    held === 0
      ? ""
      : held === 1 && acknowledged === 1
        ? ", and its deaths are held"
        : `, the deaths of ${held} are held`;
  const taken =
    acknowledged === 0
      ? ""
      : ` ${formatCount(acknowledged)} ${acknowledged === 1 ? "is" : "are"} acknowledged${holds}.`;
  if (firing > 0) return `${countOf(firing, "alert")} ${firing === 1 ? "waits" : "wait"} for someone.${taken}`;
  if (taken !== "") return `Nothing waits for someone.${taken}`;
  if (silenced > 0)
    return `${countOf(silenced, "alert")} ${silenced === 1 ? "fires" : "fire"} under a silence, and no other.`;
  if (pending > 0) return `${countOf(pending, "alert")} ${pending === 1 ? "is" : "are"} pending, nothing fires.`;
  const last = (groups.get("ended") ?? []).toSorted((left, right) => (right.endsAtMs ?? 0) - (left.endsAtMs ?? 0))[0];
  if (last === undefined || last.endsAtMs === null) return "Nothing fires.";
  return `Nothing fires. The last alert, ${last.alert.slug}, ended ${formatTime(last.endsAtMs, nowMs)} and lasted ${formatLengthInProse(last.endsAtMs - beganMs(last.alert))}.`;
}

/** Returns the title of the document: how many wait. */
export function alertsTitle(alerts: readonly PageAlert[]): string {
  const waiting = alerts.filter((view) => groupOf(view) === "firing").length;
  return waiting === 0 ? "Alerts · flatline" : `${formatCount(waiting)} firing · flatline`;
}
