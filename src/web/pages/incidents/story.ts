import { slugsOf } from "../../../alerting/incident-summary.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { countOf, formatClock, formatLengthInProse, formatLongDay } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentPage } from "../../read/incident-page.ts";
import type { ChartAct } from "../chart/data.ts";
import { mark, type MarkShape } from "../marks.ts";
import { beganMsOf, stoppedMsOf } from "./member-facts.ts";
import { nameOf, verdictSentences } from "./sentences.ts";

interface Event {
  readonly atMs: number;
  readonly shape: MarkShape;
  readonly what: Html;
  readonly detail: Html;
}

const mostEvents = 60;

/** Renders everything that happened, newest first, under its days. */
export function renderStory(page: IncidentPage, withPeople: boolean): Html {
  const events = eventsOf(page, withPeople)
    .toSorted((left, right) => right.atMs - left.atMs)
    .slice(0, mostEvents);
  const days = [...Map.groupBy(events, ({ atMs }) => formatLongDay(atMs))];
  return html`<div class="story">
    ${days.map(
      ([day, some]) =>
        html`<h3>${day}</h3>
          <ol>
            ${some.map(
              ({ atMs, shape, what, detail }) =>
                html`<li>
                  ${renderTime(atMs, page.nowMs, "clock")}${mark(shape)}
                  <div>
                    <p>${what}</p>
                    ${detail.html === "" ? nothing : html`<p>${detail}</p>`}
                  </div>
                </li>`,
            )}
          </ol>`,
    )}
  </div>`;
}

/** Returns what people did, for the lane of the chart: markers, notifications, acts and comments, oldest first. */
export function chartActsOf(page: IncidentPage, withPeople: boolean): readonly ChartAct[] {
  const { markers, notified, comments, members } = page;
  const acknowledged = members.flatMap(({ alert }) => alert.acknowledgement ?? []);
  const judged = members.flatMap(({ alert }) => alert.judgement ?? []);
  const acts: ChartAct[] = [
    ...markers.map(({ atMs, text }): ChartAct => ({ atMs, mark: "marker", text: `«${breakAddresses(text)}»` })),
    ...notified.slice(0, 1).map(({ atMs }): ChartAct => ({ atMs, mark: "dot", text: "notified" })),
    ...[...new Set(acknowledged.map(({ atMs }) => atMs))].map((atMs): ChartAct => ({
      atMs,
      mark: "dot",
      text: "acknowledged",
    })),
    ...[...new Set(judged.map(({ atMs }) => atMs))].map((atMs): ChartAct => ({ atMs, mark: "dot", text: "judged" })),
    ...(withPeople ? comments : [])
      .filter(({ act }) => act === null)
      .map(({ atMs }): ChartAct => ({ atMs, mark: "comment", text: "comment" })),
  ];
  return acts.toSorted((left, right) => left.atMs - right.atMs);
}

function eventsOf(page: IncidentPage, withPeople: boolean): Event[] {
  const { markers, notified, waiting, comments, nowMs } = page;
  return [
    ...markers.map(({ atMs, text, slug, createdBy }): Event => ({
      atMs,
      shape: "marker",
      what: html`<b>Marker</b> «${breakAddresses(text)}»`,
      detail: html`${slug ?? "all organizations"}${withPeople && createdBy !== null ? `, set by ${createdBy}` : ""}`,
    })),
    ...lifeEvents(page),
    ...notified.map(({ receiver, atMs }): Event => ({
      atMs,
      shape: "dot",
      what: html`<b>Notified</b>: ${receiver}`,
      detail: nothing,
    })),
    ...waiting
      .filter(({ lastError }) => lastError !== null)
      .map(({ receiver, state, attempts, lastError, nextAttemptAtMs }): Event => ({
        atMs: nowMs,
        shape: "warn",
        what: html`<b>${receiver}</b> ${state === "dead" ? "was not reached" : "waits"}`,
        detail: withPeople
          ? html`${breakAddresses(lastError ?? "")},
            ${countOf(attempts, "time")}${state === "dead" ? "" : `, again at ${formatClock(nextAttemptAtMs)}`}`
          : nothing,
      })),
    ...peopleEvents(page, withPeople),
    ...(withPeople
      ? comments
          .filter(({ act }) => act === null)
          .map((one): Event => ({
            atMs: one.atMs,
            shape: "comment",
            what: html`<b>${nameOf(one)}</b>${one.slug === null ? nothing : html` on ${one.slug}`}`,
            detail: html`«${breakAddresses(one.text)}»`,
          }))
      : []),
  ];
}

function lifeEvents(page: IncidentPage): Event[] {
  const { incident, members, summary } = page;
  const events: Event[] = [];
  const began = members.toSorted((left, right) => beganMsOf(left) - beganMsOf(right));
  const [first, last] = [began[0], began.at(-1)];
  const firing = members.filter(({ alert }) => alert.firingAtMs === incident.firstFiredAtMs).length;
  events.push({
    atMs: incident.firstFiredAtMs,
    shape: summary.severity,
    what: html`<b>Detected</b>${members.length > 1 ? ` in ${countOf(firing, "organization")}` : ""}`,
    detail: page.heldSince.size === 0 ? nothing : html`${countOf(page.heldSince.size, "gate")} shut from here on`,
  });
  if (first !== undefined && last !== undefined && members.length > 1)
    events.push({
      atMs: beganMsOf(last),
      shape: "dot",
      what: html`<b>${countOf(slugsOf(members).size, "organization")}</b> have begun`,
      detail: html`the last one: ${last.alert.slug}`,
    });
  const stoppedMs = stoppedMsOf(page);
  if (stoppedMs !== null)
    events.push({
      atMs: stoppedMs,
      shape: "stop",
      what: html`<b>The excess stopped</b>`,
      detail: first === undefined ? nothing : html`after ${formatLengthInProse(stoppedMs - beganMsOf(first))}`,
    });
  if (incident.outgrownAtMs !== null)
    events.push({
      atMs: incident.outgrownAtMs,
      shape: "dot",
      what: html`<b>It outgrew its acknowledgement</b>`,
      detail: html`twice as many organizations as then`,
    });
  if (incident.endedAtMs !== null)
    events.push({
      atMs: incident.endedAtMs,
      shape: "ok",
      what: html`<b>Ended</b>`,
      detail: html`Nothing of it fires any more.`,
    });
  return events;
}

/** What people did, an act of many alerts once. */
function peopleEvents({ members, comments }: IncidentPage, withPeople: boolean): Event[] {
  const acknowledged = members.flatMap(({ alert }) => alert.acknowledgement ?? []);
  const judged = members.flatMap(({ alert }) => alert.judgement ?? []);
  const who = (one: { readonly by: string | null; readonly note: string | null }): string =>
    withPeople ? nameOf(one) : "Somebody";
  const detailOf = (one: { readonly comment: string | null }): Html =>
    withPeople && one.comment !== null ? html`«${breakAddresses(one.comment)}»` : nothing;
  const taken = [...Map.groupBy(acknowledged, ({ atMs, by }) => `${atMs} ${by}`).values()].flatMap((some): Event[] => {
    const [one] = some;
    if (one === undefined) return [];
    const of = members.length > 1 ? ` ${countOf(some.length, "alert")}` : " it";
    return [{ atMs: one.atMs, shape: "dot", what: html`<b>${who(one)}</b> took${of}`, detail: detailOf(one) }];
  });
  const said = [...Map.groupBy(judged, ({ atMs, by, verdict }) => `${atMs} ${by} ${verdict}`).values()].flatMap(
    (some): Event[] => {
      const [one] = some;
      if (one === undefined) return [];
      const of = members.length > 1 ? `, of ${countOf(some.length, "alert")}` : "";
      return [
        {
          atMs: one.atMs,
          shape: "dot",
          what: html`<b>${verdictSentences[one.verdict]}</b>, says ${who(one)}${of}`,
          detail: detailOf(one),
        },
      ];
    },
  );
  const released = withPeople
    ? comments
        .filter(({ act }) => act === "release" || act === "silence")
        .map((one): Event => ({
          atMs: one.atMs,
          shape: "dot",
          what: html`<b>${nameOf(one)}</b> ${one.act === "release" ? "released it" : "silenced it"}`,
          detail: html`«${breakAddresses(one.text)}»`,
        }))
    : [];
  return [...taken, ...said, ...released];
}
