import { literalOf } from "../../base/text-pattern.ts";
import { nearestName } from "../../base/suggestions.ts";
import { formatTime } from "../parts/figures.ts";
import { escapeHtml } from "../parts/html.ts";
import type { PlaceList } from "../../contract/v1/places.ts";
import { inZone } from "./choices.ts";
import { openDialog, textOf, type Problem } from "./dialog.ts";
import { callApi, mayAct, refusalOf } from "./api.ts";

const hourMs = 3_600_000;

/** What the dialog begins with. */
export interface SilenceStart {
  /** Pattern of organizations; null: the dialog asks for it. */
  readonly pattern: string | null;
  /** Names of checks to choose from; all of them together is the first choice. */
  readonly checks: readonly string[];
  readonly check?: string;
  readonly comment?: string;
}

/** Asks for how long, which checks and why, and silences; what was done in words, or null when nothing was. */
export async function askSilence({ pattern, checks, check = "", comment = "" }: SilenceStart): Promise<string | null> {
  if (!mayAct()) return null;
  const known = pattern === null ? await knownSlugs() : null;
  let done = "";
  const name = pattern === null ? null : nameOf(pattern);
  const which = [
    ["", name === null ? "All checks" : `All checks of ${name}`],
    ...checks.map((name) => [name, name] as const),
  ];
  const isSent = await openDialog({
    title: name === null ? "Silence which organization?" : `Silence ${name}`,
    verb: "Silence for 4 h",
    foot: "Can be ended at any time.",
    content: `<p>Messages stop. Checks run on, alerts still fire, the gate stays shut. Its end is notified if its beginning was.</p>
${pattern === null ? `<label>Organization, or a pattern with *<input type="text" name="slug" data-calm data-first autocomplete="off" spellcheck="false" list="silence-slugs"></label><label class="check" hidden><input type="checkbox" name="anyway" value="yes"> Silence it all the same</label>` : `<input type="hidden" name="slug" value="${escapeHtml(pattern)}">`}
${lengthField("For how long")}
<label>Which checks<select name="check">${which.map(([value, name]) => `<option value="${escapeHtml(value ?? "")}"${value === check ? " selected" : ""}>${escapeHtml(name ?? "")}</option>`).join("")}</select></label>
<label><span>Why? <b>needed</b></span><input type="text" name="comment" data-calm${pattern === null ? "" : " data-first"} maxlength="1000" value="${escapeHtml(comment)}"></label>`,
    update: (form, button) => {
      const { hours, endsAtMs } = drawLength(form);
      button.textContent =
        hours !== "until"
          ? `Silence for ${hours}\u00a0h`
          : endsAtMs === null
            ? "Silence"
            : `Silence until ${timeWords(endsAtMs)}`;
    },
    send: async (form, dialog): Promise<Problem | null> => {
      const wanted = textOf(form, "slug");
      if (wanted === "") return { message: "Name an organization, or a pattern with *.", field: "slug" };
      const only = literalOf(wanted);
      if (known !== null && only !== null && !known.includes(only) && textOf(form, "anyway") === "") {
        const nearest = nearestName(only, known);
        const box = dialog.querySelector<HTMLElement>("label.check");
        if (box !== null) box.hidden = false;
        return {
          message: `No organization is called ${only}.${nearest === null ? "" : ` Did you mean ${nearest}?`}`,
          field: "slug",
        };
      }
      const read = readSilence(form);
      if ("message" in read) return read;
      const ofCheck = textOf(form, "check");
      const body = { slug: wanted, ...read, ...(ofCheck === "" ? {} : { check: ofCheck }) };
      const answer = await callApi("POST", "/api/v1/silences", body);
      if (answer === null || !answer.ok) return refusalOf("Not silenced", answer);
      done = `Silenced until ${timeWords(Date.parse(read.endsAt))}.`;
      return null;
    },
  });
  return isSent === null ? null : done;
}

/** Reads until when and why, from now on; or what of it is missing. */
export function readSilence(form: FormData): Problem | { readonly endsAt: string; readonly comment: string } {
  const endsAtMs = endOf(form, Date.now());
  const comment = textOf(form, "comment");
  if (endsAtMs === null || endsAtMs <= Date.now()) return { message: "Choose a time that is to come.", field: "until" };
  if (comment === "") return { message: "Write why: whoever is on call reads it.", field: "comment" };
  return { endsAt: new Date(endsAtMs).toISOString(), comment };
}

/** A silence that is to be changed. */
export interface ChangedSilence {
  readonly id: string;
  /** Pattern of organizations. */
  readonly pattern: string;
  readonly comment: string;
  readonly endsAtMs: number;
}

/** Asks until when and why, and changes the silence; what was done in words, or null when nothing was. */
export async function askSilenceChange(silence: ChangedSilence): Promise<string | null> {
  if (!mayAct()) return null;
  const { id, pattern, comment, endsAtMs: before } = silence;
  let done = "";
  const isSent = await openDialog({
    title: `Extend the silence of ${nameOf(pattern)}?`,
    verb: "Extend by 4 h",
    foot: "Can be ended at any time.",
    content: `<p>It ends ${timeWords(before)}. Messages stay held back until then.</p>
${lengthField("How much longer")}
<label><span>Why? <b>needed</b></span><input type="text" name="comment" data-calm data-first maxlength="1000" value="${escapeHtml(comment)}"></label>`,
    update: (form, button) => {
      const { hours, endsAtMs } = drawLength(form, before);
      button.textContent =
        hours !== "until"
          ? `Extend by ${hours}\u00a0h`
          : endsAtMs === null
            ? "Change"
            : `Silence until ${timeWords(endsAtMs)}`;
    },
    send: async (form): Promise<Problem | null> => {
      const why = textOf(form, "comment");
      const endsAtMs = endOf(form, before);
      if (endsAtMs === null || endsAtMs <= Date.now())
        return { message: "Choose a time that is to come.", field: "until" };
      if (why === "") return { message: "Write why: whoever is on call reads it.", field: "comment" };
      const body = { endsAt: new Date(endsAtMs).toISOString(), ...(why === comment.trim() ? {} : { comment: why }) };
      const answer = await callApi("PATCH", `/api/v1/silences/${encodeURIComponent(id)}`, body);
      if (answer === null || !answer.ok) return refusalOf("Nothing was changed", answer);
      done = `Silenced until ${timeWords(endsAtMs)}.`;
      return null;
    },
  });
  return isSent === null ? null : done;
}

/** Returns the fields of how long. */
export function lengthField(legend: string): string {
  const choices = ["1", "4", "24", "until"].map(
    (value) =>
      `<label><input type="radio" name="hours" value="${value}"${value === "4" ? " checked" : ""}>${value === "until" ? "until…" : `${value} h`}</label>`,
  );
  return `<fieldset><legend>${legend}</legend><span class="choice">${choices.join("")}</span> <span class="detail" data-until></span><input type="datetime-local" name="until" aria-label="Until" hidden></fieldset>`;
}

/** Shows what the choice means, counted from `fromMs`. */
export function drawLength(
  form: HTMLFormElement,
  fromMs = Date.now(),
): { readonly hours: string; readonly endsAtMs: number | null } {
  const data = new FormData(form);
  const hours = textOf(data, "hours");
  const endsAtMs = endOf(data, fromMs);
  const until = form.querySelector<HTMLInputElement>("[name=until]");
  const words = form.querySelector("[data-until]");
  if (until !== null) until.hidden = hours !== "until";
  if (words !== null) words.textContent = hours === "until" || endsAtMs === null ? "" : `until ${timeWords(endsAtMs)}`;
  return { hours, endsAtMs };
}

function endOf(form: FormData, fromMs: number): number | null {
  const hours = textOf(form, "hours");
  if (hours !== "until") return fromMs + Number(hours) * hourMs;
  const at = Date.parse(textOf(form, "until"));
  return Number.isNaN(at) ? null : at;
}

/** Returns an instant in the zone that the reader chose. */
export function timeWords(atMs: number): string {
  return formatTime(inZone(atMs), inZone(Date.now()));
}

/** As people call what the pattern matches. */
function nameOf(pattern: string): string {
  return literalOf(pattern) ?? pattern;
}

async function knownSlugs(): Promise<readonly string[]> {
  try {
    const response = await fetch("/places.json");
    const { places } = (await response.json()) as PlaceList;
    return places.filter(({ kind }) => kind === "organization").map(({ name }) => name);
  } catch {
    return [];
  }
}
