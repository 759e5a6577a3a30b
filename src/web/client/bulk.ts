import type { JudgementVerdict } from "../../contract/judgement.ts";
import { formatCount } from "../../base/numbers.ts";
import { literalPattern } from "../../base/text-pattern.ts";
import { escapeHtml } from "../parts/html.ts";
import { mark } from "../page/parts/marks.ts";
import type { BulkSubject } from "../page/alerts/act-facts.ts";
import { countOf, formatShare } from "../parts/figures.ts";
import { choices, commentOf } from "./acts.ts";
import { textOf } from "./dialog.ts";
import { gateOutcome, type GateAct, type GateOutcome } from "../page/alerts/gate-outcome.ts";
import { runEach, type Step } from "./each-dialog.ts";
import { drawLength, lengthField, readSilence, timeWords } from "./silence.ts";
import { mayAct } from "./api.ts";

export type BulkAct = "acknowledge" | "judge" | "silence" | "release";

/** Whose alerts are meant: those of the fleet verdict, of a group of the list, these, or the live ones of these organizations. */
export type Meant =
  | { readonly kind: "members" }
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "ids"; readonly ids: ReadonlySet<string> }
  | { readonly kind: "slugs"; readonly slugs: ReadonlySet<string> };

/** What was selected and has no part in the act: how many, and why. */
type Rest = readonly [number, string];

/** Asks once and acts on many alerts; what was done in words, or null when nothing was. */
export async function actOnMany(act: BulkAct, meant: Meant): Promise<string | null> {
  if (!mayAct()) return null;
  if (act === "silence" && meant.kind === "slugs") return silence([...meant.slugs], [0, ""]);
  const all = await readSubjects();
  if (all === null) return "Nothing was changed: flatline could not be reached.";
  const alerts = all.filter((alert) => isMeant(alert, meant, act));
  if (alerts.length === 0)
    return meant.kind === "slugs"
      ? "Nothing was changed: none of these organizations has an alert."
      : "Nothing was changed: none of these alerts is there any more.";
  const rest = restOf(meant, alerts);
  if (act === "acknowledge") return acknowledge(alerts, rest);
  if (act === "release") return release(alerts, rest);
  return act === "judge" ? judge(alerts, rest) : silence([...new Set(alerts.map(({ slug }) => slug))], rest);
}

function isMeant(alert: BulkSubject, meant: Meant, act: BulkAct): boolean {
  if (meant.kind === "members") return alert.isMember;
  if (meant.kind === "group") return alert.group === meant.group;
  if (meant.kind === "ids") return meant.ids.has(alert.id);
  // A gate stays shut beyond the end of its alert.
  return meant.slugs.has(alert.slug) && (alert.group !== "ended" || (act === "release" && alert.isHeld));
}

function restOf(meant: Meant, alerts: readonly BulkSubject[]): Rest {
  if (meant.kind === "ids") return [meant.ids.size - alerts.length, "not yours, or over by now"];
  if (meant.kind !== "slugs") return [0, ""];
  const without = meant.slugs.size - organizations(alerts);
  return [without, `${without === 1 ? "organization has" : "organizations have"} no alert`];
}

async function readSubjects(): Promise<readonly BulkSubject[] | null> {
  try {
    const response = await fetch("/acts.json");
    if (!response.ok) return null;
    return ((await response.json()) as { readonly alerts: readonly BulkSubject[] }).alerts;
  } catch {
    return null;
  }
}

function acknowledge(alerts: readonly BulkSubject[], rest: Rest): Promise<string | null> {
  const free = alerts.filter(
    ({ group, isAcknowledged }) => !isAcknowledged && group !== "pending" && group !== "ended",
  );
  const outcomes = gateOutcomes(free, "acknowledged");
  const opening = outcomes.opens;
  const stays = outcomes.unruled + outcomes.other + outcomes.ends + outcomes.tainted;
  const gate =
    opening > 0
      ? ` <b>This opens the gate of ${countOf(opening, "organization")}</b>: your configuration says so.`
      : stays > 0
        ? " <b>The gates stay shut.</b>"
        : "";
  const lines = [
    ...(free.some(({ hasReminders }) => hasReminders)
      ? [["Changes", "No more reminders, and no one else is called."]]
      : []),
    ...(stays > 0 ? [["Stays", `${countOf(stays, "organization")} held until somebody judges or releases them.`]] : []),
    ["Messages", "Notified when one gets worse, and when one ends."],
  ] as const;
  return runEach(
    {
      title: `Acknowledge ${countOf(free.length, "alert")}?`,
      verb: `Acknowledge ${countOf(free.length, "alert")}`,
      foot: "Each can be taken back.",
      content: `<p>You take them, and they go quiet.${gate}</p>${who([
        [free.length, "that no one has acknowledged"],
        [alerts.filter(({ isAcknowledged }) => isAcknowledged).length, "acknowledged before: these stay as they are"],
        [alerts.filter(({ group }) => group === "pending").length, "pending: they fire first"],
        [alerts.filter(({ group }) => group === "ended").length, "ended: nothing is to be taken on"],
        rest,
      ])}${consequences(lines)}
<label><span>What are you doing about it? <span class="detail">(optional, the same for all)</span></span><textarea name="comment" rows="2" maxlength="1000" data-first></textarea></label>`,
    },
    "acknowledged",
    (form) => free.map((alert) => ({ ...post(alert, "ack"), body: commentOf(form) })),
  );
}

function judge(alerts: readonly BulkSubject[], rest: Rest): Promise<string | null> {
  const judgeable = alerts.filter(({ hold }) => hold.isOfGate);
  const ready = judgeable.filter(({ group }) => group !== "pending");
  if (ready.length === 0) return Promise.resolve("Nothing was changed: none of these alerts can be judged.");
  const open = ready.filter(({ verdict }) => verdict === null);
  const judged = ready.filter(({ verdict }) => verdict !== null);
  const known = ready.flatMap(({ deaths, undone }) => (deaths === null || undone === null ? [] : [{ deaths, undone }]));
  const deaths = known.reduce((sum, one) => sum + one.deaths, 0);
  const undone = known.reduce((sum, one) => sum + one.deaths * one.undone, 0);
  const fails = ready.filter(({ severity }) => severity === "fail").length;
  const before = (["checker", "real", "expected"] as const).flatMap((verdict) => {
    const count = judged.filter((alert) => alert.verdict === verdict).length;
    return count === 0 ? [] : [`${formatCount(count)} as ${verdict}`];
  });
  const chosen = (form: FormData): readonly BulkSubject[] => [
    ...(form.has("open") ? open : []),
    ...(form.has("judged") ? judged : []),
  ];
  return runEach(
    {
      title: ready.length === 1 ? "What was this alert?" : `What were these ${formatCount(ready.length)} alerts?`,
      verb: "Judge",
      kind: "wide",
      foot: "Can be changed one by one; every judgement is kept.",
      content: `<p>${formatCount(fails)} fail and ${formatCount(ready.length - fails)} others.${deaths === 0 ? "" : ` ${formatShare(undone / deaths)} of their deaths with a name were found alive again.`}</p>
${box("open", open.length, "that no one has judged", true)}${box("judged", judged.length, `judged before, ${before.join(" and ")}: unless you select them, these stay as they are`, false)}${who(
        [
          [judgeable.length - ready.length, "pending: they fire first"],
          [alerts.length - judgeable.length, "that question no deaths: these are not judged"],
          rest,
        ],
      )}
<fieldset class="verdict-choice"><legend class="sr">What was it?</legend>${choices.map(([value, name], index) => `<label><input type="radio" name="verdict" value="${value}"${index === 0 ? " data-first" : ""}> ${name}</label>`).join("")}</fieldset>
<div data-consequences></div>
<label><span>How do you know? <span class="detail">(optional, the same for all)</span></span><textarea name="comment" rows="2" maxlength="1000"></textarea></label>`,
      update: (form, button) => {
        const data = new FormData(form);
        const verdict = textOf(data, "verdict");
        const some = chosen(data);
        const place = form.querySelector("[data-consequences]");
        if (place !== null)
          place.innerHTML = verdict === "" ? "" : consequences(judgedLines(some, verdict as JudgementVerdict));
        button.textContent = `Judge ${countOf(some.length, "alert")}`;
      },
    },
    "judged",
    (form) => {
      const verdict = textOf(form, "verdict");
      if (verdict === "") return { message: "Choose what it was.", field: "verdict" };
      const some = chosen(form);
      if (some.length === 0) return { message: "Select whose alerts are meant.", field: "open" };
      return some.map((alert) => ({ ...post(alert, "judgement"), body: { verdict, ...commentOf(form) } }));
    },
  );
}

function judgedLines(alerts: readonly BulkSubject[], verdict: JudgementVerdict): (readonly [string, string])[] {
  const outcomes = gateOutcomes(alerts, verdict);
  const line = (outcome: GateOutcome, one: string, many: string, why = ""): string[] => {
    const count = outcomes[outcome];
    return count === 0 ? [] : [`${formatCount(count)} ${count === 1 ? one : many}${why}`];
  };
  const stay = ["organization stays held", "organizations stay held"] as const;
  const gate = [
    ...line("opens", "held organization opens at once", "held organizations open at once"),
    ...line("shuts", "organization is held again", "organizations are held again"),
    ...line("ends", ...stay, "; each opens when its alert has ended"),
    ...line("unruled", ...stay, ": <code>releaseOn</code> has no <code>judged</code>"),
    ...line("other", ...stay, ": another alert holds it, too"),
    ...line(
      "tainted",
      ...stay,
      " until it is released: its alert ended against a baseline that has the incident in it",
    ),
  ];
  return [
    ["Gate", gate.length === 0 ? "no alert of these holds one" : gate.join("<br>")],
    [
      "Baseline",
      verdict === "checker"
        ? "the hours since each one began leave its baseline where <code>baselineExclude</code> is <code>judged</code>"
        : "keeps these hours",
    ],
  ];
}

/** How many organizations there are of each outcome. */
function gateOutcomes(alerts: readonly BulkSubject[], act: GateAct): Record<GateOutcome, number> {
  const counts = { free: 0, opens: 0, shuts: 0, unruled: 0, other: 0, ends: 0, tainted: 0 };
  const subjects = alerts.map((alert) => ({ ...alert, isEnded: alert.group === "ended" }));
  for (const own of Map.groupBy(subjects, ({ slug }) => slug).values()) counts[gateOutcome(own, act)]++;
  return counts;
}

function silence(slugs: readonly string[], rest: Rest): Promise<string | null> {
  const many = countOf(slugs.length, "organization");
  return runEach(
    {
      title: `Silence ${many}?`,
      verb: "Silence",
      foot: "Each can be ended at any time.",
      content: `<p>Messages stop. Checks run on, alerts still fire, the gates stay shut. An end is notified if its beginning was.</p>${who(
        [
          [slugs.length, `${slugs.length === 1 ? "organization" : "organizations"}, all checks: one silence each`],
          rest,
        ],
      )}
${lengthField("For how long")}
<label><span>Why? <b>needed</b></span><input type="text" name="comment" data-calm data-first maxlength="1000"></label>`,
      update: (form, button) => {
        const { hours, endsAtMs } = drawLength(form);
        const length =
          hours !== "until" ? ` for ${hours}\u00a0h` : endsAtMs === null ? "" : ` until ${timeWords(endsAtMs)}`;
        button.textContent = `Silence ${formatCount(slugs.length)}${length}`;
      },
    },
    "silenced",
    (form) => {
      const read = readSilence(form);
      if ("message" in read) return read;
      const common = { method: "POST", path: "/api/v1/silences" };
      return slugs.map((slug) => ({ ...common, name: slug, body: { slug: literalPattern(slug), ...read } }));
    },
  );
}

function release(alerts: readonly BulkSubject[], rest: Rest): Promise<string | null> {
  const bySlug = Map.groupBy(
    alerts.filter(({ isHeld }) => isHeld),
    ({ slug }) => slug,
  );
  const open = organizations(alerts) - bySlug.size;
  if (bySlug.size === 0) return Promise.resolve("Nothing was changed: the deaths of none of these are held.");
  const largest = [...bySlug]
    .map(([slug, own]) => ({ slug, deaths: Math.max(0, ...own.map(({ deaths }) => deaths ?? 0)) }))
    .toSorted((left, right) => right.deaths - left.deaths || (left.slug < right.slug ? -1 : 1));
  const deaths = largest.reduce((sum, one) => sum + one.deaths, 0);
  const unjudged = alerts.filter(({ isHeld, verdict }) => isHeld && verdict === null).length;
  const many = countOf(bySlug.size, "organization");
  const held = deaths === 0 ? `The deaths of ${many}` : countOf(deaths, "death");
  const shown = largest.slice(0, mostShown);
  const more = largest.length - shown.length;
  const names = shown.map(
    (one) => `<li><b>${escapeHtml(one.slug)}</b>${one.deaths === 0 ? "" : ` ${countOf(one.deaths, "death")}`}</li>`,
  );
  return runEach(
    {
      title: `Release the deaths of ${many}?`,
      verb: `Release ${many}`,
      kind: "wide",
      foot: "A gate shuts again only with a new alert.",
      content: `<p><b>${held} may be acted on at once.</b> What takedown pipelines then do, flatline cannot undo.</p>
${unjudged === 0 ? "" : `<p class="caution">${mark("warn").html}<span>${countOf(unjudged, "alert")} of these ${unjudged === 1 ? "is" : "are"} not judged. If you know what they were, judge them instead.</span></p>`}
<ul class="who">${names.join("")}${more === 0 ? "" : `<li>and ${formatCount(more)} more</li>`}</ul>${who([
        [open, `${open === 1 ? "organization is" : "organizations are"} not held: nothing is to be released`],
        rest,
      ])}
<label><span>Why may they be acted on? <b>needed</b></span><textarea name="comment" rows="2" maxlength="1000" data-first></textarea></label>
<label><span>How many organizations are these? <b>needed</b></span><input name="count" type="text" inputmode="numeric" autocomplete="off"></label>`,
    },
    "released",
    (form) => {
      if (textOf(form, "comment") === "")
        return { message: "Write the reason. It is kept with your name.", field: "comment" };
      // Who has counted has read.
      if (textOf(form, "count").replaceAll(/[,.\s]/g, "") !== String(bySlug.size))
        return { message: `Type ${formatCount(bySlug.size)}, the number of organizations.`, field: "count" };
      return [...bySlug.keys()].map((slug) => ({
        name: slug,
        method: "POST",
        path: `/api/v1/gate/${encodeURIComponent(slug)}/release`,
        body: commentOf(form),
      }));
    },
  );
}

// In a release of hundreds, more names are not read.
const mostShown = 5;

function post({ id, slug }: BulkSubject, act: string): Omit<Step, "body"> {
  return { name: slug, method: "POST", path: `/api/v1/alerts/${encodeURIComponent(id)}/${act}` };
}

function organizations(alerts: readonly BulkSubject[]): number {
  return new Set(alerts.map(({ slug }) => slug)).size;
}

/** Who is meant, and who is not and why: numbers that add up. */
function who(lines: readonly (readonly [number, string])[]): string {
  const shown = lines.filter(([count]) => count > 0);
  return `<ul class="who">${shown.map(([count, text]) => `<li><b>${formatCount(count)}</b> ${text}</li>`).join("")}</ul>`;
}

function box(name: string, count: number, text: string, isOn: boolean): string {
  if (count === 0) return "";
  return `<label class="check"><input type="checkbox" name="${name}" value="yes"${isOn ? " checked" : ""}><span><b>${formatCount(count)}</b> ${text}</span></label>`;
}

function consequences(lines: readonly (readonly [string, string])[] | readonly (readonly string[])[]): string {
  return `<dl class="consequences">${lines.map(([name = "", text = ""]) => `<dt>${name}</dt><dd>${text}</dd>`).join("")}</dl>`;
}
