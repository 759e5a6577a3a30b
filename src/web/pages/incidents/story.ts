import { slugsOf } from "../../../alerting/incident-summary.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { formatLongDay } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import type { ChartAct } from "../../read/chart.ts";
import { mark, type MarkShape } from "../marks.ts";
import { beganMsOf, stoppedMsOf } from "./member-facts.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { judgementSentences } from "../../../words/headline.ts";
import { clockText, countOf, durationText } from "../../../words/numbers.ts";

type Event = ReturnType<typeof eventOf>;

function eventOf(atMs: number, shape: MarkShape, what: Html, detail: Html | string = "") {
  return { atMs, shape, what, detail };
}

const mostEvents = 60;

/** Renders everything that happened, newest first, under its days. */
export function renderStory(page: IncidentDetail, withPeople: boolean): Html {
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
                    ${detail === "" ? nothing : html`<p>${detail}</p>`}
                  </div>
                </li>`,
            )}
          </ol>`,
    )}
  </div>`;
}

/** Returns what people did, for the lane of the chart: markers, notifications, acts and comments, oldest first. */
export function chartActsOf(page: IncidentDetail, withPeople: boolean): readonly ChartAct[] {
  const { markers, notified, members } = page;
  const dots = (times: readonly number[], text: string): ChartAct[] =>
    [...new Set(times)].map((atMs) => ({ atMs, mark: "dot", text }));
  const acknowledged = members.flatMap(({ alert }) => alert.acknowledgement?.atMs ?? []);
  const judged = members.flatMap(({ alert }) => alert.judgement?.atMs ?? []);
  const acts: ChartAct[] = [
    ...markers.map(({ atMs, text }): ChartAct => ({ atMs, mark: "marker", text: `«${breakAddresses(text)}»` })),
    ...dots(
      notified.slice(0, 1).map(({ atMs }) => atMs),
      "notified",
    ),
    ...dots(acknowledged, "acknowledged"),
    ...dots(judged, "judged"),
    ...commentsOf(page, withPeople).map(({ atMs }): ChartAct => ({ atMs, mark: "comment", text: "comment" })),
  ];
  return acts.toSorted((left, right) => left.atMs - right.atMs);
}

/** What was said without doing anything, to who may read it. */
function commentsOf({ comments }: IncidentDetail, withPeople: boolean): IncidentDetail["comments"] {
  return withPeople ? comments.filter(({ act }) => act === null) : [];
}

function eventsOf(page: IncidentDetail, withPeople: boolean): Event[] {
  const { markers, notified, waiting, nowMs } = page;
  return [
    ...markers.map(({ atMs, text, slug, createdBy }) => {
      const who = withPeople && createdBy !== null ? `, set by ${createdBy}` : "";
      return eventOf(
        atMs,
        "marker",
        html`<b>Deployment</b> «${breakAddresses(text)}»`,
        `${slug ?? "all organizations"}${who}`,
      );
    }),
    ...lifeEvents(page),
    ...notified.map(({ receiver, atMs }) => eventOf(atMs, "dot", html`<b>Notified</b>: ${receiver}`)),
    ...waiting
      .filter(({ lastError }) => lastError !== null)
      .map(({ receiver, state, attempts, lastError, nextAttemptAtMs }) => {
        const again = state === "dead" ? "" : `, again at ${clockText(nextAttemptAtMs)}`;
        const why = `${breakAddresses(lastError ?? "")}, ${countOf(attempts, "time")}${again}`;
        const what = html`<b>${receiver}</b> ${state === "dead" ? "was not reached" : "waits"}`;
        return eventOf(nowMs, "warn", what, withPeople ? why : "");
      }),
    ...peopleEvents(page, withPeople),
    ...commentsOf(page, withPeople).map((one) => {
      const what = html`<b>${nameOf(one)}</b>${one.slug === null ? nothing : html` on ${one.slug}`}`;
      return eventOf(one.atMs, "comment", what, `«${breakAddresses(one.text)}»`);
    }),
  ];
}

function lifeEvents(page: IncidentDetail): Event[] {
  const { incident, members, summary, heldSince } = page;
  const began = members.toSorted((left, right) => beganMsOf(left) - beganMsOf(right));
  const [first, last] = [began[0], began.at(-1)];
  const firing = members.filter(({ alert }) => alert.firingAtMs === incident.firstFiredAtMs).length;
  const stoppedMs = stoppedMsOf(page);
  const detected = html`<b>Detected</b>${members.length > 1 ? ` in ${countOf(firing, "organization")}` : ""}`;
  const shut =
    heldSince.size === 0 ? "" : `takedowns of ${countOf(heldSince.size, "organization")} on hold from here on`;
  const events = [eventOf(incident.firstFiredAtMs, summary.severity, detected, shut)];
  if (last !== undefined && members.length > 1) {
    const all = html`<b>${countOf(slugsOf(members).size, "organization")}</b> have begun`;
    events.push(eventOf(beganMsOf(last), "dot", all, `the last one: ${last.alert.slug}`));
  }
  if (stoppedMs !== null) {
    const after = first === undefined ? "" : `after ${durationText(stoppedMs - beganMsOf(first))}`;
    events.push(eventOf(stoppedMs, "stop", html`<b>Nothing unusual</b> from here on`, after));
  }
  if (incident.endedAtMs !== null)
    events.push(eventOf(incident.endedAtMs, "ok", html`<b>Ended</b>`, "Nothing of it fires any more."));
  return events;
}

/** What people did, an act of many alerts once. */
function peopleEvents({ members, comments }: IncidentDetail, withPeople: boolean): Event[] {
  const acknowledged = members.flatMap(({ alert }) => alert.acknowledgement ?? []);
  const judged = members.flatMap(({ alert }) => alert.judgement ?? []);
  const who = (one: { readonly by: string | null; readonly note: string | null }): string =>
    withPeople ? nameOf(one) : "Somebody";
  const detailOf = (one: { readonly comment: string | null }): string =>
    withPeople && one.comment !== null ? `«${breakAddresses(one.comment)}»` : "";
  const taken = Map.groupBy(acknowledged, ({ atMs, by }) => `${atMs} ${by}`).values();
  const said = Map.groupBy(judged, ({ atMs, by, verdict }) => `${atMs} ${by} ${verdict}`).values();
  const done = withPeople ? comments.filter(({ act }) => act === "release" || act === "silence") : [];
  return [
    ...[...taken].flatMap(([one, ...more]) => {
      if (one === undefined) return [];
      const of = members.length > 1 ? countOf(more.length + 1, "alert") : "it";
      return [eventOf(one.atMs, "dot", html`<b>${who(one)}</b> acknowledged ${of}`, detailOf(one))];
    }),
    ...[...said].flatMap(([one, ...more]) => {
      if (one === undefined) return [];
      const of = members.length > 1 ? `, of ${countOf(more.length + 1, "alert")}` : "";
      const what = html`<b>${judgementSentences[one.verdict]}</b>, says ${who(one)}${of}`;
      return [eventOf(one.atMs, "dot", what, detailOf(one))];
    }),
    ...done.map((one) => {
      const what = html`<b>${nameOf(one)}</b> ${one.act === "release" ? "released it" : "silenced it"}`;
      return eventOf(one.atMs, "dot", what, `«${breakAddresses(one.text)}»`);
    }),
  ];
}

function nameOf({ by, note }: { readonly by: string | null; readonly note: string | null }): string {
  return describeAuthor(by, note) || "Somebody";
}
