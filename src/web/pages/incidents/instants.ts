import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { mark, type MarkShape } from "../marks.ts";
import { beganMsOf, stoppedMsOf } from "./member-facts.ts";
import { describeAuthor } from "../../../contract/actor.ts";

type Instant = ReturnType<typeof instant>;

/** `atMs` null: it has not happened. */
function instant(name: string, atMs: number | null, why: Html | string, shape: MarkShape = "dot") {
  return { name, atMs, why, shape };
}

/** Renders the instants of an incident on one line: what has happened in the order of time, then what has not. */
export function renderInstants(page: IncidentDetail, withPeople: boolean): Html {
  const all = instantsOf(page, withPeople);
  const done = all.filter(({ atMs }) => atMs !== null).toSorted((left, right) => (left.atMs ?? 0) - (right.atMs ?? 0));
  // After the end only a judgement may still come.
  const open = all.filter(({ name, atMs }) => atMs === null && (page.incident.endedAtMs === null || name === "Judged"));
  return html`<ol class="instants" aria-label="Order of events">
    ${done.map((one) => renderInstant(one, page.nowMs, ""))}
    ${open.map((one, index) => renderInstant(one, page.nowMs, index > 1 ? "open later" : "open"))}
  </ol>`;
}

function renderInstant({ name, atMs, why, shape }: Instant, nowMs: number, kind: string): Html {
  return html`<li${kind === "" ? nothing : html` class="${kind}"`}>
    ${atMs === null ? mark("ring") : mark(shape)}<span class="name">${name}</span>
    <p class="at">${atMs === null ? "not yet" : renderTime(atMs, nowMs)}</p>
    <p>${why}</p>
  </li>`;
}

function instantsOf(page: IncidentDetail, withPeople: boolean): readonly Instant[] {
  const { incident, members, summary, notified, waiting, escalation, nowMs } = page;
  const began = members.map(beganMsOf);
  const firstMs = Math.min(...began, incident.startedAtMs);
  const lastMs = Math.max(...began);
  const stoppedMs = stoppedMsOf(page);
  const { judgement } = page.headline;
  const [acknowledgement] = members
    .flatMap((alert) => alert.acknowledgement ?? [])
    .toSorted((left, right) => left.atMs - right.atMs);
  const [first] = notified;
  const [stuck] = waiting.filter(({ lastError, state }) => lastError !== null || state === "dead");
  const isSpike = incident.family === "deaths";
  const ends = members.flatMap((alert) => alert.found?.excess?.expectedEndAtMs ?? []);
  const last = html`the last of the ${members.length} at ${renderTime(lastMs, nowMs)}`;
  const detectedAfterMs = incident.firstFiredAtMs - firstMs;
  const detected = detectedAfterMs > 0 ? `, ${durationText(detectedAfterMs)} later` : "";
  const notYet =
    stuck === undefined
      ? nothing
      : html`${first === undefined ? "" : "; "}<span class="nowrap"
            >${mark("warn", "warn inline")}
            <a href="/receivers">${stuck.receiver} ${stuck.state === "dead" ? "was not reached" : "waits"}</a></span
          >`;
  const called =
    escalation === null ? "" : html`${escalation.receiver} is called at ${renderTime(escalation.atMs, nowMs)}`;
  const taken =
    acknowledgement === undefined ? called : withPeople ? describeAuthor(acknowledgement.by, acknowledgement.note) : "";
  const judged = judgement === null ? "" : `${judgement.verdict}${withPeople ? `, ${judgement.by}` : ""}`;
  const ended =
    incident.endedAtMs !== null
      ? `after ${durationText(incident.endedAtMs - firstMs)}`
      : stoppedMs !== null && ends.length > 0
        ? html`by ${renderTime(Math.max(...ends), nowMs)}`
        : `${countOf(summary.firing, "organization")} ${summary.firing === 1 ? "fires" : "fire"}`;
  const stopped = stoppedMs === null ? "" : `after ${durationText(stoppedMs - firstMs)}`;
  return [
    instant("Began", firstMs, members.length > 1 && lastMs > firstMs ? last : ""),
    instant("Detected", incident.firstFiredAtMs, `as ${summary.severity}${detected}`, summary.severity),
    instant("Notified", first?.atMs ?? null, html`${first?.receiver ?? nothing}${notYet}`),
    ...(isSpike ? [instant("Stopped", stoppedMs, stopped)] : []),
    instant("Acknowledged", acknowledgement?.atMs ?? null, taken),
    ...(isSpike ? [instant("Judged", judgement?.atMs ?? null, judged)] : []),
    instant("Ended", incident.endedAtMs, ended),
  ];
}
