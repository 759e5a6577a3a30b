import { countOf, formatLengthInProse } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentPage } from "../../read/incident-page.ts";
import { mark, type MarkShape } from "../marks.ts";
import { beganMsOf, stoppedMsOf } from "./member-facts.ts";
import { judgementOf, nameOf } from "./sentences.ts";

interface Instant {
  readonly name: string;
  /** null: it has not happened. */
  readonly atMs: number | null;
  readonly why: Html;
  readonly shape?: MarkShape;
}

/** Renders the instants of an incident on one line: what has happened in the order of time, then what has not. */
export function renderInstants(page: IncidentPage, withPeople: boolean): Html {
  const all = instantsOf(page, withPeople);
  const done = all.filter(({ atMs }) => atMs !== null).toSorted((left, right) => (left.atMs ?? 0) - (right.atMs ?? 0));
  const open = all.filter(({ atMs }) => atMs === null);
  return html`<ol class="instants" aria-label="Order of events">
    ${done.map((one) => renderInstant(one, page.nowMs, ""))}
    ${open.map((one, index) => renderInstant(one, page.nowMs, index > 1 ? "open later" : "open"))}
  </ol>`;
}

function renderInstant({ name, atMs, why, shape }: Instant, nowMs: number, kind: string): Html {
  return html`<li${kind === "" ? nothing : html` class="${kind}"`}>
    ${atMs === null ? mark("ring") : mark(shape ?? "dot")}<span class="name">${name}</span>
    <p class="at">${atMs === null ? "not yet" : renderTime(atMs, nowMs)}</p>
    <p>${why}</p>
  </li>`;
}

function instantsOf(page: IncidentPage, withPeople: boolean): readonly Instant[] {
  const { incident, members, summary, notified, waiting, escalation, nowMs } = page;
  const began = members.map(beganMsOf);
  const firstMs = Math.min(...began, incident.startedAtMs);
  const lastMs = Math.max(...began);
  const stoppedMs = stoppedMsOf(page);
  const judgement = judgementOf(page);
  const acknowledgement =
    incident.acknowledgement ??
    members.flatMap(({ alert }) => alert.acknowledgement ?? []).toSorted((a, b) => a.atMs - b.atMs)[0];
  const [first] = notified;
  const [stuck] = waiting.filter(({ lastError, state }) => lastError !== null || state === "dead");
  const isSpike = incident.family === "deaths";
  const ends = members.flatMap(({ alert }) => alert.found?.excess?.expectedEndAtMs ?? []);
  return [
    {
      name: "Began",
      atMs: firstMs,
      why:
        members.length > 1 && lastMs > firstMs
          ? html`the last of the ${members.length} at ${renderTime(lastMs, nowMs)}`
          : nothing,
    },
    {
      name: "Detected",
      atMs: incident.firstFiredAtMs,
      shape: summary.severity,
      why: html`as
      ${summary.severity}${incident.firstFiredAtMs - firstMs > 0 ? `, ${formatLengthInProse(incident.firstFiredAtMs - firstMs)} later` : ""}`,
    },
    {
      name: "Notified",
      atMs: first?.atMs ?? null,
      why: html`${first?.receiver ?? nothing}${stuck === undefined ? nothing : html`${first === undefined ? "" : "; "}<span class="nowrap">${mark("warn", "warn inline")} <a href="/receivers">${stuck.receiver} ${stuck.state === "dead" ? "was not reached" : "waits"}</a></span>`}`,
    },
    ...(isSpike
      ? [
          {
            name: "Stopped",
            atMs: stoppedMs,
            why: stoppedMs === null ? nothing : html`after ${formatLengthInProse(stoppedMs - firstMs)} of excess`,
          },
        ]
      : []),
    {
      name: "Acknowledged",
      atMs: acknowledgement?.atMs ?? null,
      why:
        acknowledgement !== undefined
          ? html`${withPeople ? nameOf(acknowledgement) : nothing}`
          : escalation === null
            ? nothing
            : html`${escalation.receiver} is called at ${renderTime(escalation.atMs, nowMs)}`,
    },
    ...(isSpike
      ? [
          {
            name: "Judged",
            atMs: judgement?.atMs ?? null,
            why: judgement === null ? nothing : html`${judgement.verdict}${withPeople ? `, ${nameOf(judgement)}` : ""}`,
          },
        ]
      : []),
    {
      name: "Ended",
      atMs: incident.endedAtMs,
      why:
        incident.endedAtMs !== null
          ? html`after ${formatLengthInProse(incident.endedAtMs - firstMs)}`
          : stoppedMs !== null && ends.length > 0
            ? html`by ${renderTime(Math.max(...ends), nowMs)}`
            : html`${countOf(summary.firing, "organization")} ${summary.firing === 1 ? "fires" : "fire"}`,
    },
  ];
}
