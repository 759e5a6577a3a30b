import { escapeUnseen } from "../../../base/unseen-text.ts";
import { formatDay, formatSeconds } from "./figures.ts";
import { renderTrace, verdictMeaning, type FleetData } from "../overview/fleet.ts";
import { html, nothing, type Html } from "./html.ts";
import { renderStoreProblem } from "./store-problem.ts";
import { mark, symbols, wordmark, type RowSeverity } from "./marks.ts";

/** One page with everything around it. */
export interface PageFrame {
  readonly title: string;
  readonly current: "organizations" | "receivers" | "queue" | "config";
  readonly severity: RowSeverity;
  /** null: the page of somebody who may not read the fleet. */
  readonly fleet: FleetData | null;
  /** What is wrong with the store; null when nothing is. */
  readonly storeProblem: string | null;
  readonly deadLetters: number;
  readonly queued: number;
  readonly nowMs: number;
  readonly version: string;
  readonly footer: string;
  /** Whether writing is possible at all; the browser asks for the token then. */
  readonly hasToken: boolean;
  /** Names of the parts of `/assets/` that this page needs beside the style. */
  readonly scripts: readonly string[];
  readonly main: Html;
  /** What the scripts read at the start; JSON. */
  readonly data?: unknown;
  /** A banner that the page is part of a fleet verdict is shown on every page but the overview. */
  readonly showsVerdict: boolean;
}

const pages = [
  { key: "organizations", href: "/", name: "Organizations", short: "Organizations" },
  { key: "receivers", href: "/receivers", name: "Receivers", short: "Receivers" },
  { key: "queue", href: "/queue", name: "Review queue", short: "Review" },
  { key: "config", href: "/config", name: "Configuration", short: "Config" },
] as const;

/** The whole document. */
export function renderDocument(frame: PageFrame): string {
  const { fleet, nowMs } = frame;
  const counts = { organizations: 0, receivers: frame.deadLetters, queue: frame.queued, config: 0 };
  const titles = { organizations: "", receivers: "dead letters", queue: "waiting", config: "" };
  const nav = pages.map(({ key, href, name, short }) => {
    const count = counts[key];
    const pill =
      count === 0 ? nothing : html` <span class="pill">${count}<span class="sr"> ${titles[key]}</span></span>`;
    return html`<a href="${href}" data-page="${key}" ${key === frame.current ? html` aria-current="page"` : nothing}
      ><span class="long">${name}</span><span class="short">${short}</span>${pill}</a
    >`;
  });
  const banner =
    fleet === null || fleet.verdict === null || !frame.showsVerdict
      ? nothing
      : html`<p class="fleetline">
          ${mark("fail")} <a href="/">${fleet.spiking} of ${fleet.withResult} organizations spike at once</a>.
          ${verdictMeaning(fleet.verdict)}
        </p>`;
  const page = html`<!doctype html>
    <html lang="en" data-page="${frame.current}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${frame.title}</title>
        <link rel="stylesheet" href="/assets/page.css" />
        <link rel="icon" id="favicon" type="image/svg+xml" href="/assets/${frame.severity}.svg" />
        ${frame.scripts.map((name) => html`<script src="/assets/${name}" ${name.endsWith("uplot.js") ? html`defer` : html`type="module"`}></script>`)}
      </head>
      <body>
        ${symbols}<a class="skip" href="#main">Skip to the content</a>
        <header class="masthead">
          <a class="home" href="/" aria-label="flatline, organizations">${wordmark}<span>flatline</span></a>
          <nav class="pagesnav" aria-label="Pages">${nav}</nav>
          <p class="stream">
            <span id="stream" class="nojs">${html`Reload to refresh; as of `}</span
            ><time id="clock" datetime="${new Date(nowMs).toISOString()}"
              >${formatDay(nowMs)} ${formatSeconds(nowMs)}</time
            >
            <span class="utc">UTC</span>
          </p>
        </header>
        <div id="trace">${fleet === null ? nothing : renderTrace(fleet)}</div>
        <p class="stale" id="stale" hidden></p>
        <div id="store">${renderStoreProblem(frame.storeProblem)}</div>
        <div id="banner">${banner}</div>
        <main id="main" tabindex="-1" data-now="${nowMs}" data-token="${frame.hasToken ? "yes" : "no"}">
          ${frame.main}
        </main>
        <footer>
          <p>
            flatline ${frame.version} ·
            ${frame.footer === "" ? nothing : html`<span id="footer">${frame.footer}</span> · `}<a href="/metrics"
              >metrics</a
            >
            · <a href="/api/v1/checks">API</a
            ><span class="keyshint"> · <button type="button" class="plain" data-keys>keys</button></span>
          </p>
        </footer>
        <div class="sr" id="live" role="status" aria-live="polite"></div>
        ${frame.data === undefined ? nothing : dataBlock(frame.data)}
      </body>
    </html> `;
  return page.html;
}

/** Data for a script; no browser runs it, and nothing in it can end the element. */
function dataBlock(data: unknown): Html {
  const json = escapeUnseen(JSON.stringify(data)).replaceAll("<", String.raw`\u003c`);
  return { html: `<script type="application/json" id="data">${json}</script>` };
}

/** A page that says one thing: what is not there, or what is needed. */
export function renderMessage(title: string, text: Html): Html {
  return html`<h1 class="sentence">${title}</h1>
    <p class="why">${text}</p>`;
}
