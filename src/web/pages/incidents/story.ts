import { slugsOf } from "../../../alerting/incident-summary.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { minuteMs } from "../../../base/time.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { clockText, countOf, durationText, timeText } from "../../../words/numbers.ts";
import { html, nothing, renderTime, mark, type Html, type MarkShape } from "../html.ts";
import type { ChartAct } from "../../read/chart.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
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
/** Thursday 15 January. */
const longDay = new Intl.DateTimeFormat("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
  timeZone: "UTC",
});

/** Renders an incident's steps on one line: past ones in the order of time, then the others. */
export function renderInstants(page: IncidentDetail): Html {
  const { incident, headline, summary, escalation, nowMs } = page;
  const acts = actsOf(page);
  const happened = [...stepsOf(page), ...acts];
  const stepOf = (name: string, forecast = ""): Instant =>
    happened.find((one) => one.name === name) ?? { name, atMs: null, text: forecast };
  const [stuck] = stuckOf(page);
  const notified = stepOf("Notified");
  const waits = stuck === undefined ? [] : [`${stuck.name} ${stuck.text}`];
  const called = escalation === null ? "" : `${escalation.receiver} is called at ${timeText(escalation.atMs, nowMs)}`;
  const judged = headline.unjudged > 0 ? undefined : acts.findLast(({ name }) => name === "Judged");
  const endAtMs = headline.excess?.expectedEndAtMs ?? null;
  const fires = `${countOf(summary.firing, "organization")} ${summary.firing === 1 ? "fires" : "fire"}`;
  const all: readonly Instant[] = [
    stepOf("Began"),
    stepOf("Detected"),
    stepOf("Stopped"),
    { ...notified, text: [notified.text, ...waits].filter((text) => text !== "").join("; ") },
    stepOf("Acknowledged", called),
    judged ?? { name: "Judged", atMs: null, text: "" },
    stepOf("Ended", endAtMs === null ? fires : `by ${timeText(endAtMs, nowMs)}`),
  ].filter(({ name }) => incident.family === "deaths" || (name !== "Stopped" && name !== "Judged"));
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
  return [...stepsOf(page), ...actsOf(page), ...stuckOf(page)].toSorted((left, right) => right.atMs - left.atMs);
}

/** Returns the notifications that were not accepted. */
function stuckOf({ waiting, nowMs }: IncidentDetail): Told[] {
  return waiting.flatMap(({ receiver, state, lastError, attempts, nextAttemptAtMs }) => {
    if (lastError === null) return [];
    const [text, again] =
      state === "dead" ? ["was not reached", ""] : ["waits", `, again at ${clockText(nextAttemptAtMs)}`];
    const detail = lastError === "" ? "" : `${breakAddresses(lastError)}, ${countOf(attempts, "time")}${again}`;
    return [{ name: receiver, atMs: nowMs, text, detail, shape: "warn" }];
  });
}

/** Returns the steps that nobody decides: began, detected, stopped, ended. */
function stepsOf(page: IncidentDetail): Told[] {
  const { incident, members, summary, heldSince, nowMs } = page;
  const { endedAtMs, firstFiredAtMs } = incident;
  const began = members.map(beganMsOf);
  const firstMs = Math.min(...began, incident.startedAtMs);
  const lastMs = Math.max(...began);
  // An onset is the begin of a minute: what has passed since is not known to the second.
  const after = (atMs: number): string =>
    atMs - firstMs < minuteMs ? "within a minute" : `after ${durationText(atMs - firstMs)}`;
  const ends = [
    ["Stopped", stoppedMsOf(page), "stop"],
    ["Ended", endedAtMs, "ok"],
  ] as const;
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
    ...ends.flatMap(([name, atMs, shape]) => (atMs === null ? [] : [{ name, atMs, text: after(atMs), shape }])),
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
      // The comments of these acts stand with them.
      if (one.act === "acknowledge" || one.act === "judgement") return [];
      const name = { release: "Released", silence: "Silenced", comment: "Comment" }[one.act ?? "comment"];
      const text = `${byOf(one)}${one.slug === null ? "" : ` on ${one.slug}`}`.trimStart();
      const shape = one.act === null ? "comment" : "dot";
      return [{ name, atMs: one.atMs, text, detail: quote(one.text), shape }];
    }),
  ].toSorted((left, right) => left.atMs - right.atMs);
}
