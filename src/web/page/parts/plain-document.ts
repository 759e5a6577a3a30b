import { html, type Html } from "../../parts/html.ts";
import type { RowSeverity } from "./marks.ts";

/** Renders a document of its content alone: no masthead, no script, nothing of the fleet. */
export function renderPlainDocument({
  title,
  main,
  severity = "unknown",
}: {
  readonly title: string;
  readonly main: Html;
  /** Of the icon [unknown]. */
  readonly severity?: RowSeverity;
}): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="/assets/page.css" />
        <link rel="icon" type="image/svg+xml" href="/assets/${severity}.svg" />
      </head>
      <body>
        <main id="main">${main}</main>
      </body>
    </html> `;
  return page.html;
}
