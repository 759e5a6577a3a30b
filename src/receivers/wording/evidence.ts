import type { AlertNotice } from "../../alerting/notify/notification.ts";
import type { SpikeOnset } from "../../contract/spike-evidence.ts";
import { proposeJudgement } from "../../contract/judgement.ts";
import { minuteMs } from "../../base/time.ts";
import { formatCount } from "../../base/numbers.ts";
import { durationText, instantText } from "../../words/numbers.ts";
import { plainText } from "./text.ts";

const causes: Readonly<Record<string, string>> = {
  checker: "the liveness checker",
  assets: "the assets",
  unclear: "unclear",
};

/** "14 Jan 21:40 UTC, 40 min after «captcha rollout»": when the excess began. */
export function beganText({ atMs, marker }: SpikeOnset, nowMs: number): string {
  const after = marker === null ? "" : `, ${sinceText(atMs - marker.atMs)} after «${plainText(marker.text)}»`;
  return `${instantText(atMs, nowMs)}${after}`;
}

function sinceText(sinceMs: number): string {
  return sinceMs < minuteMs ? "right" : durationText(sinceMs);
}

/** "Likely cause: …", "12 of the deaths were undone …", and the judgement that they propose, as much of it as is known. */
export function evidenceSentences(notice: AlertNotice): string[] {
  return [...causeSentences(notice), ...proposalSentences(notice)];
}

/**
 * Returns the judgement that undone deaths propose, those of a spike's window or of the regret check; none once it is judged.
 */
function proposalSentences({ check, kind, result, judgement }: AlertNotice): string[] {
  if (kind !== "verdict" || result === null || judgement !== undefined) return [];
  if (check !== "dead-asset-spike" && check !== "regret") return [];
  const { revivedCount, revivedShare, longRevived, longShare } = result.observed;
  const [count, share] = check === "regret" ? [longRevived, longShare] : [revivedCount, revivedShare];
  if (typeof count !== "number" || typeof share !== "number") return [];
  const proposal = proposeJudgement({ revivedCount: count, share });
  return proposal === null ? [] : [proposal];
}

function causeSentences(notice: AlertNotice): string[] {
  if (notice.check !== "dead-asset-spike" || notice.kind !== "verdict" || notice.result === null) return [];
  const { likelyCause, likelyCauseReason, revivedCount } = notice.result.observed;
  // Another service may use the same keys.
  const known = typeof likelyCause === "string" && Object.hasOwn(causes, likelyCause) ? causes[likelyCause] : undefined;
  const reason = typeof likelyCauseReason === "string" ? ` ${plainText(likelyCauseReason)}` : "";
  // An unclear cause without a reason is not worth a sentence.
  const cause = likelyCause === "unclear" && reason === "" ? undefined : known;
  return [
    ...(cause === undefined ? [] : [`Likely cause: ${cause}.${reason}`]),
    ...(typeof revivedCount === "number" && revivedCount > 0
      ? [`${formatCount(revivedCount)} of the deaths ${revivedCount === 1 ? "was" : "were"} found alive.`]
      : []),
  ];
}
