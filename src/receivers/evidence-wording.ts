import type { AlertNotice } from "../alerting/notification.ts";
import { countText, instantText } from "./numbers.ts";
import { plainText } from "./text.ts";

const causes: Readonly<Record<string, string>> = {
  checker: "the liveness checker",
  assets: "the assets",
  unclear: "unclear",
};

/** When the excess of an alert's spike began, as far as its result says; epoch ms. */
export function onsetOf({ check, result }: AlertNotice): number | null {
  const text = check === "dead-asset-spike" ? result?.observed["onsetAt"] : undefined;
  const atMs = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}

/** "Began about …. Likely cause: …. 12 of the deaths were undone …", as much of it as is known; empty when nothing is. */
export function evidenceSentences(notice: AlertNotice, nowMs: number): string {
  if (notice.check !== "dead-asset-spike" || notice.kind !== "verdict" || notice.result === null) return "";
  const { likelyCause, likelyCauseReason, revivedCount } = notice.result.observed;
  const onsetMs = onsetOf(notice);
  const began = onsetMs === null ? "" : ` Began about ${instantText(onsetMs, nowMs)}.`;
  // Keys of a service that is not ours may be called the same.
  const cause = typeof likelyCause === "string" && Object.hasOwn(causes, likelyCause) ? causes[likelyCause] : undefined;
  const reason = typeof likelyCauseReason === "string" ? ` ${plainText(likelyCauseReason)}` : "";
  const likely = cause === undefined ? "" : ` Likely cause: ${cause}.${reason}`;
  const undone =
    typeof revivedCount === "number" && revivedCount > 0
      ? ` ${countText(revivedCount)} of the deaths ${revivedCount === 1 ? "was" : "were"} undone: found alive again.`
      : "";
  return `${began}${likely}${undone}`;
}
