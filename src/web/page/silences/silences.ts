import { breakAddresses } from "../../../base/broken-address.ts";
import { formatCount } from "../../../base/numbers.ts";
import { literalOf } from "../../../base/text-pattern.ts";
import { compareWorst, organizationPath } from "../overview/row.ts";
import { countOf, formatLength, formatLengthInProse } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "../parts/marks.ts";
import { renderTime } from "../../parts/time.ts";
import type { PageSilence } from "../ports.ts";

const shownEnded = 200;

/** Renders who is quiet, until when and why. */
export function renderSilences(silences: readonly PageSilence[], retentionDays: number, nowMs: number): Html {
  const active = silences.filter(({ state }) => state === "active").toSorted((a, b) => a.endsAtMs - b.endsAtMs);
  const coming = silences.filter(({ state }) => state === "pending").toSorted((a, b) => a.startsAtMs - b.startsAtMs);
  const ended = silences.filter(({ state }) => state === "expired").toSorted((a, b) => b.endsAtMs - a.endsAtMs);
  const within = `within ${retentionDays} days`;
  return html`<div class="headline">
      <div>
        <h1 class="sentence">${silencesSentence(active)}</h1>
        <p class="why">A silence stops messages, nothing else: checks run, alerts fire, the gate stays shut.</p>
      </div>
      <div class="buttons">
        <button type="button" class="primary" data-do="silence-new">Silence&hellip;</button>
        <p class="did" id="did" role="status"></p>
      </div>
    </div>
    ${
      silences.length === 0
        ? nothing
        : html`<div class="tools">
              <form class="filter" role="search" data-filter="silences">
                <label class="sr" for="q">Filter by slug, reason or name</label
                ><input
                  id="q"
                  type="search"
                  placeholder="Filter by slug, reason or name"
                  autocomplete="off"
                  spellcheck="false"
                /><kbd aria-hidden="true">/</kbd>
              </form>
              <p class="note">${active.length} active, ${coming.length} to come, ${ended.length} ended ${within}</p>
            </div>
            <table class="listing silences" id="silences" aria-label="Silences">
              <thead>
                <tr>
                  <th scope="col" class="s-until">Until</th>
                  <th scope="col" class="s-what">What</th>
                  <th scope="col" class="s-holds">Holds back</th>
                  <th scope="col">Why</th>
                  <th scope="col" class="s-by">By</th>
                  <th scope="col" class="s-acts"><span class="sr">Acts</span></th>
                </tr>
              </thead>
              ${renderGroup("Active", String(active.length), active, nowMs)}
              ${renderGroup("To come", String(coming.length), coming, nowMs)}
              ${renderGroup("Ended", `${formatCount(ended.length)} ${within}`, ended.slice(0, shownEnded), nowMs)}
            </table>
            <p class="away" data-away="silences" hidden></p>`
    }`;
}

/** "3 silences hold back the messages of 19 organizations. 2 alerts fire under them." */
export function silencesSentence(active: readonly PageSilence[]): string {
  if (active.length === 0) return "Nothing is silenced. Every alert is notified.";
  const organizations = new Set(active.flatMap((one) => one.organizations)).size;
  const firing = active.reduce((sum, one) => sum + one.firing.length, 0);
  const verb = active.length === 1 ? "holds" : "hold";
  const under = active.length === 1 ? "it" : "them";
  return `${countOf(active.length, "silence")} ${verb} back the messages of ${countOf(organizations, "organization")}. ${
    firing === 0
      ? `No alert fires under ${under}.`
      : `${countOf(firing, "alert")} ${firing === 1 ? "fires" : "fire"} under ${under}.`
  }`;
}

function renderGroup(name: string, note: string, silences: readonly PageSilence[], nowMs: number): Html {
  if (silences.length === 0) return nothing;
  return html`<tbody>
    <tr class="group">
      <th scope="rowgroup" colspan="6">${name} <span>${note}</span></th>
    </tr>
    ${silences.map((one) => renderSilence(one, nowMs))}
  </tbody>`;
}

function renderSilence(silence: PageSilence, nowMs: number): Html {
  const { createdBy, createdAtMs, state, id, endsAtMs, startsAtMs, rule } = silence;
  const { slug: pattern = "*", check = null, labels = {}, comment } = rule;
  const slug = literalOf(pattern);
  const by = id === null ? "configuration" : (createdBy ?? "nobody said");
  const words = [slug ?? pattern, comment, by, checkWords(check)].join(" ").toLowerCase();
  return html`<tr class="${state}" data-words="${words}">
    <td class="s-until">${untilText(silence, nowMs)}</td>
    <th scope="row" class="s-what">
      ${slug === null ? html`<b>${pattern}</b>` : html`<a href="${organizationPath(slug)}">${slug}</a>`}<span
        class="second"
        >${checkWords(check)}${Object.entries(labels).map(([label, value]) => ` · ${label} ${value}`)}</span
      >
    </th>
    <td class="s-holds">${holdsText(silence)}</td>
    <td class="s-why">${breakAddresses(comment)}</td>
    <td class="s-by">
      ${by}<span class="second"
        >${createdAtMs === null ? (rule.kind === "fixed" ? nothing : html`<code>${rule.schedule}</code>`) : html`since ${renderTime(state === "pending" ? createdAtMs : startsAtMs, nowMs)}`}</span
      >
    </td>
    <td
      class="s-acts"
      data-silence="${id ?? ""}"
      data-pattern="${pattern}"
      data-check="${check ?? ""}"
      data-comment="${comment}"
      data-ends="${endsAtMs}"
    >
      ${renderActs(silence)}
    </td>
  </tr>`;
}

function renderActs({ id, state, rule }: PageSilence): Html {
  const { slug, labels = {} } = rule;
  if (id === null) return html`<span class="detail">change it in the file</span>`;
  if (state === "expired")
    return slug === undefined || Object.keys(labels).length > 0
      ? nothing
      : html`<button type="button" data-do="silence-again">Again&hellip;</button>`;
  return state === "active"
    ? html`<button type="button" data-do="silence-change">Extend&hellip;</button>
        <button type="button" data-do="silence-end">End now</button>`
    : html`<button type="button" data-do="silence-change">Change&hellip;</button>
        <button type="button" data-do="silence-end">Delete</button>`;
}

function untilText({ state, startsAtMs, endsAtMs, rule }: PageSilence, nowMs: number): Html {
  if (state === "active")
    return html`<b>${renderTime(endsAtMs, nowMs)}</b
      ><span class="second">${formatLengthInProse(endsAtMs - nowMs)} left</span>`;
  if (state === "pending")
    return html`<b>${renderTime(startsAtMs, nowMs)}</b
      ><span class="second"
        >to
        ${renderTime(endsAtMs, startsAtMs)}${rule.kind === "fixed" ? `, in ${formatLengthInProse(startsAtMs - nowMs)}` : ", and again"}</span
      >`;
  return html`${renderTime(endsAtMs, nowMs)}<span class="second">after ${formatLength(endsAtMs - startsAtMs)}</span>`;
}

function holdsText({ organizations, firing, state }: PageSilence): Html {
  const many = countOf(organizations.length, "organization");
  if (state !== "active") return html`${many}`;
  const worst = firing.toSorted((left, right) => compareWorst(right, left))[0];
  if (worst === undefined) return html`${many}, nothing fires`;
  const fires = html`${mark(worst, 12)} ${formatCount(firing.length)} ${firing.length === 1 ? "fires" : "fire"}`;
  return html`${many}, <span class="whole">${fires}</span>`;
}

function checkWords(check: string | null): string {
  return check ?? "all checks";
}
