import { part, refresh } from "./page.ts";

let opener: HTMLElement | null = null;

/** Opens the server's dialogs over the page; closes them when their act is done. */
export function startDialogs(): void {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const ask = event.target.closest<HTMLElement>("[hx-target='#dialog-place']");
    if (ask !== null) opener = ask;
    if (event.target.closest("#dialog-place [data-close]") === null) return;
    event.preventDefault();
    close();
  });
  document.addEventListener("htmx:after:swap", () => {
    const dialog = openDialog();
    // The server opens a dialog for readers without scripts; over the page it becomes modal.
    if (dialog === null || dialog.matches(":modal")) return;
    dialog.removeAttribute("open");
    dialog.showModal();
    dialog.addEventListener("close", () => finish(), { once: true });
    dialog.querySelector<HTMLElement>("input:checked, input[type=radio], input[type=text], .primary")?.focus();
  });
  // The server triggers it after an act, with percent-encoded words.
  document.addEventListener("done", (event) => {
    const did = part("did");
    const { value } = (event as CustomEvent<{ readonly value: string }>).detail;
    // A dialog that is a page leads back to the page that it belongs to.
    const back = document.querySelector<HTMLAnchorElement>("main > dialog [data-close]");
    if (back !== null) return location.assign(`${back.href}?did=${value}`);
    close();
    if (did !== null) did.textContent = decodeURIComponent(value);
    part<HTMLInputElement>("comment")?.form?.reset();
    refresh();
  });
}

function openDialog(): HTMLDialogElement | null {
  return document.querySelector<HTMLDialogElement>("#dialog-place dialog");
}

function close(): void {
  const dialog = openDialog();
  if (dialog?.open === true) dialog.close();
  else finish();
}

function finish(): void {
  part("dialog-place")?.replaceChildren();
  if (opener?.isConnected === true) opener.focus();
  opener = null;
}
