const saidMs = 2_000;

/** Shows the buttons that copy the text beside them; without scripts one marks it. */
export function startCopies(): void {
  showButtons();
  document.addEventListener("htmx:after:swap", showButtons);
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null;
    const text = button?.parentElement?.querySelector("code")?.textContent;
    if (button !== null && text !== undefined) void copy(button, text);
  });
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), saidMs);
}

function showButtons(): void {
  // There is no clipboard where the connection is not secure.
  if (!("clipboard" in navigator)) return;
  for (const button of document.querySelectorAll<HTMLElement>("[data-copy]")) button.hidden = false;
}
