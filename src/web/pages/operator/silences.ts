import { breakAddresses } from "../../../base/broken-address.ts";
import { literalOf } from "../../../base/text-pattern.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import type { PageSilence } from "../../read/silences.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import { renderHead } from "../frame.ts";
import {
  filterByWords,
  organizationLink,
  pageOf,
  renderFilter,
  renderNoMatch,
  renderPager,
  renderGroups,
  type Column,
} from "../table.ts";
import { dialogButton } from "../dialog.ts";
import { countOf, durationText } from "../../../words/numbers.ts";

/** The page of silences, as one reader may see it. */
export interface SilencesView {
  readonly silences: readonly PageSilence[];
  readonly params: URLSearchParams;
  /** For how long ended ones are kept. */
  readonly retentionMs: number;
  readonly nowMs: number;
}

export const path = "/silences";
const pageSize = 100;
const states = { active: "active", pending: "to come", expired: "ended" } as const;

/** Renders who is quiet, until when and why: what holds, soonest end first, what comes, and what is over. */
export function renderSilences({ silences, params, retentionMs, nowMs }: SilencesView): Html {
  const active = silences.filter(({ state }) => state === "active");
  const sorted = [
    ...active.toSorted((a, b) => a.endsAtMs - b.endsAtMs),
    ...silences.filter(({ state }) => state === "pending").toSorted((a, b) => a.startsAtMs - b.startsAtMs),
    ...silences.filter(({ state }) => state === "expired").toSorted((a, b) => b.endsAtMs - a.endsAtMs),
  ];
  const wanted = filterByWords(sorted, params, wordsOf);
  const page = pageOf(wanted, params, pageSize);
  const within = `within ${durationText(retentionMs)}`;
  const acts = dialogButton(`${path}/new`, "Silence…", true);
  const list = html`${renderFilter(
    path,
    params,
    "Filter by slug, reason or name",
    `${countOf(wanted.length, "silence")}, ended ones ${within}`,
  )}
  ${
    wanted.length === 0
      ? renderNoMatch("silence", path, params)
      : html`${renderGroups(columnsOf(nowMs), [{ rows: page.items }], "", ({ state }) => html`class="${state}"`)}${renderPager(page, path, params)}`
  }`;
  return html`${renderHead(silencesSentences(active), { acts })}
    <p class="lede">A silence stops messages, nothing else: checks run, alerts fire, takedowns stay on hold.</p>
    ${silences.length === 0 ? nothing : list}`;
}

/** "3 silences hold back the messages of 19 organizations." "2 alerts fire under them." */
function silencesSentences(active: readonly PageSilence[]): readonly string[] {
  if (active.length === 0) return ["Nothing is silenced. Every alert is notified."];
  const organizations = new Set(active.flatMap((one) => one.organizations)).size;
  const firing = active.reduce((sum, one) => sum + one.firing.length, 0);
  const [verb, under] = active.length === 1 ? ["holds", "it"] : ["hold", "them"];
  return [
    `${countOf(active.length, "silence")} ${verb} back the messages of ${countOf(organizations, "organization")}.`,
    firing === 0
      ? `No alert fires under ${under}.`
      : `${countOf(firing, "alert")} ${firing === 1 ? "fires" : "fire"} under ${under}.`,
  ];
}

function columnsOf(nowMs: number): readonly Column<PageSilence>[] {
  return [
    ["State", "second", ({ state }) => states[state]],
    ["Until", "nowrap", (silence) => untilText(silence, nowMs)],
    ["What", "name", ({ rule }) => renderWhat(rule)],
    ["Holds back", "", holdsText],
    ["Why", "", ({ rule }) => breakAddresses(rule.comment)],
    ["By", "wide", (silence) => html`${byWords(silence)}<span class="under">${sinceText(silence, nowMs)}</span>`],
    ["Acts", "act", renderActs],
  ];
}

function renderWhat({ slug: pattern = "*", check, labels = {} }: PageSilence["rule"]): Html {
  const slug = literalOf(pattern);
  const more = Object.entries(labels).map(([label, value]) => ` · ${label} ${value}`);
  return html`${slug === null ? html`<b>${pattern}</b>` : organizationLink(slug)}<span class="under"
      >${checkWords(check)}${more}</span
    >`;
}

function sinceText({ createdAtMs, state, startsAtMs, rule }: PageSilence, nowMs: number): Html {
  if (createdAtMs !== null) return html`since ${renderTime(state === "pending" ? createdAtMs : startsAtMs, nowMs)}`;
  return rule.kind === "fixed" ? nothing : html`<code>${rule.schedule}</code>`;
}

function renderActs({ id, state, rule }: PageSilence): Html {
  if (id === null) return html`<span class="quiet">change it in the file</span>`;
  const { slug, check, labels = {}, comment } = rule;
  const again = new URLSearchParams({ slug: slug ?? "", ...(check === undefined ? {} : { check }), comment });
  const isOfSlug = slug !== undefined && Object.keys(labels).length === 0;
  const renew = isOfSlug ? dialogButton(`${path}/new?${again.toString()}`, "Again…") : nothing;
  if (state === "expired") return renew;
  const end = `${path}/${encodeURIComponent(id)}/end`;
  return html`${renew}
    <form method="post" action="${end}" hx-post="${end}" hx-swap="none">
      <button>${state === "active" ? "End now" : "Delete"}</button>
    </form>`;
}

function untilText({ state, startsAtMs, endsAtMs }: PageSilence, nowMs: number): Html {
  const end = renderTime(endsAtMs, nowMs);
  if (state === "active") return html`<b>${end}</b><span class="under">${durationText(endsAtMs - nowMs)} left</span>`;
  return html`${end}<span class="under">from ${renderTime(startsAtMs, nowMs)}</span>`;
}

function holdsText({ organizations, firing, state }: PageSilence): string {
  const many = countOf(organizations.length, "organization");
  if (state !== "active") return many;
  return `${many}, ${firing.length === 0 ? "nothing fires" : countOf(firing.length, "alert fires", "alerts fire")}`;
}

/** What the filter looks at. */
function wordsOf(silence: PageSilence): string {
  const { rule } = silence;
  const { slug = "*", check, labels = {}, comment } = rule;
  const attributes = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return [literalOf(slug) ?? slug, checkWords(check), ...attributes, comment, byWords(silence)].join(" ");
}

function byWords({ id, createdBy, note }: PageSilence): string {
  return id === null ? "configuration" : describeAuthor(createdBy, note) || "nobody said";
}

function checkWords(check: string | undefined): string {
  return check ?? "all checks";
}
