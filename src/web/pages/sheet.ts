import { html, type Html } from "../parts/html.ts";
import { siteAssets } from "../assets.ts";
import { symbols, wordmark } from "./marks.ts";

/** Renders a document of its content alone: no pages to go to, no script, nothing of the fleet. */
export function renderSheet(title: string, main: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="color-scheme" content="light dark" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="/assets/${siteAssets().style}" />
        <link rel="icon" type="image/svg+xml" href="/assets/unknown.svg" />
      </head>
      <body>
        ${symbols}
        <header class="masthead">
          <a class="home" href="/" aria-label="flatline, organizations">${wordmark} flatline</a>
        </header>
        <main id="main">${main}</main>
      </body>
    </html> `.html;
}
