import { escapeHtml } from "../parts/html.ts";

/** A question with a form. Markup is the caller's; `title`, `verb` and `cancel` are text. */
export interface DialogOptions {
  readonly title: string;
  readonly content: string;
  /** What the button does; never "OK" or "Yes". */
  readonly verb: string;
  /** [Cancel] */
  readonly cancel?: string;
  /** Beside the buttons: in whose name, and whether it can be taken back [nothing]. */
  readonly foot?: string;
  /** A class of the dialog, for its width [none]. */
  readonly kind?: string;
  /** Draws what depends on what is filled in, at the start and at each change [nothing]. */
  readonly update?: (form: HTMLFormElement, button: HTMLButtonElement) => void;
  /** Does it; answers what is wrong, or null when it is done, which closes the dialog [closes at once]. */
  readonly send?: (form: FormData, dialog: HTMLDialogElement) => Promise<Problem | null>;
}

/** Why nothing was done. `field` names the field that it is about. */
export interface Problem {
  readonly message: string;
  readonly field?: string;
}

/** Shows a dialog; what was filled in when it was sent, or null when it was closed. */
export function openDialog(options: DialogOptions): Promise<FormData | null> {
  const { title, content, verb, cancel = "Cancel", foot = "", kind = "", update, send } = options;
  const before = document.activeElement;
  const dialog = document.createElement("dialog");
  dialog.className = kind;
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.innerHTML = `<form method="dialog" novalidate><h2 id="dialog-title">${escapeHtml(title)}</h2><div class="dialog-body" id="dialog-body">${content}</div><p class="bad problem-line" role="alert"></p><div class="row"><span class="dialog-foot">${foot}</span><button type="button" value="no">${escapeHtml(cancel)}</button><button class="primary">${escapeHtml(verb)}</button></div></form>`;
  document.body.append(dialog);
  return new Promise((resolve) => {
    const form = dialog.querySelector("form");
    const button = dialog.querySelector<HTMLButtonElement>("button.primary");
    const problem = dialog.querySelector(".problem-line");
    if (form === null || button === null || problem === null) return resolve(null);
    let filled: FormData | null = null;
    let isSending = false;
    const submit = async (): Promise<void> => {
      if (isSending) return;
      isSending = true;
      button.setAttribute("aria-busy", "true");
      const data = new FormData(form);
      const found = send === undefined ? null : await send(data, dialog);
      isSending = false;
      button.removeAttribute("aria-busy");
      for (const element of form.querySelectorAll("[aria-invalid]")) element.removeAttribute("aria-invalid");
      if (found === null) {
        filled = data;
        dialog.close();
        return;
      }
      problem.textContent = found.message;
      const field = found.field === undefined ? null : form.querySelector<HTMLElement>(`[name="${found.field}"]`);
      field?.setAttribute("aria-invalid", "true");
      // Beside what it is about.
      field?.closest("label, fieldset")?.after(problem);
      field?.focus();
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void submit();
    });
    // Enter in a field of many lines begins a line, in one of one line it sends nothing where much is at stake.
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        void submit();
      } else if (target.matches("input[data-calm]")) event.preventDefault();
    });
    const redraw = (): void => update?.(form, button);
    form.addEventListener("input", redraw);
    dialog.querySelector("button[value=no]")?.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      resolve(filled);
    });
    redraw();
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-first]")?.focus();
  });
}

/** Returns a text of a form, without the space around it. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}
