import { formatCount } from "../../base/numbers.ts";
import { escapeHtml } from "../parts/html.ts";
import { openDialog, type DialogOptions, type Problem } from "./dialog.ts";
import { callApi, refusalOf } from "./api.ts";

/** One request of an act on many. */
export interface Step {
  /** What it is about, as people call it. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** What became of an act on many. */
interface EachOutcome {
  readonly done: number;
  /** Those that were refused, and why. */
  readonly refused: readonly { readonly name: string; readonly why: string }[];
  /** How many were not tried, as no answer came any more. */
  readonly untried: number;
}

// A browser holds six connections to a server, and one of them keeps the page live.
const mostAtOnce = 4;
const shownNames = 5;

/** Opens the dialog, does the steps that its form makes, and says in it how far it is and what came of it. */
export async function runEach(
  options: Omit<DialogOptions, "send">,
  done: string,
  stepsOf: (form: FormData) => readonly Step[] | Problem,
): Promise<string | null> {
  const work: { outcome: Promise<EachOutcome> | null } = { outcome: null };
  await openDialog({
    ...options,
    send: async (form, dialog) => {
      const steps = stepsOf(form);
      if (!Array.isArray(steps)) return steps as Problem;
      const [first, ...rest] = steps as readonly Step[];
      if (first === undefined) return { message: "None of them is left to be changed." };
      // That nobody is signed in is found with the first, while what is filled in still stands there.
      const answer = await callApi(first.method, first.path, first.body);
      if (answer === null || answer.isSignedOut === true || answer.isUnreachable === true)
        return refusalOf(`Not ${done}`, answer, " Nothing was changed.");
      const show = showProgress(dialog, steps.length);
      show(1);
      const isFirstDone = answer.ok;
      work.outcome = doEach(rest, (tried) => show(tried + 1)).then((outcome) => ({
        ...outcome,
        done: outcome.done + (isFirstDone ? 1 : 0),
        refused: [...(isFirstDone ? [] : [{ name: first.name, why: answer.message }]), ...outcome.refused],
      }));
      const outcome = await work.outcome;
      if (outcome.refused.length === 0) return null;
      showOutcome(dialog, outcome, done);
      return { message: "" };
    },
  });
  return work.outcome === null ? null : words(await work.outcome, done);
}

function showProgress(dialog: HTMLDialogElement, count: number): (tried: number) => void {
  const body = dialog.querySelector(".dialog-body");
  const foot = dialog.querySelector(".dialog-foot");
  dialog.querySelector<HTMLElement>("button.primary")?.remove();
  const cancel = dialog.querySelector("button[value=no]");
  if (cancel !== null) cancel.textContent = "Close";
  if (foot !== null) foot.textContent = "Closing this does not stop it; leaving the page does.";
  if (body !== null)
    body.innerHTML = `<p class="tried" role="status"></p><progress max="${count}" value="0" aria-label="Done so far"></progress>`;
  const bar = body?.querySelector("progress") ?? null;
  const text = body?.querySelector(".tried") ?? null;
  return (tried) => {
    if (bar !== null) bar.value = tried;
    // A status that changes with each would be read out with each.
    const isRound = tried % 25 === 0 || tried === count || count <= 25;
    if (text !== null && (isRound || tried === 1))
      text.textContent = `${formatCount(tried)} of ${formatCount(count)} tried.`;
  };
}

function showOutcome(dialog: HTMLDialogElement, outcome: EachOutcome, done: string): void {
  const body = dialog.querySelector(".dialog-body");
  const foot = dialog.querySelector(".dialog-foot");
  if (foot !== null) foot.textContent = "Doing it again does only the rest.";
  if (body === null) return;
  const reasons = reasonsOf(outcome).map((reason) => `<li>${escapeHtml(reason)}</li>`);
  body.innerHTML = `<p role="status"><b>${words(outcome, done)}</b></p><ul class="reasons">${reasons.join("")}</ul>`;
}

/** "282 judged, 2 were not." */
function words({ done, refused, untried }: EachOutcome, what: string): string {
  const not = refused.length + untried;
  if (not === 0) return `${formatCount(done)} ${what}.`;
  return `${formatCount(done)} ${what}, ${formatCount(not)} ${not === 1 ? "was" : "were"} not.`;
}

function reasonsOf({ refused, untried }: EachOutcome): string[] {
  const byReason = Map.groupBy(refused, ({ why }) => why);
  const reasons = [...byReason].map(([why, some]) => {
    const names = some.slice(0, shownNames).map(({ name }) => name);
    const more = some.length - names.length;
    return `${names.join(", ")}${more === 0 ? "" : ` and ${formatCount(more)} more`}: ${why}.`;
  });
  return untried === 0 ? reasons : [...reasons, `${formatCount(untried)} were not tried after that.`];
}

/** Does one step after the other, some at once. It goes on when one is refused, and ends when flatline does not answer. */
async function doEach(steps: readonly Step[], onProgress: (tried: number) => void): Promise<EachOutcome> {
  const refused: { name: string; why: string }[] = [];
  let [next, done, lost] = [0, 0, 0];
  let isOver = false;
  const work = async (): Promise<void> => {
    for (;;) {
      const step = isOver ? undefined : steps[next++];
      if (step === undefined) return;
      const answer = await callApi(step.method, step.path, step.body);
      if (answer?.ok === true) done++;
      else if (answer === null || answer.isUnreachable === true || answer.isSignedOut === true) {
        isOver = true;
        lost++;
        refused.push({ name: step.name, why: answer === null ? "you are not signed in" : answer.message });
      } else refused.push({ name: step.name, why: answer.message });
      onProgress(done + refused.length);
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, work));
  return { done, refused, untried: lost === 0 ? 0 : steps.length - done - refused.length };
}
