import { literalPattern } from "../../base/text-pattern.ts";
import { swapPage } from "./swap.ts";
import { actOnAlert } from "./acts.ts";
import { actOnMany } from "./bulk.ts";
import { callApi, type Answer } from "./api.ts";
import { openDialog } from "./dialog.ts";
import { askSilence, askSilenceChange } from "./silence.ts";
import { escapeHtml } from "../parts/html.ts";

/** Starts the buttons' actions; one listener for all, as a page's content may be another's a moment later. */
export function startActions(): void {
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const button = target.closest<HTMLButtonElement>("button[data-do], button[data-outbox], button[data-copy]");
    if (button !== null) void act(button);
    const link = target.closest<HTMLAnchorElement>("a[data-swap]");
    if (link === null || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void follow(link.href);
  });
  document.addEventListener("change", (event) => {
    const all = event.target as Element;
    if (!(all instanceof HTMLInputElement) || all.id !== "all") return;
    for (const box of letters()) box.checked = all.checked;
  });
}

async function follow(href: string): Promise<void> {
  if (!(await swapPage(href))) return;
  history.pushState(null, "", href);
  dispatchEvent(new Event("flatline-page"));
}

async function act(button: HTMLButtonElement): Promise<void> {
  const { copy, outbox, alerts = "" } = button.dataset;
  if (copy !== undefined) return copyText(button, textToCopy(copy), "The text to copy");
  if (outbox !== undefined) return changeLetters(outbox === "retry" ? "retry" : "discard");
  const { slug = "", checks = "" } = button.closest<HTMLElement>("[data-slug]")?.dataset ?? {};
  switch (button.dataset["do"]) {
    case "run":
      return tell(
        await busy(button, () =>
          callEach(checks, (check) => `/api/v1/checks/${check}/${encodeURIComponent(slug)}/run`),
        ),
        "It ran just now.",
      );
    case "ack":
      return acknowledge(alerts.split(" "));
    case "test-receiver":
      return testReceiver(button);
    case "reload":
      return tell(await busy(button, () => callApi("POST", "/-/reload")), "Reloaded.");
    case "silence":
      return silence(button, literalPattern(slug), checks.split(" "));
    case "ack-alert":
    case "unack-alert":
    case "comment":
    case "judge":
    case "unjudge":
    case "release":
      return onAlert(button);
    case "copy-report":
      return copyReport(button);
    case "silence-new":
      return silence(button, null, []);
    case "silence-again":
      return silence(button, patternOf(button), []);
    case "silence-change":
      return changeSilence(button);
    case "silence-end": {
      const id = button.closest<HTMLElement>("[data-silence]")?.dataset["silence"] ?? "";
      return tell(
        await busy(button, () => callApi("DELETE", `/api/v1/silences/${encodeURIComponent(id)}`)),
        "Ended. What still fires is notified now.",
      );
    }
    case undefined:
    default:
  }
}

/** Posts to one address after the other, for names that spaces divide; stops at the first that is refused. */
async function callEach(names: string, pathOf: (name: string) => string): Promise<Answer | null> {
  let answer: Answer | null = null;
  for (const name of names.split(" ")) {
    answer = await callApi("POST", pathOf(name), {});
    if (answer === null || !answer.ok) return answer;
  }
  return answer;
}

/** Acknowledges the alerts of the organization that the page shows. */
async function acknowledge(ids: readonly string[]): Promise<void> {
  const done = await actOnMany("acknowledge", { kind: "ids", ids: new Set(ids) });
  if (done === null) return;
  await swapPage(location.href);
  tell({ ok: true, message: "", body: null }, done);
}

/** An act on the alert that the page shows; its answer stands in place. */
async function onAlert(button: HTMLButtonElement): Promise<void> {
  const { do: what = "", verdict = null } = button.dataset;
  const outcome = await actOnAlert(what, verdict);
  if (outcome === null) return;
  const { isDone, message } = outcome;
  if (isDone) await swapPage(location.href);
  tell({ ok: isDone, message, body: null }, message);
  const live = document.getElementById("live");
  if (live !== null && isDone) live.textContent = message;
}

/** Silences this organization or, on the page of silences, any. */
async function silence(button: HTMLButtonElement, pattern: string | null, checks: readonly string[]): Promise<void> {
  const { check = "", comment = "" } = button.closest<HTMLElement>("[data-silence]")?.dataset ?? {};
  const done = await askSilence({ pattern, checks, check, comment });
  if (done === null) return;
  await swapPage(location.href);
  tell({ ok: true, message: "", body: null }, done);
}

/** Gives the silence that the button is of another end or comment. */
async function changeSilence(button: HTMLButtonElement): Promise<void> {
  const { silence: id = "", comment = "", ends = "" } = button.closest<HTMLElement>("[data-silence]")?.dataset ?? {};
  const done = await askSilenceChange({ id, pattern: patternOf(button), comment, endsAtMs: Number(ends) });
  if (done === null) return;
  await swapPage(location.href);
  tell({ ok: true, message: "", body: null }, done);
}

/** Whom the listed silence of the button is of. */
function patternOf(button: HTMLButtonElement): string {
  return button.closest<HTMLElement>("[data-pattern]")?.dataset["pattern"] ?? "";
}

/** Returns the text of an element, that of its blocks where it has any. */
function textToCopy(id: string): string {
  const element = document.getElementById(id);
  const blocks = [...(element?.querySelectorAll("pre") ?? [])];
  return blocks.length > 0 ? blocks.map(({ textContent }) => textContent).join("") : (element?.textContent ?? "");
}

function letters(): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>("input[name=letter]")];
}

async function changeLetters(what: "retry" | "discard"): Promise<void> {
  const ids = letters()
    .filter(({ checked }) => checked)
    .map(({ value }) => value);
  if (ids.length === 0) return tell({ ok: false, message: "Select some first.", body: null }, "");
  if (what === "discard") {
    const form = await openDialog({
      title: `Discard ${ids.length}?`,
      content: "<p>Nobody will ever be notified of them.</p>",
      cancel: "Keep",
      verb: "Discard",
    });
    if (form === null) return;
  }
  for (const id of ids) {
    const path = `/api/v1/outbox/${encodeURIComponent(id)}`;
    const answer = await (what === "retry" ? callApi("POST", `${path}/retry`) : callApi("DELETE", path));
    if (answer === null || !answer.ok) return tell(answer, "");
  }
  await swapPage(location.href);
  tell(
    { ok: true, message: "", body: null },
    what === "retry" ? `${ids.length} will be tried again.` : `${ids.length} discarded.`,
  );
}

/** Sends a test to the receiver of the button, and shows what it answered. */
async function testReceiver(button: HTMLButtonElement): Promise<void> {
  const { receiver = "" } = button.dataset;
  const answer = await busy(button, () => callApi("POST", `/api/v1/receivers/${encodeURIComponent(receiver)}/test`));
  if (answer === null || !answer.ok) return tell(answer, "");
  const { accepted, deliveries } = answer.body as TestAnswer;
  const details = deliveries.map(({ recipient, detail }) => (recipient === null ? detail : `${recipient}: ${detail}`));
  const message = `${receiver} ${accepted ? "accepted the test" : "did not accept the test"}: ${details.join(", ")}`;
  tell({ ...answer, ok: accepted, message }, message);
}

/** What `POST /api/v1/receivers/{name}/test` answers. */
interface TestAnswer {
  readonly accepted: boolean;
  readonly deliveries: readonly { readonly recipient: string | null; readonly detail: string }[];
}

async function busy(button: HTMLButtonElement, work: () => Promise<Answer | null>): Promise<Answer | null> {
  const label = button.textContent;
  const timer = setTimeout(() => (button.textContent = "…"), 400);
  button.setAttribute("aria-busy", "true");
  const answer = await work();
  clearTimeout(timer);
  button.textContent = label;
  button.removeAttribute("aria-busy");
  if (answer?.ok === true) await swapPage(location.href);
  return answer;
}

function tell(answer: Answer | null, done: string): void {
  const place = document.getElementById("did");
  if (place === null) return;
  place.classList.toggle("bad", answer !== null && !answer.ok);
  place.textContent = answer === null ? "Nothing was changed." : answer.ok ? done : answer.message;
}

// Long enough to be read.
const shownMs = 2_000;

/** Copies a text and says so on the button; a dialog shows it, selected, where the browser gives no clipboard. */
async function copyText(button: HTMLButtonElement, text: string, title: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(button, "Copied");
  } catch {
    await openDialog({
      title,
      verb: "Done",
      cancel: "Close",
      kind: "wide",
      content: `<p>This browser does not let a page copy: the text is selected.</p><label><span class="sr">Text</span><textarea rows="${text.includes("\n") ? 16 : 3}" readonly data-first>${escapeHtml(text)}</textarea></label>`,
      update: (form) => form.querySelector("textarea")?.select(),
    });
  }
}

/** Shows a word in place of the button's own for a while. */
function say(button: HTMLButtonElement, said: string): void {
  const label = (button.dataset["label"] ??= button.innerHTML);
  button.textContent = said;
  setTimeout(() => (button.innerHTML = label), shownMs);
}

/** Copies the report of the alert that the button names; a dialog shows it where the browser gives no clipboard. */
async function copyReport(button: HTMLButtonElement): Promise<void> {
  const text = await readReport(button.dataset["alert"] ?? "");
  if (text === null) return say(button, "Not read");
  await copyText(button, text, "The report of this alert");
}

async function readReport(id: string): Promise<string | null> {
  try {
    const response = await fetch(`/api/v1/alerts/${encodeURIComponent(id)}/report`);
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}
