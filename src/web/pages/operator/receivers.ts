import { formatCount, none } from "../../../base/numbers.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import { deliveryName, type OutboxEntry } from "../../../store/alerts/outbox.ts";
import { html, nothing, renderTime, mark, severityWord, type Html } from "../html.ts";
import type { readDeliveries, ReceiverRow } from "../../read/receivers.ts";
import { actForm, dialogButton } from "../dialog.ts";
import { renderHead } from "../frame.ts";
import { pageOf, renderPager, renderSection, renderTable, type Column } from "../table.ts";
import { countOf, durationText, nbsp, timeText } from "../../../words/numbers.ts";

type View = Awaited<ReturnType<typeof readDeliveries>>;

export const path = "/receivers";
const pageSize = 100;

/** Renders receivers, undelivered notifications and the last deliveries. */
export function renderReceivers(view: View, params: URLSearchParams): Html {
  const { receivers, outbox, nowMs } = view;
  if (receivers.length === 0)
    return html`${renderHead(["No receiver is configured."])}
      <p class="lede">No notification is sent. Add one under <code>receivers</code> in flatline.yaml, then reload.</p>
      <p class="code"><code>receivers: [{ name: ops, type: webhook, url: "https://&hellip;" }]</code></p>`;
  return html`${renderHead(receiversSentences(receivers, nowMs))} ${renderTable(receiverColumns(nowMs), receivers)}
  ${renderSection(
    "Not delivered",
    outbox.length === 0
      ? html`<p class="second">Nothing waits, and nothing was given up.</p>`
      : renderOutbox(view, params),
  )}
  ${renderAttempts(view)}`;
}

/** Returns sentences such as "2 of 3 receivers accept notifications." and "ops gave up 1." */
function receiversSentences(receivers: readonly ReceiverRow[], nowMs: number): readonly string[] {
  const good = receivers.filter((one) => one.state === "ok" && !isUntried(one)).length;
  const of = `${formatCount(good)} of ${countOf(receivers.length, "receiver")}`;
  const bad = receivers.filter((one) => one.deadLetters > 0 || one.pending > 0 || one.pausedUntilMs !== null);
  return [
    `${of} ${good === 1 ? "accepts" : "accept"} notifications.`,
    ...bad.map((one) => troubleSentence(one, nowMs)),
  ];
}

/** Returns whether nothing was ever sent to a receiver. */
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

function receiverColumns(nowMs: number): readonly Column<ReceiverRow>[] {
  return [
    ["State", "sev", (row) => stateWord(row, nowMs)],
    ["Receiver", "name", ({ name }) => name],
    ["Type", "wide second", ({ type }) => type],
    ["From severity", "wide second", ({ minSeverity }) => minSeverity],
    ["Waits", "n named", (row) => waitsText(row, nowMs)],
    ["Gave up", "n named", ({ deadLetters }) => formatCount(deadLetters)],
    ["Last answer", "answer", (row) => renderAnswer(row, nowMs)],
    ["Act", "act", renderReceiverActs],
  ];
}

function waitsText({ pending, oldestMs }: ReceiverRow, nowMs: number): string {
  return `${formatCount(pending)}${oldestMs === null ? "" : ` for ${durationText(nowMs - oldestMs)}`}`;
}

/** Renders the last error first if nothing was accepted since. */
function renderAnswer({ lastDelivered, lastError }: ReceiverRow, nowMs: number): Html | string {
  const accepted =
    lastDelivered &&
    html`accepted ${renderTime(lastDelivered.atMs, nowMs)}, in ${formatCount(lastDelivered.tookMs)}${nbsp}ms`;
  if (lastError === null || (lastDelivered !== null && lastDelivered.atMs >= lastError.atMs)) return accepted ?? none;
  return html`<span class="error">${lastError.text}</span>,
    ${renderTime(lastError.atMs, nowMs)}${accepted && html`<span class="under">${accepted}</span>`}`;
}

function stateWord(row: ReceiverRow, nowMs: number): Html {
  if (isUntried(row))
    return html`<span class="severity ended">${mark("ring", "ended")}<span class="word">never tried</span></span>`;
  const { state } = row;
  if (row.pausedUntilMs === null) return severityWord(state);
  return html`<span class="severity ${state}"
    >${mark(state)}<span class="word">paused until ${timeText(row.pausedUntilMs, nowMs)}</span></span
  >`;
}

/** Renders the button for a test, which needs no confirmation, and the acts for several that it gave up. */
function renderReceiverActs({ name, pausedUntilMs, deadLetters }: ReceiverRow): Html {
  const words = pausedUntilMs === null ? "Send a test" : "Resume with a test";
  const which = html`<span class="sr"> to ${name}</span>`;
  const all = deadLetters > 1 ? renderOutboxActs("receiver", name, which, ` all ${formatCount(deadLetters)}`) : nothing;
  return html`${actForm(`${path}/test`, html`${words}${which}`, "receiver", name)}${all}`;
}

/** Renders undelivered notifications; those that gave up come first, with their acts. */
function renderOutbox({ outbox, events, nowMs }: View, params: URLSearchParams): Html {
  const deadFirst = outbox.toSorted((left, right) => Number(isDead(right)) - Number(isDead(left)));
  const page = pageOf(deadFirst, params, pageSize);
  const dead = outbox.filter(isDead).length;
  const columns: readonly Column<OutboxEntry>[] = [
    ["Receiver", "name", nameOf],
    ["About", "names", aboutWords],
    ["Event", "", ({ id }) => events.get(id) ?? ""],
    ["Last answer", "answer", ({ lastError }) => html`<span class="error">${lastError ?? none}</span>`],
    ["Since", "n named", ({ createdAtMs }) => renderTime(createdAtMs, nowMs)],
    ["Attempts", "n named", ({ attempts }) => formatCount(attempts)],
    ["Next try", "n named", (row) => (isDead(row) ? "gave up" : durationText(row.nextAttemptAtMs - nowMs))],
    ...(dead === 0 ? [] : [["Acts", "act", renderActs] as const]),
  ];
  const itself = dead === 1 ? "itself" : "themselves";
  const note = dead === 0 ? nothing : html`${countOf(dead, "notification")} gave up: not tried again by ${itself}.`;
  return html`${renderTable(columns, page.items)}${renderPager(page, path, params, note)}`;
}

function isDead({ state }: OutboxEntry): boolean {
  return state === "dead";
}

function renderActs(row: OutboxEntry): Html {
  if (!isDead(row)) return nothing;
  return renderOutboxActs("id", row.id, html`<span class="sr"> ${aboutWords(row)} to ${nameOf(row)}</span>`);
}

/** Renders the acts on one notification that was given up, or on all of a receiver. */
function renderOutboxActs(name: "id" | "receiver", value: string, which: Html, all = ""): Html {
  const discard = `${path}/discard?${new URLSearchParams({ [name]: value }).toString()}`;
  return html`${actForm(`${path}/retry`, html`Try${all} again${which}`, name, value)}
  ${dialogButton(discard, html`Discard${all}&hellip;${which}`)}`;
}

function aboutWords({ incident }: Pick<OutboxEntry, "incident">): string {
  return incident === null ? "a test" : `incident ${incident}`;
}

function nameOf({ receiver, recipient }: Pick<OutboxEntry, "receiver" | "recipient">): string {
  return deliveryName(receiver, recipient);
}

const outcomes = { accepted: "accepted", retry: "tried again", refused: "refused" } as const;

function renderAttempts({ attempts, nowMs }: View): Html {
  const columns: readonly Column<DeliveryAttempt>[] = [
    ["Receiver", "name", nameOf],
    ["About", "names", aboutWords],
    ["Outcome", "", ({ outcome }) => outcomes[outcome]],
    [
      "Answer",
      "answer",
      ({ outcome, detail }) => html`<span class="${outcome === "accepted" ? "" : "error"}">${detail}</span>`,
    ],
    ["When", "n", ({ atMs }) => renderTime(atMs, nowMs)],
    ["Took", "n named", ({ tookMs }) => html`${formatCount(tookMs)}${nbsp}ms`],
  ];
  const title = "Last deliveries";
  const empty = html`<p class="second">Nothing was sent yet.</p>`;
  const content = attempts.length === 0 ? empty : renderTable(columns, attempts);
  return renderSection(title, content, { id: "deliveries" });
}
