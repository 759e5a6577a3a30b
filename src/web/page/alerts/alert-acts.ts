import { breakAddresses } from "../../../base/broken-address.ts";
import { formatCount } from "../../../base/numbers.ts";
import { countOf, formatLengthInProse, formatShare, formatWait, withPageTimes } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { ActFacts } from "./act-facts.ts";
import type { AlertData } from "./alert-model.ts";
import { isMuchUndone, proposalOf, undoneShare } from "./alert-row.ts";

/** Returns what of an alert the dialogs need. */
export function actFactsOf({ view, gate, rules, hold, nowMs, row }: AlertData): ActFacts {
  const { alert, endsAtMs } = view;
  const firingAtMs = alert.firingAtMs ?? alert.startsAtMs;
  return {
    id: alert.id,
    slug: alert.slug,
    count: endsAtMs === null ? (row?.count ?? alert.peak.currentCount) : alert.peak.currentCount,
    undone: undoneShare(view),
    isMuchUndone: isMuchUndone(view),
    isHeld: gate?.decision === "hold",
    isJudged: alert.judgement !== undefined,
    isEnded: endsAtMs !== null,
    beganMs: alert.onset?.atMs ?? alert.startsAtMs,
    nowMs,
    releaseOn: rules?.releaseOn ?? [],
    hold,
    hasReminders: (rules?.repeatIntervalMs ?? 0) > 0,
    next: (rules?.escalations ?? [])
      .map(({ name, afterMs }) => ({ name, atMs: firingAtMs + afterMs }))
      .filter(({ atMs }) => atMs > nowMs),
  };
}

/** Renders who is on it, what was it, may the deaths be acted on: each with its answer before its button. */
export function renderActs(data: AlertData): Html {
  const { alert, endsAtMs } = data.view;
  const isFree = alert.acknowledgement === null && endsAtMs === null;
  const blackAct = isFree && alert.state === "firing" ? "ack" : alert.judgement === undefined ? "judge" : null;
  const isSpike = alert.check === "dead-asset-spike" && alert.kind === "verdict";
  return html`<section class="acts" aria-label="Acts" data-alert="${alert.id}">
    ${renderOwner(data, blackAct === "ack")}${renderJudgement(data, blackAct === "judge")}${isSpike || data.gate?.decision === "hold" ? renderGateAct(data) : nothing}
  </section>`;
}

function act(question: string, answer: Html | string, lines: Html, button: Html): Html {
  return html`<div class="act">
    <p class="question">${question}</p>
    <p class="answer">${answer}</p>
    <p class="lines">${lines}</p>
    <p class="do">${button}</p>
  </div>`;
}

function renderOwner({ view, nowMs, withPeople, hasToken }: AlertData, isBlack: boolean): Html {
  const { alert, endsAtMs, firesAtMs } = view;
  const question = "Who is on it";
  const why = hasToken ? nothing : html` <span class="detail">needs a token, and none is configured</span>`;
  const { acknowledgement } = alert;
  if (acknowledgement !== null) {
    const { by, atMs, comment } = acknowledgement;
    const name = withPeople ? (by ?? "Somebody") : "Somebody";
    const quiet = html`Quiet since ${renderTime(atMs, nowMs)}: no reminders, nobody else is called.
    ${endsAtMs === null ? "It is notified when it gets worse, and when it ends." : ""}${withPeople && comment !== null ? html` «${breakAddresses(comment)}»` : nothing}`;
    if (endsAtMs !== null) return act(question, name, quiet, nothing);
    const off = hasToken ? nothing : html` disabled`;
    const undo = html`<button type="button" data-do="unack-alert" ${off}>Take back</button>`;
    return act(question, name, quiet, html`${undo}${why}`);
  }
  if (endsAtMs !== null) return act(question, "Nobody was", html`Nobody acknowledged it before it ended.`, nothing);
  const isPending = alert.state === "pending";
  const later =
    isPending && firesAtMs !== null
      ? html` <span class="detail">It fires in ${formatWait(firesAtMs - nowMs)}</span>`
      : nothing;
  return act(
    question,
    "Nobody",
    isPending
      ? html`It is pending: nobody was notified yet.`
      : html`Acknowledging it stops reminders and calls nobody else.`,
    html`<button
        type="button"
        data-do="ack-alert"
        ${isBlack ? html` class="primary"` : nothing}${isPending || !hasToken ? html` disabled` : nothing}
      >
        Acknowledge&hellip;</button
      >${later}${why}`,
  );
}

const verdictWords = {
  checker: "The checker was wrong",
  real: "The assets did die",
  expected: "It was expected",
} as const;

function renderJudgement({ view, nowMs, withPeople, hasToken }: AlertData, isBlack: boolean): Html {
  const { alert, deaths } = view;
  const question = "What was it";
  const off = hasToken && alert.state !== "pending" ? nothing : html` disabled`;
  const share = undoneShare(view);
  const proposal = proposalOf(view);
  const undone =
    deaths === null || share === null
      ? html`How many of its deaths were undone is not known.`
      : html`${formatCount(deaths.revivedCount)} of ${countOf(deaths.judgedCount, "death")} with a name are undone,
        ${formatShare(share)}.${proposal === null ? nothing : html` <b>${proposal}</b>`}`;
  const { judgement } = alert;
  if (judgement === undefined)
    return act(
      question,
      "Nobody has judged it",
      undone,
      html`<button type="button" data-do="judge" ${isBlack ? html` class="primary"` : nothing}${off}>
        Judge&hellip;
      </button>`,
    );
  const { by, atMs, comment, verdict } = judgement;
  const said = html`${withPeople ? (by ?? "Somebody") : "Somebody"},
  ${renderTime(atMs, nowMs)}${withPeople && comment !== null ? html`: «${breakAddresses(comment)}»` : nothing}.
  ${undone}`;
  return act(
    question,
    verdictWords[verdict],
    said,
    html`<button type="button" data-do="judge" data-verdict="${verdict}" ${off}>Change&hellip;</button>
      <button type="button" class="plain" data-do="unjudge" ${off}>Withdraw</button>`,
  );
}

function renderGateAct({ gate, nowMs, withPeople, hasToken }: AlertData): Html {
  const question = "May the deaths be acted on";
  if (gate === null) return act(question, "Nobody asks", html`The organization is not configured any more.`, nothing);
  const message = html`${withPageTimes(gate.message, nowMs)}.`;
  if (gate.decision === "hold") {
    const off = hasToken ? nothing : html` disabled`;
    return act(
      question,
      "No: they are held",
      message,
      html`<button type="button" data-do="release" ${off}>Release&hellip;</button>`,
    );
  }
  const last = gate.releases[0];
  if (gate.reason === "released" && last !== undefined)
    return act(
      question,
      html`Yes: ${last.how}${withPeople && last.by !== null ? html` by ${last.by}` : nothing} at
      ${renderTime(last.atMs, nowMs)}`,
      withPeople && last.comment !== null ? html`«${breakAddresses(last.comment)}»` : message,
      nothing,
    );
  return act(question, gate.reason === "no_failure" ? "Yes: it never reached fail" : "Yes", message, nothing);
}

/** Returns how long something took, in words: "6 min after". */
export function distance(fromMs: number, toMs: number): string {
  const ms = toMs - fromMs;
  return ms < 60_000 ? "at once" : `${formatLengthInProse(ms)} later`;
}
