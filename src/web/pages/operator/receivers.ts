import { formatCount, none } from "../../../base/numbers.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import { deliveryName } from "../../../store/alerts/outbox.ts";
import { formatLength } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import { receiverState, type OutboxRow, type ReceiverRow } from "../../read/receivers.ts";
import { renderHead } from "../frame.ts";
import { mark, severityWord } from "../marks.ts";
import { pageOf, renderPager, renderSection, renderTable, withParams, type Column } from "../table.ts";
import { countOf, durationText, nbsp, timeText } from "../../../words/numbers.ts";

/** Everything on the page of receivers. */
export interface ReceiversView {
  readonly receivers: readonly ReceiverRow[];
  readonly outbox: readonly OutboxRow[];
  /** The last ones, of the chosen receiver or, where none is chosen (null), of all. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly chosen: string | null;
  readonly params: URLSearchParams;
  readonly nowMs: number;
}

export const path = "/receivers";
const pageSize = 100;
const mostSaid = 3;

/** Renders receivers, dead letters, what waits and what was sent. */
export function renderReceivers(view: ReceiversView): Html {
  const { receivers, outbox, nowMs } = view;
  if (receivers.length === 0)
    return html`${renderHead(["No receiver is configured."])}
      <p class="lede">No notification is sent. Add one under <code>receivers</code> in flatline.yaml, then reload.</p>
      <p class="code"><code>receivers: [{ name: ops, type: webhook, url: "https://&hellip;" }]</code></p>`;
  const untried = receivers.filter((one) => isUntried(one));
  const paused = receivers.find(({ pausedUntilMs }) => pausedUntilMs !== null);
  const dead = outbox.filter(({ isDead }) => isDead);
  const waiting = outbox.filter(({ isDead }) => !isDead);
  const acts = untried.length === 0 ? nothing : testForm(untried, `Send ${countOf(untried.length, "test")}`, true);
  return html`${renderHead(receiversSentences(receivers, nowMs), { acts })}
  ${renderTable(
    "flow receivers",
    receiverColumns,
    receivers.map((one) => renderReceiver(one, nowMs)),
    "Receivers",
  )}
  ${
    paused === undefined
      ? nothing
      : html`<p class="pager">
          <span
            >A paused receiver asked for it (<code>Retry-After</code>, an hour at most). The pause ends early with a
            test, and when one of its notifications is tried again.</span
          >
        </p>`
  }
  ${renderSection("Dead letters", dead.length === 0 ? html`<p class="second">None: everything was accepted, or still may be.</p>` : renderDead(dead, view))}
  ${renderSection("Waiting", waiting.length === 0 ? html`<p class="second">Nothing waits.</p>` : renderWaiting(waiting, view))}
  ${renderAttempts(view)}`;
}

/** "2 of 3 receivers accept notifications." "ops has 1 dead letter." */
export function receiversSentences(receivers: readonly ReceiverRow[], nowMs: number): readonly string[] {
  const count = receivers.length;
  const untried = receivers.filter((one) => isUntried(one)).length;
  const good = receivers.filter((one) => receiverState(one) === "ok" && !isUntried(one)).length;
  const bad = receivers
    .filter((one) => one.deadLetters > 0 || one.waiting > 0 || one.pausedUntilMs !== null)
    .map((one) => `${one.name} ${troubleWords(one, nowMs)}.`);
  const said = [...bad.slice(0, mostSaid), ...(bad.length > mostSaid ? [`And ${bad.length - mostSaid} more.`] : [])];
  if (untried === 0) {
    const all =
      good === count && count > 1 ? `All ${formatCount(good)}` : `${formatCount(good)} of ${formatCount(count)}`;
    return [`${all} ${count === 1 ? "receiver accepts" : "receivers accept"} notifications.`, ...said];
  }
  const accepted = receivers.filter(({ lastDelivered }) => lastDelivered !== null).length;
  const of = `${formatCount(accepted)} of ${countOf(count, "receiver")}`;
  const never = `${formatCount(untried)} ${untried === 1 ? "was" : "were"} never tried.`;
  return [`${of} ${accepted === 1 ? "has" : "have"} accepted a notification.`, never, ...said];
}

/** Nothing was ever sent to it. */
function isUntried({ lastDelivered, lastError, waiting, deadLetters }: ReceiverRow): boolean {
  return lastDelivered === null && lastError === null && waiting === 0 && deadLetters === 0;
}

function troubleWords({ deadLetters, waiting, oldestMs, pausedUntilMs }: ReceiverRow, nowMs: number): string {
  const oldest = oldestMs === null ? "" : `, the oldest for ${durationText(nowMs - oldestMs)}`;
  const has = [
    ...(deadLetters > 0 ? [countOf(deadLetters, "dead letter")] : []),
    ...(waiting > 0 ? [`${formatCount(waiting)} waiting${oldest}`] : []),
  ].join(" and ");
  const isPaused = pausedUntilMs === null ? [] : [`is paused until ${timeText(pausedUntilMs, nowMs)}`];
  return [...(has === "" ? [] : [`has ${has}`]), ...isPaused].join(", and ");
}

const receiverColumns: readonly Column[] = [
  { name: "State", kind: "sev" },
  { name: "Receiver" },
  { name: "Type", kind: "type" },
  { name: "From severity", kind: "from" },
  { name: "Waits", kind: "n" },
  { name: "Dead letters", kind: "n" },
  { name: "Last answer", kind: "answer" },
  { name: "Act", kind: "act", isHidden: true },
];

function renderReceiver(row: ReceiverRow, nowMs: number): Html {
  const { name, type, minSeverity, waiting, oldestMs, deadLetters, lastDelivered, lastError, pausedUntilMs } = row;
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
    <th scope="row"><a href="${path}?receiver=${encodeURIComponent(name)}">${name}</a></th>
    <td class="type second">${type}</td>
    <td class="from second" data-name="from">${minSeverity}</td>
    <td class="n" data-name="waits">${formatCount(waiting)}${oldest}</td>
    <td class="n" data-name="dead letters">${formatCount(deadLetters)}</td>
    <td class="answer">
      ${lastDelivered === null && lastError === null ? none : isErrorLast ? refused : accepted}${isErrorLast && lastDelivered !== null ? html`<span class="under">${accepted}</span>` : nothing}
    </td>
    <td class="act">${testForm([row], pausedUntilMs === null ? "Send a test" : "Resume with a test")}</td>
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
function testForm(receivers: readonly ReceiverRow[], words: string, isFirst = false): Html {
  const [only] = receivers.length === 1 ? receivers : [];
  return html`<form
    method="post"
    action="${path}/test"
    hx-post="${path}/test"
    hx-target="#dialog-place"
    hx-swap="innerHTML"
  >
    ${receivers.map(({ name }) => html`<input type="hidden" name="receiver" value="${name}" />`)}
    <button ${isFirst ? html`class="primary"` : nothing}>
      ${words}${only === undefined ? nothing : html`<span class="sr"> to ${only.name}</span>`}
    </button>
  </form>`;
}

const deadColumns: readonly Column[] = [
  { name: "Tick", kind: "check", isHidden: true },
  { name: "Receiver" },
  { name: "About" },
  { name: "Event" },
  { name: "Why", kind: "answer" },
  { name: "When", kind: "n" },
  { name: "Attempts", kind: "n" },
];

function renderDead(dead: readonly OutboxRow[], { params, nowMs }: ReceiversView): Html {
  const page = pageOf(dead, params.get("dead"), pageSize);
  const rows = page.items.map(
    (row) =>
      html`<tr>
        <td class="check">
          <input type="checkbox" name="letter" value="${row.id}" aria-label="Tick ${row.about} to ${row.receiver}" />
        </td>
        <th scope="row">${row.receiver}</th>
        <td class="names">${row.about}</td>
        <td>${row.event}</td>
        <td class="answer error">${row.lastError ?? none}</td>
        <td class="n" data-name="when">${renderTime(row.createdAtMs, nowMs)}</td>
        <td class="n" data-name="attempts">${formatCount(row.attempts)}</td>
      </tr>`,
  );
  const all = html`<tr class="group">
    <td class="check">
      <input type="checkbox" data-group aria-label="Tick these ${formatCount(page.items.length)}" hidden />
    </td>
    <td colspan="${deadColumns.length - 1}">
      <b>${countOf(dead.length, "dead letter")}</b>: not tried again by itself
    </td>
  </tr>`;
  return html`<form class="picks" id="letters" method="post" action="${path}/retry">
    ${renderTable("flow letters", deadColumns, [all, ...rows], "Dead letters")}${renderPager(page, (number) => withParams(path, params, { dead: String(number) }))}
    <div class="bulk">
      <p><b data-picked data-total="${dead.length}">Ticked</b> <a href="#letters" data-clear hidden>Clear</a></p>
      <p class="row">
        <button hx-post="${path}/retry" hx-include="closest form" hx-swap="none">Try again</button>
        <button
          formmethod="get"
          formaction="${path}/discard"
          hx-get="${path}/discard"
          hx-include="closest form"
          hx-target="#dialog-place"
          hx-swap="innerHTML"
        >
          Discard&hellip;
        </button>
      </p>
    </div>
  </form>`;
}

const waitingColumns: readonly Column[] = [
  { name: "Receiver" },
  { name: "About" },
  { name: "Event" },
  { name: "Last answer", kind: "answer" },
  { name: "Next try in", kind: "n" },
  { name: "Attempt", kind: "n" },
];

function renderWaiting(waiting: readonly OutboxRow[], { params, nowMs }: ReceiversView): Html {
  const page = pageOf(waiting, params.get("page"), pageSize);
  const rows = page.items.map(
    (row) =>
      html`<tr>
        <th scope="row">${row.receiver}</th>
        <td class="names">${row.about}</td>
        <td>${row.event}</td>
        <td class="answer">${row.lastError ?? none}</td>
        <td class="n" data-name="next try in">${formatLength(Math.max(0, row.nextAttemptAtMs - nowMs))}</td>
        <td class="n" data-name="attempt">${formatCount(row.attempts)}</td>
      </tr>`,
  );
  return html`${renderTable("flow letters", waitingColumns, rows, "Waiting")}${renderPager(page, (number) => withParams(path, params, { page: String(number) }))}`;
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

/** The history of deliveries, newest first: of the chosen receiver, or of all. */
function renderAttempts({ attempts, chosen, nowMs }: ReceiversView): Html {
  const title = chosen === null ? "Last deliveries" : `Last deliveries to ${chosen}`;
  const beside =
    chosen === null
      ? html`<p>The name of a receiver above shows its own.</p>`
      : html`<p><a href="${path}">All receivers</a></p>`;
  const empty = chosen === null ? "Nothing was sent yet." : `Nothing was sent to ${chosen} yet.`;
  const rows = attempts.map(
    (one) =>
      html`<tr>
        <th scope="row">${deliveryName(one.receiver, one.recipient)}</th>
        <td class="names">${aboutOf(one)}</td>
        <td>${outcomes[one.outcome]}</td>
        <td class="answer ${one.outcome === "accepted" ? "" : "error"}">${one.detail}</td>
        <td class="n">${renderTime(one.atMs, nowMs)}</td>
        <td class="n" data-name="took">${formatCount(one.tookMs)}${nbsp}ms</td>
      </tr>`,
  );
  const content =
    attempts.length === 0
      ? html`<p class="second">${empty}</p>`
      : renderTable("flow letters", attemptColumns, rows, title);
  return renderSection(title, content, { beside, id: "deliveries" });
}

function aboutOf({ incident, organizations }: DeliveryAttempt): string {
  if (incident === null) return "a test";
  const many = `${formatCount(organizations)} ${organizations === 1 ? "organization" : "organizations"}`;
  return `incident ${incident}, ${many}`;
}
