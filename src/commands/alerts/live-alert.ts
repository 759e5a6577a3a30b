import { describeAuthor } from "../../contract/actor.ts";
import type { LiveAlert } from "../../contract/v1/alerts.ts";
import { formatLength } from "../../web/parts/figures.ts";

/** Returns how long an alert lasts, from the begin of its excess: as on the page. */
export function lastedText({ beganAt, startsAt }: LiveAlert, nowMs: number): string {
  return formatLength(nowMs - Date.parse(beganAt ?? startsAt));
}

/** Returns the author of the last act; empty where there is none, or the reader has no right to it. */
export function whoText({ judgement, acknowledgement }: LiveAlert): string {
  const isJudged = judgement !== null && Date.parse(judgement.at) >= Date.parse(acknowledgement?.at ?? judgement.at);
  const act = isJudged ? judgement : acknowledgement;
  return describeAuthor(act?.by ?? null, act?.note);
}
