const saidMs = 2_000;
// A channel is for the worst; all are on the page.
const reportedOrganizations = 10;

/** Shows the buttons that copy the text beside them, or the report of the page; without scripts one marks it. */
export function startCopies(): void {
  showButtons();
  document.addEventListener("htmx:after:swap", showButtons);
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null;
    if (button === null) return;
    const text =
      button.dataset["copy"] === "report"
        ? reportOfPage()
        : (button.parentElement?.querySelector("code")?.textContent ?? "");
    void copy(button, text);
  });
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  const words = button.textContent;
  if (words === "Copied") return;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = words), saidMs);
}

/** The page of an incident for a channel: its headline, its answers, its first organizations and its address. */
function reportOfPage(): string {
  const say = (within: ParentNode, selector: string): string =>
    (within.querySelector<HTMLElement>(selector)?.innerText ?? "").replaceAll(/\s+/g, " ").trim();
  const answers = [...document.querySelectorAll(".asked section")].map((section) =>
    `- ${say(section, "h2")} ${say(section, ".answer")}. ${say(section, ".why")}`.trimEnd(),
  );
  const members = [...document.querySelectorAll("tr[id^=member-]")]
    .slice(0, reportedOrganizations)
    .map(
      (row) =>
        `- ${say(row, "th a")}: ${say(row, ".sev")}, ${say(row, ".count")} deaths, ${say(row, ".expected")} expected`,
    );
  return [say(document, "#headline"), answers.join("\n"), members.join("\n"), location.origin + location.pathname]
    .filter((part) => part !== "")
    .join("\n\n");
}

function showButtons(): void {
  // There is no clipboard where the connection is not secure.
  if (!("clipboard" in navigator)) return;
  for (const button of document.querySelectorAll<HTMLElement>("[data-copy]")) button.hidden = false;
}
