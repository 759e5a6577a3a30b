import { escapeUnseen } from "../../../base/unseen-text.ts";
import { formatDay, formatSeconds } from "../../parts/figures.ts";
import { renderTrace, type FleetData } from "../overview/fleet.ts";
import { verdictSentence } from "../overview/verdict.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderStoreProblem } from "./store-problem.ts";
import { renderPill, type WaitingCounts } from "./waiting.ts";
import { mark, symbols, wordmark, type RowSeverity } from "./marks.ts";

/** The pages of the masthead. */
export type PageKey = "organizations" | "alerts" | "silences" | "receivers" | "queue" | "config";

/** One page with everything around it. */
export interface PageFrame extends WaitingCounts {
  readonly title: string;
  /** null: none of the masthead's. */
  readonly current: PageKey | null;
  readonly severity: RowSeverity;
  /** null: the reader may not read the fleet. */
  readonly fleet: FleetData | null;
  /** What is wrong with the store; null when nothing is. */
  readonly storeProblem: string | null;
  readonly nowMs: number;
  readonly version: string;
  readonly footer: string;
  /** Whether writing is possible at all, for who is signed in. */
  readonly hasToken: boolean;
  /** The browser says by itself who reads: writing needs no sign-in before. */
  readonly isKnown: boolean;
  /** null: nobody is named. */
  readonly reader: { readonly name: string; readonly isSignedIn: boolean } | null;
  /** Where one signs in and comes back from; null: nobody can. */
  readonly signIn: string | null;
  /** Names of the parts of `/assets/` that this page needs beside the style. */
  readonly scripts: readonly string[];
  readonly main: Html;
  /** What the scripts read at the start; JSON. */
  readonly data?: unknown;
  /** It is read again when something changes [no]. */
  readonly isLive?: boolean;
  /** A banner that the page is part of a fleet verdict is shown on every page but the overview. */
  readonly showsVerdict: boolean;
}

/** The pages in the order of the masthead. `count`: what its number counts. */
export const pages: readonly {
  readonly key: PageKey;
  readonly href: string;
  readonly name: string;
  readonly short: string;
  readonly count?: keyof WaitingCounts;
}[] = [
  { key: "organizations", href: "/", name: "Organizations", short: "Organizations" },
  { key: "alerts", href: "/alerts", name: "Alerts", short: "Alerts", count: "unattended" },
  { key: "silences", href: "/silences", name: "Silences", short: "Silences" },
  { key: "receivers", href: "/receivers", name: "Receivers", short: "Receivers", count: "deadLetters" },
  { key: "queue", href: "/queue", name: "Review queue", short: "Review", count: "queued" },
  { key: "config", href: "/config", name: "Configuration", short: "Config" },
];

/** Renders the whole document. */
export function renderDocument(frame: PageFrame): string {
  const { fleet, nowMs } = frame;
  const nav = pages.map(({ key, href, name, short, count }) => {
    const pill =
      count === undefined ? nothing : html`<span data-count="${count}">${renderPill(count, frame[count])}</span>`;
    return html`<a href="${href}" data-page="${key}" ${key === frame.current ? html` aria-current="page"` : nothing}
      ><span class="long">${name}</span><span class="short">${short}</span>${pill}</a
    >`;
  });
  const banner =
    fleet === null || fleet.verdict === null || !frame.showsVerdict
      ? nothing
      : html`<p class="fleetline">${mark("fail")} <a href="/">${verdictSentence(fleet.verdict, fleet)}</a></p>`;
  const page = html`<!doctype html>
    <html lang="en" data-page="${frame.current ?? ""}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${frame.title}</title>
        ${frame.scripts.length === 0 ? nothing : html`<script src="/assets/web/client/theme.js"></script>`}
        <link rel="stylesheet" href="/assets/page.css" />
        <link rel="icon" id="favicon" type="image/svg+xml" href="/assets/${frame.severity}.svg" />
        ${frame.scripts.map((name) => html`<script src="/assets/${name}" ${name.endsWith("uplot.js") ? html`defer` : html`type="module"`}></script>`)}
      </head>
      <body>
        ${symbols}<a class="skip" href="#main">Skip to the content</a>
        <header class="masthead">
          <a class="home" href="/" aria-label="flatline, organizations">${wordmark}<span>flatline</span></a>
          <nav class="pagesnav" aria-label="Pages">
            ${nav}<button type="button" class="goto" data-goto>
              <span>Go to<span class="long">&hellip;</span></span> <kbd aria-hidden="true" id="goto-key">Ctrl K</kbd>
            </button>
          </nav>
          <p class="stream">
            <span id="stream" class="nojs">${html`Reload to refresh; as of `}</span
            ><time id="clock" datetime="${new Date(nowMs).toISOString()}"
              >${formatDay(nowMs)} ${formatSeconds(nowMs)}</time
            >
            <span class="utc" id="zone">UTC</span>
          </p>
        </header>
        <div id="trace">${fleet === null ? nothing : renderTrace(fleet)}</div>
        <p class="stale" id="stale" hidden></p>
        <div id="store">${renderStoreProblem(frame.storeProblem)}</div>
        <div id="banner">${banner}</div>
        <main
          id="main"
          tabindex="-1"
          data-now="${nowMs}"
          data-token="${frame.hasToken ? "yes" : "no"}"
          data-live="${frame.isLive === true ? "yes" : "no"}"
          data-known="${frame.isKnown ? "yes" : "no"}"
        >
          ${frame.main}
        </main>
        <footer>
          <p>
            flatline ${frame.version} ·
            ${frame.footer === "" ? nothing : html`<span id="footer">${frame.footer}</span> · `}<a href="/metrics"
              >metrics</a
            >
            · <a href="/api/v1/checks">API</a
            ><span class="keyshint">
              · <button type="button" class="plain" data-keys>keys</button> <kbd aria-hidden="true">?</kbd></span
            >
          </p>
          ${renderReader(frame)}
          <p class="choices keyshint">
            <span>Times ${choice("zone", "utc", "UTC")} ${choice("zone", "local", "local")}</span> ·
            <span
              >Theme ${choice("theme", "system", "system")} ${choice("theme", "light", "light")}
              ${choice("theme", "dark", "dark")}</span
            >
          </p>
        </footer>
        <div class="sr" id="live" role="status" aria-live="polite"></div>
        ${frame.data === undefined ? nothing : dataBlock(frame.data)}
      </body>
    </html> `;
  return page.html;
}

/** Who reads, with the way out; else the way in. */
function renderReader({ reader, signIn }: PageFrame): Html {
  if (reader?.isSignedIn === true)
    return html`<form class="reader" method="post" action="/sign-out">
      <b>${reader.name}</b> · <button class="plain">Sign out</button>
    </form>`;
  const name = reader === null ? nothing : html`<b>${reader.name}</b>`;
  if (signIn === null) return html`<p class="reader">${name}</p>`;
  return html`<p class="reader">${name}${reader === null ? nothing : html` · `}<a href="${signIn}">Sign in</a></p>`;
}

/** One word of a choice that the browser keeps; the scripts mark the one that holds. */
function choice(name: "zone" | "theme", value: string, word: string): Html {
  return html`<button type="button" class="plain" data-choice="${name}" value="${value}">${word}</button>`;
}

/** Data for a script; no browser runs it, and nothing in it can end the element. */
function dataBlock(data: unknown): Html {
  const json = escapeUnseen(JSON.stringify(data)).replaceAll("<", String.raw`\u003c`);
  return { html: `<script type="application/json" id="data">${json}</script>` };
}

/** Renders a page that says one thing: what is not there, or what is needed. */
export function renderMessage(title: string, text: Html): Html {
  return html`<h1 class="sentence">${title}</h1>
    <p class="why">${text}</p>`;
}
