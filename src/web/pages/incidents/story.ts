import { slugsOf } from "../../../alerting/incident-summary.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { minuteMs } from "../../../base/time.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { clockText, countOf, durationText, timeText } from "../../../words/numbers.ts";
import { longDay } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { ChartAct } from "../../read/chart.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { mark, type MarkShape } from "../marks.ts";
import { beganMsOf, stoppedMsOf } from "./member-facts.ts";

/** Something that happened to an incident, in plain text. */
interface Told {
  readonly name: string;
  readonly atMs: number;
  readonly text: string;
  /** Default: none. */
  readonly detail?: string;
  /** Default: dot. */
  readonly shape?: MarkShape;
}

/** `atMs` null: it has not happened. */
type Instant = Omit<Told, "atMs"> & { readonly atMs: number | null };

/** An act of a person, with its reason. */
interface Act {
  readonly atMs: number;
  readonly by: string | null;
  readonly note: string | null;
  readonly comment: string | null;
  readonly verdict?: string;
}

const mostTold = 60;

/** Renders an incident's steps on one line: past ones in the order of time, then the others. */
export function renderInstants(page: IncidentDetail): Html {
  const { incident, headline, waiting, escalation, nowMs } = page;
  const acts = actsOf(page);
  const first = (name: string, text = ""): Instant =>
    acts.find((one) => one.name === name) ?? { name, atMs: null, text };
  const [stuck = ""] = waiting.flatMap((one) => (one.lastError === null ? [] : [`${one.receiver} ${stuckText(one)}`]));
  const called = escalation === null ? "" : `${escalation.receiver} is called at ${timeText(escalation.atMs, nowMs)}`;
  const notified = first("Notified");
  const { steps = [], ended = [] } = Object.groupBy(stepsOf(page), ({ name }) =>
    name === "Ended" ? "ended" : "steps",
  );
  const judged = headline.judgement === null ? undefined : acts.findLast(({ name }) => name === "Judged");
  const all: readonly Instant[] = [
    ...steps,
    { ...notified, text: [notified.text, stuck].filter((text) => text !== "").join("; ") },
    first("Acknowledged", called),
    ...(incident.family === "deaths" ? [judged ?? { name: "Judged", atMs: null, text: "" }] : []),
    ...ended,
  ];
  const done = all.filter(({ atMs }) => atMs !== null).toSorted((left, right) => (left.atMs ?? 0) - (right.atMs ?? 0));
  // After the end only a judgement can follow.
  const open = all.filter(({ name, atMs }) => atMs === null && (incident.endedAtMs === null || name === "Judged"));
  return html`<ol class="instants" aria-label="Order of events">
    ${[...done, ...open].map(
      ({ name, atMs, text, shape = "dot" }, index) =>
        html`<li class="${atMs !== null ? "" : index > done.length + 1 ? "open later" : "open"}">
          ${mark(atMs === null ? "ring" : shape)}<span class="name">${name}</span>
          <p class="at">${atMs === null ? "not yet" : renderTime(atMs, nowMs)}</p>
          <p>${text}</p>
        </li>`,
    )}
  </ol>`;
}

/** Renders everything that happened, by day, newest first. */
export function renderStory(page: IncidentDetail): Html {
  const days = Map.groupBy(storyOf(page).slice(0, mostTold), ({ atMs }) => longDay.format(atMs));
  const render = ({ name, atMs, text, detail = "", shape = "dot" }: Told): Html =>
    html`<li>
      ${renderTime(atMs, page.nowMs, "clock")}${mark(shape)}
      <div>
        <p><b>${name}</b> ${text}</p>
        ${detail === "" ? nothing : html`<p>${detail}</p>`}
      </div>
    </li>`;
  return html`<div class="story">
    ${[...days].map(
      ([day, some]) =>
        html`<h3>${day}</h3>
          <ol>
            ${some.map(render)}
          </ol>`,
    )}
  </div>`;
}

/** Returns people's acts for the chart, oldest first. */
export function chartActsOf(page: IncidentDetail): readonly ChartAct[] {
  return actsOf(page).map(({ name, atMs, text, shape }) => ({
    atMs,
    mark: shape === "marker" || shape === "comment" ? shape : "dot",
    text: `${name.toLowerCase()} ${text}`,
  }));
}

/** Returns everything that happened, newest first. */
export function storyOf(page: IncidentDetail): readonly Told[] {
  const stuck = page.waiting.flatMap((one): Told[] => {
    if (one.lastError === null) return [];
    const again = one.state === "dead" ? "" : `, again at ${clockText(one.nextAttemptAtMs)}`;
    const detail =
      one.lastError === "" ? "" : `${breakAddresses(one.lastError)}, ${countOf(one.attempts, "time")}${again}`;
    return [{ name: one.receiver, atMs: page.nowMs, text: stuckText(one), detail, shape: "warn" }];
  });
  return [...stepsOf(page), ...actsOf(page), ...stuck]
    .flatMap(({ atMs, ...one }) => (atMs === null ? [] : [{ ...one, atMs }]))
    .toSorted((left, right) => right.atMs - left.atMs);
}

function stuckText({ state }: IncidentDetail["waiting"][number]): string {
  return state === "dead" ? "was not reached" : "waits";
}

/** Returns the steps that nobody decides: began, detected, stopped, ended. */
function stepsOf(page: IncidentDetail): readonly Instant[] {
  const { incident, members, summary, heldSince, nowMs } = page;
  const { endedAtMs, firstFiredAtMs } = incident;
  const began = members.map(beganMsOf);
  const firstMs = Math.min(...began, incident.startedAtMs);
  const lastMs = Math.max(...began);
  const stoppedMs = stoppedMsOf(page);
  // An onset is the begin of a minute: what has passed since is not known to the second.
  const after = (atMs: number): string =>
    atMs - firstMs < minuteMs ? "within a minute" : `after ${durationText(atMs - firstMs)}`;
  const ends = members.flatMap(({ found }) => found?.excess?.expectedEndAtMs ?? []);
  const expected =
    stoppedMs !== null && ends.length > 0
      ? `by ${timeText(Math.max(...ends), nowMs)}`
      : `${countOf(summary.firing, "organization")} ${summary.firing === 1 ? "fires" : "fire"}`;
  return [
    {
      name: "Began",
      atMs: firstMs,
      text: lastMs > firstMs ? `the last of the ${members.length} at ${timeText(lastMs, nowMs)}` : "",
    },
    {
      name: "Detected",
      atMs: firstFiredAtMs,
      text: `as ${summary.severity}${firstFiredAtMs > firstMs ? `, ${after(firstFiredAtMs)}` : ""}`,
      detail:
        heldSince.size === 0 ? "" : `takedowns of ${countOf(heldSince.size, "organization")} on hold from here on`,
      shape: summary.severity,
    },
    ...(incident.family === "deaths"
      ? [{ name: "Stopped", atMs: stoppedMs, text: stoppedMs === null ? "" : after(stoppedMs), shape: "stop" as const }]
      : []),
    { name: "Ended", atMs: endedAtMs, text: endedAtMs === null ? expected : after(endedAtMs), shape: "ok" },
  ];
}

/** Returns people's acts and flatline's notifications, oldest first. */
function actsOf({ members, markers, notified, comments }: IncidentDetail): readonly Told[] {
  const byOf = ({ by, note }: Pick<Act, "by" | "note">): string => {
    const name = describeAuthor(by, note);
    return name === "" ? "" : ` by ${name}`;
  };
  const quote = (text: string | null): string => (text === null ? "" : `«${breakAddresses(text)}»`);
  // One act on many alerts is one entry.
  const told = (name: string, acts: readonly Act[]): Told[] =>
    [...Map.groupBy(acts, ({ atMs, by, verdict }) => `${atMs} ${by} ${verdict}`).values()].flatMap(([act, ...more]) => {
      if (act === undefined) return [];
      const of = slugsOf(members).size > 1 ? `, of ${countOf(more.length + 1, "organization")}` : "";
      const text = `${act.verdict ?? ""}${byOf(act)}${of}`.replace(/^,? /, "");
      return [{ name, atMs: act.atMs, text, detail: quote(act.comment) }];
    });
  const commentNames = { release: "Released", silence: "Silenced", acknowledge: null, judgement: null };
  return [
    ...markers.map(({ atMs, text, slug, createdBy, note }): Told => {
      const by = createdBy === null ? "" : byOf({ by: createdBy, note });
      const detail = `${slug ?? "all organizations"}${by === "" ? "" : `, set${by}`}`;
      return { name: "Deployment", atMs, text: `«${breakAddresses(text)}»`, detail, shape: "marker" };
    }),
    ...notified.map(({ receiver, atMs }) => ({ name: "Notified", atMs, text: receiver })),
    ...told(
      "Acknowledged",
      members.flatMap(({ acknowledgement }) => acknowledgement ?? []),
    ),
    ...told(
      "Judged",
      members.flatMap(({ judgement }) => judgement ?? []),
    ),
    ...comments.flatMap((one): Told[] => {
      const name = one.act === null ? "Comment" : commentNames[one.act];
      const text = `${byOf(one)}${one.slug === null ? "" : ` on ${one.slug}`}`.trimStart();
      const shape = one.act === null ? "comment" : "dot";
      return name === null ? [] : [{ name, atMs: one.atMs, text, detail: quote(one.text), shape }];
    }),
  ].toSorted((left, right) => left.atMs - right.atMs);
}
