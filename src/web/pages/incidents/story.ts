import { slugsOf } from "../../../alerting/incident-summary.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { judgementSentences } from "../../../words/headline.ts";
import { clockText, countOf, durationText } from "../../../words/numbers.ts";
import { longDay } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { ChartAct } from "../../read/chart.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { mark, type MarkShape } from "../marks.ts";
import { beganMsOf, stoppedMsOf } from "./member-facts.ts";

/** What happened; `said`: its words in the lane of the chart [it has none]. */
interface Event {
  readonly atMs: number;
  readonly shape: MarkShape;
  readonly what: Html;
  readonly detail?: Html | string;
  readonly said?: string;
}

const mostEvents = 60;

/** Renders everything that happened, newest first, under its days. */
export function renderStory(page: IncidentDetail, withPeople: boolean): Html {
  const events = eventsOf(page, withPeople)
    .toSorted((left, right) => right.atMs - left.atMs)
    .slice(0, mostEvents);
  const days = [...Map.groupBy(events, ({ atMs }) => longDay.format(atMs))];
  const render = ({ atMs, shape, what, detail = "" }: Event): Html =>
    html`<li>
      ${renderTime(atMs, page.nowMs, "clock")}${mark(shape)}
      <div>
        <p>${what}</p>
        ${detail === "" ? nothing : html`<p>${detail}</p>`}
      </div>
    </li>`;
  return html`<div class="story">
    ${days.map(
      ([day, some]) =>
        html`<h3>${day}</h3>
          <ol>
            ${some.map(render)}
          </ol>`,
    )}
  </div>`;
}

/** Returns what people did, for the lane of the chart, oldest first. */
export function chartActsOf(page: IncidentDetail, withPeople: boolean): readonly ChartAct[] {
  return eventsOf(page, withPeople)
    .flatMap(({ atMs, shape, said }): ChartAct[] =>
      said === undefined ? [] : [{ atMs, mark: shape === "marker" || shape === "comment" ? shape : "dot", text: said }],
    )
    .toSorted((left, right) => left.atMs - right.atMs);
}

function eventsOf(page: IncidentDetail, withPeople: boolean): Event[] {
  const { incident, members, summary, heldSince, markers, notified, waiting, comments, nowMs } = page;
  const isOfMany = members.length > 1;
  const nameOf = ({ by, note }: { readonly by: string | null; readonly note: string | null }): string =>
    (withPeople && describeAuthor(by, note)) || "Somebody";
  const quote = (text: string | null): string => (withPeople && text !== null ? `«${breakAddresses(text)}»` : "");
  const began = members.toSorted((left, right) => beganMsOf(left) - beganMsOf(right));
  const [first, last] = [began[0], began.at(-1)];
  const firing = members.filter((alert) => alert.firingAtMs === incident.firstFiredAtMs).length;
  const held = countOf(heldSince.size, "organization");
  const events: Event[] = [
    {
      atMs: incident.firstFiredAtMs,
      shape: summary.severity,
      what: html`<b>Detected</b>${isOfMany ? ` in ${countOf(firing, "organization")}` : ""}`,
      detail: heldSince.size === 0 ? "" : `takedowns of ${held} on hold from here on`,
    },
  ];
  if (last !== undefined && isOfMany) {
    const what = html`<b>${countOf(slugsOf(members).size, "organization")}</b> have begun`;
    events.push({ atMs: beganMsOf(last), shape: "dot", what, detail: `the last one: ${last.slug}` });
  }
  const stoppedMs = stoppedMsOf(page);
  if (stoppedMs !== null && first !== undefined) {
    const detail = `after ${durationText(stoppedMs - beganMsOf(first))}`;
    events.push({ atMs: stoppedMs, shape: "stop", what: html`<b>Nothing unusual</b> from here on`, detail });
  }
  if (incident.endedAtMs !== null)
    events.push({
      atMs: incident.endedAtMs,
      shape: "ok",
      what: html`<b>Ended</b>`,
      detail: "Nothing of it fires any more.",
    });
  for (const { atMs, text, slug, createdBy, note } of markers) {
    const said = `«${breakAddresses(text)}»`;
    const detail = `${slug ?? "all organizations"}${withPeople && createdBy !== null ? `, set by ${describeAuthor(createdBy, note)}` : ""}`;
    events.push({ atMs, shape: "marker", what: html`<b>Deployment</b> ${said}`, detail, said });
  }
  for (const [index, { receiver, atMs }] of notified.entries()) {
    const what = html`<b>Notified</b>: ${receiver}`;
    events.push({ atMs, shape: "dot", what, ...(index === 0 ? { said: "notified" } : {}) });
  }
  for (const { receiver, state, attempts, lastError, nextAttemptAtMs } of waiting) {
    if (lastError === null) continue;
    const again = state === "dead" ? "" : `, again at ${clockText(nextAttemptAtMs)}`;
    const detail = withPeople ? `${breakAddresses(lastError)}, ${countOf(attempts, "time")}${again}` : "";
    const what = html`<b>${receiver}</b> ${state === "dead" ? "was not reached" : "waits"}`;
    events.push({ atMs: nowMs, shape: "warn", what, detail });
  }
  // An act of many alerts is told once.
  const acknowledged = members.flatMap((alert) => alert.acknowledgement ?? []);
  for (const [one, ...more] of Map.groupBy(acknowledged, ({ atMs, by }) => `${atMs} ${by}`).values()) {
    if (one === undefined) continue;
    const what = html`<b>${nameOf(one)}</b> acknowledged ${isOfMany ? countOf(more.length + 1, "organization") : "it"}`;
    events.push({ atMs: one.atMs, shape: "dot", what, detail: quote(one.comment), said: "acknowledged" });
  }
  const judged = members.flatMap((alert) => alert.judgement ?? []);
  for (const [one, ...more] of Map.groupBy(judged, ({ atMs, by, verdict }) => `${atMs} ${by} ${verdict}`).values()) {
    if (one === undefined) continue;
    const of = isOfMany ? `, of ${countOf(more.length + 1, "organization")}` : "";
    const what = html`<b>${judgementSentences[one.verdict]}</b>, says ${nameOf(one)}${of}`;
    events.push({ atMs: one.atMs, shape: "dot", what, detail: quote(one.comment), said: `judged ${one.verdict}` });
  }
  for (const one of withPeople ? comments : []) {
    const { atMs, act, slug, text } = one;
    const name = html`<b>${nameOf(one)}</b>`;
    const detail = quote(text);
    if (act === null) {
      const what = html`${name}${slug === null ? nothing : html` on ${slug}`}`;
      events.push({ atMs, shape: "comment", what, detail, said: "comment" });
    } else if (act === "release" || act === "silence")
      events.push({
        atMs,
        shape: "dot",
        what: html`${name} ${act === "release" ? "released" : "silenced"} it`,
        detail,
      });
  }
  return events;
}
