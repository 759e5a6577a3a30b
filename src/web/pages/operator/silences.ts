import type { FastifyInstance } from "fastify";

import { breakAddresses } from "../../../base/broken-address.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { nearestName } from "../../../base/suggestions.ts";
import { literalOf } from "../../../base/text-pattern.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { countOf, durationText, timeText } from "../../../words/numbers.ts";
import { authorOf, readerOf } from "../../access/admission.ts";
import { malformed } from "../../input.ts";
import { readSilence } from "../../api/silence-routes.ts";
import type { WebParts } from "../../parts.ts";
import { html, nothing, renderTime, type Html } from "../html.ts";
import { readSilences, type PageSilence } from "../../read/silences.ts";
import { actForm, dialogButton, endOf, renderDialog, renderField, renderLengths } from "../dialog.ts";
import { renderHead } from "../frame.ts";
import {
  filterByWords,
  organizationLink,
  pageOf,
  renderFilter,
  renderGroups,
  renderNoMatch,
  renderPager,
  type Column,
} from "../table.ts";

const path = "/silences";
const pageSize = 100;
const states = { active: "active", pending: "to come", expired: "ended" } as const;

const around = { title: "Silences · flatline", current: "silences" } as const;

/** Adds `/silences`, with the forms that begin and end a silence. */
export function addSilencePages(server: FastifyInstance, { site, running, silences }: WebParts): void {
  const { clock, config, checkNames } = running;
  site.addPage(server, "/silences", "read", async ({ search }) => {
    const within = `within ${durationText(config().storage.retentionMs)}`;
    const main = renderSilences(await readSilences(running), search, within, clock.nowMs());
    return { ...around, isLive: true, main };
  });

  site.addAct(server, "/silences/new", "operate", {
    ask: ({ request, search }, problem) => {
      const dialog = {
        action: `${path}/new`,
        title: "Silence which organization?",
        content: newSilenceFields(search, checkNames(), clock.nowMs()),
        problem,
        foot: `As ${readerOf(request) ?? ""}. Can be ended at any time.`,
        verb: "Silence",
        back: path,
      };
      return { ...around, isDialog: true, main: renderDialog(dialog) };
    },
    perform: async ({ request, search }) => {
      const nowMs = clock.nowMs();
      const silence = readSilence(bodyOf(search, nowMs), nowMs, checkNames());
      const known = config().organizations.map(({ slug }) => slug);
      requireKnown(silence.slug, known);
      await silences.add(silence, authorOf(request));
      return { did: `Silenced until ${timeText(silence.endsAtMs, nowMs)}.`, path };
    },
  });

  site.addAct(server, "/silences/:id/end", "operate", {
    perform: async ({ request, params: { id } }) => {
      if (await silences.expire(id, authorOf(request))) return { did: "The silence has ended.", path };
      throw new FlatlineError("not_found", "there is no such silence");
    },
  });
}

/** Returns the form as a body of the API. */
function bodyOf(form: URLSearchParams, nowMs: number): unknown {
  const { slug = "", check = "", comment = "" } = Object.fromEntries(form);
  return { slug: slug.trim(), ...(check === "" ? {} : { check }), endsAt: endOf(form, nowMs), comment };
}

/** Refuses the name of an unknown organization; a pattern may match later ones. */
function requireKnown(pattern: string, known: readonly string[]): void {
  const only = literalOf(pattern);
  if (only === null || known.includes(only)) return;
  const nearest = nearestName(only, known);
  throw malformed([`no organization is called ${only}.${nearest === null ? "" : ` Did you mean ${nearest}?`}`]);
}

function newSilenceFields(form: URLSearchParams, checks: readonly string[], nowMs: number): Html {
  const attributes = html`maxlength="512" required spellcheck="false"`;
  return html`<p>
      Messages stop. Checks run on, alerts still fire, takedowns stay on hold. Its end is notified if its beginning was.
    </p>
    ${renderField("Organization, or a pattern with *", "slug", form.get("slug"), attributes)}
    ${renderLengths(form, nowMs)}
    <label class="field"
      >Which checks<select name="check">
        <option value="">All checks</option>
        ${checks.map(
          (name) => html`<option ${name === form.get("check") ? html` selected` : nothing}>${name}</option>`,
        )}
      </select></label
    >
    ${renderField("Why? (needed)", "comment", form.get("comment"), html`maxlength="2000" required`)}`;
}

/** Renders the silences: active ones by their end, then pending ones, then ended ones. */
function renderSilences(
  silences: readonly PageSilence[],
  params: URLSearchParams,
  within: string,
  nowMs: number,
): Html {
  const active = silences.filter(({ state }) => state === "active");
  const sorted = [
    ...active.toSorted((a, b) => a.endsAtMs - b.endsAtMs),
    ...silences.filter(({ state }) => state === "pending").toSorted((a, b) => a.startsAtMs - b.startsAtMs),
    ...silences.filter(({ state }) => state === "expired").toSorted((a, b) => b.endsAtMs - a.endsAtMs),
  ];
  const wanted = filterByWords(sorted, params, wordsOf);
  const page = pageOf(wanted, params, pageSize);
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
      : html`${renderGroups(columnsOf(nowMs), [{ rows: page.items }], "", ({ state }) => html`class="${state}"`)}
        ${renderPager(page, path, params)}`
  }`;
  return html`${renderHead(silencesSentences(active), { acts })}
    <p class="lede">A silence stops messages, nothing else: checks run, alerts fire, takedowns stay on hold.</p>
    ${silences.length === 0 ? nothing : list}`;
}

/** Returns sentences such as "3 silences hold back the messages of 19 organizations." */
function silencesSentences(active: readonly PageSilence[]): readonly string[] {
  if (active.length === 0) return ["Nothing is silenced. Every alert is notified."];
  const organizations = new Set(active.flatMap((one) => one.organizations)).size;
  const firing = active.reduce((sum, one) => sum + one.firing, 0);
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
  return html`${renew} ${actForm(`${path}/${encodeURIComponent(id)}/end`, state === "active" ? "End now" : "Delete")}`;
}

function untilText({ state, startsAtMs, endsAtMs }: PageSilence, nowMs: number): Html {
  const end = renderTime(endsAtMs, nowMs);
  if (state === "active") return html`<b>${end}</b><span class="under">${durationText(endsAtMs - nowMs)} left</span>`;
  return html`${end}<span class="under">from ${renderTime(startsAtMs, nowMs)}</span>`;
}

function holdsText({ organizations, firing, state }: PageSilence): string {
  const many = countOf(organizations.length, "organization");
  if (state !== "active") return many;
  return `${many}, ${firing === 0 ? "nothing fires" : countOf(firing, "alert fires", "alerts fire")}`;
}

/** Returns the text that the filter searches. */
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
