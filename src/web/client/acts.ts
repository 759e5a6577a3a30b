import { formatCount } from "../../base/numbers.ts";
import type { ActFacts } from "../page/alerts/act-facts.ts";
import { formatLengthInProse, formatShare, formatTime } from "../parts/figures.ts";
import { escapeHtml } from "../parts/html.ts";
import { gateOutcome, type GateOutcome } from "../page/alerts/gate-outcome.ts";
import { mark } from "../page/parts/marks.ts";
import { inZone } from "./choices.ts";
import { openDialog, textOf, type Problem } from "./dialog.ts";
import { callApi, mayAct, refusalOf } from "./api.ts";

/** What came of an act, in words. */
export interface ActOutcome {
  readonly isDone: boolean;
  readonly message: string;
}

/** Does what a button of an alert's page says; null when the reader thought better of it. */
export async function actOnAlert(what: string, verdict: string | null): Promise<ActOutcome | null> {
  const done = await act(what, verdict);
  return typeof done === "string" ? { isDone: true, message: done } : done;
}

async function act(what: string, verdict: string | null): Promise<ActOutcome | string | null> {
  const block = document.getElementById("data")?.textContent ?? "{}";
  const { facts } = JSON.parse(block) as { readonly facts?: ActFacts };
  if (facts === undefined || !mayAct()) return null;
  const path = `/api/v1/alerts/${encodeURIComponent(facts.id)}`;
  switch (what) {
    case "ack-alert":
      return acknowledge(facts, path);
    case "unack-alert":
      return direct(
        "DELETE",
        `${path}/ack`,
        `Taken back: nobody is on it, and reminders go on.${facts.releaseOn.includes("acknowledged") ? " What it released is held again." : ""}`,
      );
    case "judge":
      return judge(facts, path, verdict);
    case "unjudge":
      return direct("DELETE", `${path}/judgement`, "Withdrawn: nobody has judged it.");
    case "comment":
      return comment(facts, path);
    case "release":
      return release(facts);
    default:
      return null;
  }
}

async function direct(method: string, path: string, done: string): Promise<ActOutcome> {
  const answer = await callApi(method, path);
  if (answer?.ok === true) return { isDone: true, message: done };
  return { isDone: false, ...refusalOf("Nothing was changed", answer) };
}

async function send(what: string, path: string, body: unknown): Promise<Problem | null> {
  const answer = await callApi("POST", path, body);
  if (answer?.ok === true) return null;
  return refusalOf(`Not ${what}`, answer, " Nothing was changed.");
}

async function acknowledge(facts: ActFacts, path: string): Promise<string | null> {
  const opens = gateOutcome([facts], "acknowledged") === "opens";
  const gate = !facts.isHeld
    ? ""
    : opens
      ? " <b>This opens the gate</b>: your configuration says so."
      : " <b>The gate stays shut.</b>";
  const changes = [
    ...(facts.hasReminders ? ["No more reminders."] : []),
    ...facts.next.map(({ name, atMs }) => `<b>${escapeHtml(name)}</b>, due at ${when(atMs)}, is not notified.`),
  ];
  const stays = [
    ...(facts.isHeld && !opens ? [`${deaths(facts)} are held until somebody judges or releases them.`] : []),
    "It is notified when it gets worse, and when it ends.",
  ];
  const sent = await openDialog({
    title: `Acknowledge ${facts.slug}?`,
    verb: "Acknowledge",
    foot: "It ends with the alert, or when it gets worse.",
    content: `<p>You take it, and it goes quiet.${gate}</p><dl class="consequences">${changes.length === 0 ? "" : `<dt>Changes</dt><dd>${changes.join("<br>")}</dd>`}<dt>Stays</dt><dd>${stays.join("<br>")}</dd></dl>
<label><span>What are you doing about it? <span class="detail">(optional, shown on the alert)</span></span><textarea name="comment" rows="2" maxlength="1000" data-first></textarea></label>`,
    send: (form) => send("acknowledged", `${path}/ack`, commentOf(form)),
  });
  return sent === null
    ? null
    : `Acknowledged: quiet until it ends or gets worse.${facts.isHeld && !opens ? " The gate stays shut." : ""}`;
}

/** What an alert can be judged as: value, name, meaning. */
export const choices = [
  ["checker", "The checker was wrong", "These assets are alive."],
  ["real", "The assets did die", "Attackers left, or somebody took them down."],
  ["expected", "It was expected", "Known beforehand: a clean-up, an expiry, a move."],
] as const;

async function judge(facts: ActFacts, path: string, chosen: string | null): Promise<string | null> {
  const proposed = chosen ?? (facts.isMuchUndone ? "checker" : null);
  const speaks = facts.isMuchUndone ? ": that speaks for the checker" : "";
  const undone = facts.undone === null ? "" : ` ${formatShare(facts.undone)} were found alive again${speaks}.`;
  const sent = await openDialog({
    title: "What was it?",
    verb: "Judge",
    kind: "wide",
    foot: "Can be changed; every judgement is kept.",
    content: `<p>${escapeHtml(facts.slug)}, ${deaths(facts)} since ${when(facts.beganMs)}.${undone}</p><fieldset class="verdicts"><legend class="sr">What was it?</legend>${choices
      .map(
        ([value, name, meaning], index) =>
          `<label class="verdict-row"><input type="radio" name="verdict" value="${value}"${value === proposed ? " checked" : ""}${(proposed === null ? index === 0 : value === proposed) ? " data-first" : ""}><span><b>${name}</b><span class="detail">${meaning}</span></span><dl>${consequences(
            facts,
            value,
          )
            .map(([key, text]) => `<dt>${key}</dt><dd>${text}</dd>`)
            .join("")}</dl></label>`,
      )
      .join("")}</fieldset>
<label><span>How do you know? <span class="detail">(optional, kept with the judgement)</span></span><textarea name="comment" rows="2" maxlength="1000"></textarea></label>`,
    update: (form, button) => {
      const verdict = textOf(new FormData(form), "verdict");
      button.textContent = verdict === "" ? "Judge" : `Judge as ${verdict}`;
    },
    send: async (form) => {
      const verdict = textOf(form, "verdict");
      if (verdict === "") return { message: "Choose what it was.", field: "verdict" };
      return send("judged", `${path}/judgement`, { verdict, ...commentOf(form) });
    },
  });
  if (sent === null) return null;
  const name = choices.find(([value]) => value === sent.get("verdict"))?.[1] ?? "";
  return `Judged: ${name.charAt(0).toLowerCase()}${name.slice(1)}.`;
}

function consequences(facts: ActFacts, verdict: "checker" | "real" | "expected"): (readonly [string, string])[] {
  const gates = {
    // Nothing is known of the organization, and that holds it.
    free: facts.isHeld ? "stays shut until there is a result" : "is open",
    opens: "opens at once",
    shuts: "is shut again",
    unruled: "stays shut: <code>releaseOn</code> has no <code>judged</code>",
    other: "stays shut: another alert holds it, too",
    ends: "stays shut, opens when the alert ends",
    tainted: "stays shut until it is released: the alert ended against a baseline that has the incident in it",
  } as const satisfies Record<GateOutcome, string>;
  const baseline =
    verdict === "checker"
      ? `${formatLengthInProse(facts.nowMs - facts.beganMs)} since ${when(facts.beganMs)} leave it where <code>baselineExclude</code> is <code>judged</code>`
      : "keeps these hours";
  const tuning = {
    checker: "an incident: rules must find it",
    real: "a mass death: an alert on it is not held against a rule",
    expected: "a false alarm: rules should stay quiet",
  };
  return [
    ["Gate", gates[gateOutcome([facts], verdict)]],
    ["Baseline", baseline],
    ["Tuning", tuning[verdict]],
  ];
}

async function release(facts: ActFacts): Promise<string | null> {
  const many = deaths(facts);
  const undone =
    facts.undone === null || facts.undone < 0.01
      ? ""
      : `, and ${formatShare(facts.undone)} of its deaths were found alive again`;
  const note = facts.isJudged
    ? ""
    : `<p class="caution">${mark("warn").html}<span>Nobody has judged this alert${undone}. If you know what it was, judge it instead${facts.releaseOn.includes("judged") ? ": real and expected open the gate too" : ""}.</span></p>`;
  const sent = await openDialog({
    title: `Release the deaths of ${facts.slug}?`,
    verb: facts.count === null ? "Release the deaths" : `Release ${many}`,
    foot: "The gate shuts again only with a new alert.",
    content: `<p><b>${many.charAt(0).toUpperCase()}${many.slice(1)} may be acted on at once.</b> What takedown pipelines then do, flatline cannot undo.</p>${note}
<label><span>Why may they be acted on? <b>needed</b></span><textarea name="comment" rows="2" maxlength="1000" data-first></textarea></label>`,
    send: async (form) => {
      if (textOf(form, "comment") === "")
        return { message: "Write the reason. It is kept with your name.", field: "comment" };
      return send("released", `/api/v1/gate/${encodeURIComponent(facts.slug)}/release`, commentOf(form));
    },
  });
  return sent === null ? null : `Released: ${many} may be acted on.`;
}

async function comment({ slug }: ActFacts, path: string): Promise<string | null> {
  const sent = await openDialog({
    title: `Comment on the alert of ${slug}?`,
    verb: "Comment",
    foot: "It stays with the alert and cannot be changed.",
    content: `<label><span>What do you know?</span><textarea name="comment" rows="3" maxlength="1000" data-first></textarea></label>`,
    send: async (form) => {
      if (textOf(form, "comment") === "") return { message: "Write the comment.", field: "comment" };
      return send("stored", `${path}/comments`, commentOf(form));
    },
  });
  return sent === null ? null : "Commented.";
}

/** Returns the comment of a form, absent where it is empty. */
export function commentOf(form: FormData): { readonly comment?: string } {
  const comment = textOf(form, "comment");
  return comment === "" ? {} : { comment };
}

function deaths({ count }: ActFacts): string {
  return count === null ? "these deaths" : `${formatCount(count)} ${count === 1 ? "death" : "deaths"}`;
}

function when(atMs: number): string {
  return formatTime(inZone(atMs), inZone(Date.now()));
}
