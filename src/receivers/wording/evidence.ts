import type { AlertNotice } from "../../alerting/notify/notification.ts";
import { spikeOnsetOf, type SpikeOnset } from "../../contract/spike-onset.ts";
import { minuteMs } from "../../base/time.ts";
import { formatCount } from "../../base/numbers.ts";
import { durationText, instantText } from "./numbers.ts";
import { plainText } from "./text.ts";

const causes: Readonly<Record<string, string>> = {
  checker: "the liveness checker",
  assets: "the assets",
  unclear: "unclear",
};

/** When the excess of an alert's spike began: what its episode knows, else what its result says. */
export function onsetOf({ check, kind, onset, result }: AlertNotice): SpikeOnset | null {
  if (check !== "dead-asset-spike" || kind !== "verdict") return null;
  return onset ?? (result === null ? null : spikeOnsetOf(result));
}

/** "Began about 15 Jan 09:40 UTC, 40 min after «captcha rollout».", after a space; empty when nobody can tell. */
export function onsetSentence(notice: AlertNotice, nowMs: number): string {
  const onset = onsetOf(notice);
  if (onset === null) return "";
  const { atMs, marker } = onset;
  const after = marker === null ? "" : `, ${sinceText(atMs - marker.atMs)} after «${plainText(marker.text)}»`;
  return ` Began about ${instantText(atMs, nowMs)}${after}.`;
}

function sinceText(sinceMs: number): string {
  return sinceMs < minuteMs ? "right" : durationText(sinceMs);
}

/** "Began about …. Likely cause: …. 12 of the deaths were undone …", as much of it as is known; empty when nothing is. */
export function evidenceSentences(notice: AlertNotice, nowMs: number): string {
  if (notice.check !== "dead-asset-spike" || notice.kind !== "verdict" || notice.result === null) return "";
  const { likelyCause, likelyCauseReason, revivedCount } = notice.result.observed;
  // Keys of a service that is not ours may be called the same.
  const cause = typeof likelyCause === "string" && Object.hasOwn(causes, likelyCause) ? causes[likelyCause] : undefined;
  const reason = typeof likelyCauseReason === "string" ? ` ${plainText(likelyCauseReason)}` : "";
  const likely = cause === undefined ? "" : ` Likely cause: ${cause}.${reason}`;
  const undone =
    typeof revivedCount === "number" && revivedCount > 0
      ? ` ${formatCount(revivedCount)} of the deaths ${revivedCount === 1 ? "was" : "were"} undone: found alive again.`
      : "";
  return `${onsetSentence(notice, nowMs)}${likely}${undone}`;
}
