import { formatCount, none } from "../../../base/numbers.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import { deliveryName, type OutboxEntry } from "../../../store/alerts/outbox.ts";
import { formatLength } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import { receiverState, type ReceiverRow } from "../../read/receivers.ts";
import { renderHead } from "../frame.ts";
import { mark, severityWord } from "../marks.ts";
import { pageOf, renderPager, renderSection, renderTable, withParams, type Column } from "../table.ts";
import { countOf, durationText, nbsp, timeText } from "../../../words/numbers.ts";

/** Everything on the page of receivers. */
export interface ReceiversView {
  readonly receivers: readonly ReceiverRow[];
  readonly outbox: readonly OutboxEntry[];
  /** What happened, by entry of the outbox. */
  readonly events: ReadonlyMap<string, string>;
  /** The last ones. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly params: URLSearchParams;
  readonly nowMs: number;
}

export const path = "/receivers";
const pageSize = 100;

/** Renders receivers, what was not delivered, and what was sent. */
export function renderReceivers(view: ReceiversView): Html {
  const { receivers, outbox, nowMs } = view;
  if (receivers.length === 0)
    return html`${renderHead(["No receiver is configured."])}
      <p class="lede">No notification is sent. Add one under <code>receivers</code> in flatline.yaml, then reload.</p>
      <p class="code"><code>receivers: [{ name: ops, type: webhook, url: "https://&hellip;" }]</code></p>`;
  return html`${renderHead(receiversSentences(receivers, nowMs))}
  ${renderTable(
    "",
    receiverColumns,
    receivers.map((one) => renderReceiver(one, nowMs)),
    "Receivers",
  )}
  ${renderSection("Not delivered", outbox.length === 0 ? html`<p class="second">Nothing waits, and nothing was given up.</p>` : renderOutbox(view))}
  ${renderAttempts(view)}`;
}

/** "2 of 3 receivers accept notifications." "ops gave up 1." */
function receiversSentences(receivers: readonly ReceiverRow[], nowMs: number): readonly string[] {
  const good = receivers.filter((one) => receiverState(one) === "ok" && !isUntried(one)).length;
  const of = `${formatCount(good)} of ${countOf(receivers.length, "receiver")}`;
  const bad = receivers.filter((one) => one.deadLetters > 0 || one.pending > 0 || one.pausedUntilMs !== null);
  return [
    `${of} ${good === 1 ? "accepts" : "accept"} notifications.`,
    ...bad.map((one) => troubleSentence(one, nowMs)),
  ];
}

/** Nothing was ever sent to it. */
function isUntried({ lastDelivered, lastError, pending, deadLetters }: ReceiverRow): boolean {
  return lastDelivered === null && lastError === null && pending === 0 && deadLetters === 0;
}

function troubleSentence({ name, deadLetters, pending, oldestMs, pausedUntilMs }: ReceiverRow, nowMs: number): string {
  const oldest = oldestMs === null ? "" : `, the oldest for ${durationText(nowMs - oldestMs)}`;
  const parts = [
    ...(deadLetters > 0 ? [`gave up ${countOf(deadLetters, "notification")}`] : []),
    ...(pending > 0 ? [`has ${formatCount(pending)} waiting${oldest}`] : []),
    ...(pausedUntilMs === null ? [] : [`is paused until ${timeText(pausedUntilMs, nowMs)}`]),
  ];
  return `${name} ${parts.join(", and ")}.`;
}

const receiverColumns: readonly Column[] = [
  { name: "State", kind: "sev" },
  { name: "Receiver" },
  { name: "Type", kind: "wide" },
  { name: "From severity", kind: "wide" },
  { name: "Waits", kind: "n" },
  { name: "Gave up", kind: "n" },
  { name: "Last answer", kind: "answer" },
  { name: "Act", kind: "act", isHidden: true },
];

function renderReceiver(row: ReceiverRow, nowMs: number): Html {
  const { name, type, minSeverity, pending, oldestMs, deadLetters, lastDelivered, lastError, pausedUntilMs } = row;
  const oldest = oldestMs === null ? nothing : html`<span class="under">for ${formatLength(nowMs - oldestMs)}</span>`;
  const isErrorLast = lastError !== null && (lastDelivered === null || lastError.atMs > lastDelivered.atMs);
  const accepted =
    lastDelivered === null
      ? nothing
      : html`accepted ${renderTime(lastDelivered.atMs, nowMs)}, in ${formatCount(lastDelivered.tookMs)}${nbsp}ms`;
  const refused =
    lastError === null
      ? nothing
      : html`<span class="error">${lastError.text}</span>, ${renderTime(lastError.atMs, nowMs)}`;
  return html`<tr>
    <td class="sev">${stateWord(row, nowMs)}</td>
    <th scope="row">${name}</th>
    <td class="wide second">${type}</td>
    <td class="wide second">${minSeverity}</td>
    <td class="n" data-name="waits">${formatCount(pending)}${oldest}</td>
    <td class="n" data-name="gave up">${formatCount(deadLetters)}</td>
    <td class="answer">
      ${lastDelivered === null && lastError === null ? none : isErrorLast ? refused : accepted}${isErrorLast && lastDelivered !== null ? html`<span class="under">${accepted}</span>` : nothing}
    </td>
    <td class="act">${testForm(name, pausedUntilMs === null ? "Send a test" : "Resume with a test")}</td>
  </tr>`;
}

function stateWord(row: ReceiverRow, nowMs: number): Html {
  if (isUntried(row))
    return html`<span class="severity ended">${mark("ring", "ended")}<span class="word">never tried</span></span>`;
  const state = receiverState(row);
  if (row.pausedUntilMs === null) return severityWord(state);
  return html`<span class="severity ${state}"
    >${mark(state)}<span class="word">paused until ${timeText(row.pausedUntilMs, nowMs)}</span></span
  >`;
}

/** A test is sent at once: it disturbs nobody who has not asked for it. */
function testForm(name: string, words: string): Html {
  return html`<form
    method="post"
    action="${path}/test"
    hx-post="${path}/test"
    hx-target="#dialog-place"
    hx-swap="innerHTML"
  >
    <input type="hidden" name="receiver" value="${name}" />
    <button>${words}<span class="sr"> to ${name}</span></button>
  </form>`;
}

const outboxColumns: readonly Column[] = [
  { name: "Tick", kind: "check", isHidden: true },
  { name: "Receiver" },
  { name: "About" },
  { name: "Event" },
  { name: "Last answer", kind: "answer" },
  { name: "Since", kind: "n" },
  { name: "Attempts", kind: "n" },
  { name: "Next try", kind: "n" },
];

/** What no receiver has accepted: what gave up, which can be ticked, before what waits. */
function renderOutbox({ outbox, events, params, nowMs }: ReceiversView): Html {
  const page = pageOf(
    outbox.toSorted((left, right) => Number(isDead(right)) - Number(isDead(left))),
    params.get("page"),
    pageSize,
  );
  const dead = outbox.filter(isDead).length;
  const rows = page.items.map((row) => {
    const { id, receiver, recipient, incident, lastError, createdAtMs, attempts, nextAttemptAtMs } = row;
    const about = incident === null ? "a notification" : `incident ${incident}`;
    const name = deliveryName(receiver, recipient);
    return html`<tr>
      <td class="check">
        ${isDead(row) ? html`<input type="checkbox" name="letter" value="${id}" aria-label="Tick ${about} to ${name}" />` : nothing}
      </td>
      <th scope="row">${name}</th>
      <td class="names">${about}</td>
      <td>${events.get(id) ?? ""}</td>
      <td class="answer ${isDead(row) ? "error" : ""}">${lastError ?? none}</td>
      <td class="n" data-name="since">${renderTime(createdAtMs, nowMs)}</td>
      <td class="n" data-name="attempts">${formatCount(attempts)}</td>
      <td class="n" data-name="next try">
        ${isDead(row) ? "gave up" : `in ${formatLength(Math.max(0, nextAttemptAtMs - nowMs))}`}
      </td>
    </tr>`;
  });
  const table = html`${renderTable("", outboxColumns, rows, "Not delivered")}${renderPager(page, (number) => withParams(path, params, { page: String(number) }))}`;
  if (dead === 0) return table;
  return html`<form class="picks" id="letters" method="post" action="${path}/retry">
    ${table}
    <p class="second">
      ${countOf(dead, "notification")} gave up: not tried again by ${dead === 1 ? "itself" : "themselves"}.
    </p>
    <div class="bulk">
      <p class="row">
        <button hx-post="${path}/retry" hx-include="closest form" hx-swap="none">Try ticked again</button>
        <button
          formmethod="get"
          formaction="${path}/discard"
          hx-get="${path}/discard"
          hx-include="closest form"
          hx-target="#dialog-place"
          hx-swap="innerHTML"
        >
          Discard ticked&hellip;
        </button>
      </p>
    </div>
  </form>`;
}

function isDead({ state }: OutboxEntry): boolean {
  return state === "dead";
}

const outcomes = { accepted: "accepted", retry: "tried again", refused: "refused" } as const;
const attemptColumns: readonly Column[] = [
  { name: "Receiver" },
  { name: "About" },
  { name: "Outcome" },
  { name: "Answer", kind: "answer" },
  { name: "When", kind: "n" },
  { name: "Took", kind: "n" },
];

/** The history of deliveries, newest first. */
function renderAttempts({ attempts, nowMs }: ReceiversView): Html {
  const rows = attempts.map(({ receiver, recipient, incident, organizations, outcome, detail, atMs, tookMs }) => {
    const about = incident === null ? "a test" : `incident ${incident}, ${countOf(organizations, "organization")}`;
    return html`<tr>
      <th scope="row">${deliveryName(receiver, recipient)}</th>
      <td class="names">${about}</td>
      <td>${outcomes[outcome]}</td>
      <td class="answer ${outcome === "accepted" ? "" : "error"}">${detail}</td>
      <td class="n">${renderTime(atMs, nowMs)}</td>
      <td class="n" data-name="took">${formatCount(tookMs)}${nbsp}ms</td>
    </tr>`;
  });
  const title = "Last deliveries";
  const empty = html`<p class="second">Nothing was sent yet.</p>`;
  const content = rows.length === 0 ? empty : renderTable("", attemptColumns, rows, title);
  return renderSection(title, content, { id: "deliveries" });
}
