import { formatCount } from "../../base/numbers.ts";
import type { Severity } from "../../contract/severity.ts";
import type { FrameFacts } from "../read/overview.ts";
import { siteAssets } from "../assets.ts";
import { html, nothing, renderTime, symbols, wordmark, type Html } from "./html.ts";
import { countOf } from "../../words/numbers.ts";

/** The pages in the masthead. */
export type PageKey = "organizations" | "incidents" | "silences" | "receivers" | "config";

/** The parts around every page, for one reader. */
export interface Frame {
  readonly version: string;
  readonly nowMs: number;
  /** null: the reader may not see the fleet, or the store cannot be read. */
  readonly facts: FrameFacts | null;
  /** The store's problem as a clause; null: none. */
  readonly storeProblem: string | null;
  /** The caller's name as others read it; null: none. */
  readonly reader: string | null;
  /** Only a session can sign out. */
  readonly isSession: boolean;
  readonly canSignIn: boolean;
  /** The page's version, as its ETag. */
  readonly tag: string;
  /** Path and query of this page; a sign-in leads back to it. */
  readonly here: string;
}

/** The content of one page. */
export interface PageContent {
  /** Default: 200. */
  readonly status?: number;
  readonly title: string;
  /** null: none of the pages in the masthead. */
  readonly current: PageKey | null;
  readonly main: Html;
  /** The favicon's severity; default: the fleet's worst. */
  readonly severity?: Severity;
  /** Whether the browser refreshes it; default: false. */
  readonly isLive?: boolean;
  /** Whether the frame reads nothing of the fleet; default: false. */
  readonly isPoor?: boolean;
}

/** The pages in the masthead's order, each with its count and the count's label for screen readers. */
const navPages: readonly (readonly [PageKey, href: string, name: string, ((facts: FrameFacts) => number)?, string?])[] =
  [
    ["organizations", "/", "Organizations"],
    ["incidents", "/incidents", "Incidents", (facts) => facts.openIncidents + facts.unfinished, "open or to be judged"],
    ["silences", "/silences", "Silences"],
    ["receivers", "/receivers", "Receivers", (facts) => facts.deadLetters, "not delivered"],
    ["config", "/config", "Configuration"],
  ];

const htmxConfig = JSON.stringify({ includeIndicatorCSS: false, history: "reload" });
// The browser refreshes a page this often.
const askEveryMs = 3_000;

/** A page refreshes from its own address. The ticked organizations go with it, so that their rows stay listed. */
const readsAgain = html`hx-get="" hx-include="input[name=slug]:checked" hx-trigger="refresh, ask" hx-select="#main"
hx-select-oob="#pages:outerMorph,#clock:outerMorph" hx-swap="outerMorph" hx-sync="this:replace"`;

/** Renders a whole document. */
export function renderDocument(frame: Frame, content: PageContent): string {
  const { facts, nowMs, tag } = frame;
  const { title, current, main, isLive = false } = content;
  const severity = content.severity ?? facts?.severity ?? "unknown";
  const { script } = siteAssets();
  return renderShell(title, severity, {
    head: html`<meta name="htmx-config" content="${htmxConfig}" />
      <script type="module" src="/assets/${script}"></script>`,
    masthead: html`${renderNav(current, facts)}
      <p class="live">
        <span id="lamp">as of</span>
        <span id="clock">${renderTime(nowMs, nowMs, "clock")} UTC</span>
      </p>`,
    body: html`<p class="note" id="stale" hidden></p>
      <button type="button" class="plain note" id="waiting" hidden></button>
      ${
        frame.storeProblem === null
          ? nothing
          : html`<p class="note" id="store">What is shown may be old: ${frame.storeProblem}.</p>`
      }
      <p class="did" id="did" role="status">${didText(frame.here)}</p>
      <main
        id="main"
        tabindex="-1"
        data-severity="${severity}"
        ${isLive ? html`data-version="${tag}" ${readsAgain}` : nothing}
      >
        ${main}
      </main>
      ${renderFoot(frame)}
      <div id="dialog-place"></div>
      <p class="sr" id="says" role="status" aria-live="polite"></p>`,
  });
}

/** Renders a document without masthead links, scripts or facts of the fleet. */
export function renderSheet(title: string, main: Html): string {
  const head = html`<meta name="robots" content="noindex" />`;
  return renderShell(title, "unknown", { head, masthead: nothing, body: html`<main id="main">${main}</main>` });
}

/** Renders what all documents share; `severity` is the favicon's. */
function renderShell(title: string, severity: Severity, parts: Readonly<Record<"head" | "masthead" | "body", Html>>) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="color-scheme" content="light dark" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="/assets/${siteAssets().style}" />
        <link rel="icon" id="favicon" type="image/svg+xml" href="/assets/${severity}.svg" />
        ${parts.head}
      </head>
      <body data-every="${askEveryMs}">
        ${symbols}<a class="skip" href="#main">Skip to the content</a>
        <header class="masthead">
          <a class="home" href="/" aria-label="flatline, organizations">${wordmark} flatline</a>
          ${parts.masthead}
        </header>
        ${parts.body}
      </body>
    </html> `.html;
}

// A link may show only flatline's own sentences.
const didPattern =
  /^(?:[\d,]{1,9} [a-z ]{1,30}(?:, [\d,]{1,9} (?:already|ended|judged|not|of|without) [a-z ]{1,30}){0,4}|The comment is kept|Silenced until [\w :\u00a0]{5,20}|The silence has ended|The verifier is asked|Reloaded)\.$/;

/** Returns the result of an act that left the page; empty: none. */
function didText(here: string): string {
  const did = new URL(here, "http://flatline.invalid").searchParams.get("did") ?? "";
  return didPattern.test(did) ? did : "";
}

function renderNav(current: PageKey | null, facts: FrameFacts | null): Html {
  const links = navPages.map(([key, href, name, count, counts = ""]) => {
    const number = facts === null ? 0 : (count?.(facts) ?? 0);
    const pill = html` <span class="pill">${formatCount(number)}<span class="sr"> ${counts}</span></span>`;
    return html`<li>
      <a href="${href}" ${key === current ? html` aria-current="page"` : nothing}
        >${name}${number === 0 ? nothing : pill}</a
      >
    </li>`;
  });
  return html`<nav id="pages" aria-label="Pages">
    <ul>
      ${links}
    </ul>
  </nav>`;
}

function renderFoot({ version, facts, reader, isSession, canSignIn, here }: Frame): Html {
  const signOut = html`<form method="post" action="/sign-out">
    <button class="plain">Sign out</button>
  </form>`;
  const who =
    reader !== null
      ? html`<b>${reader}</b>${isSession ? html` · ${signOut}` : nothing}`
      : canSignIn
        ? html`<a href="/sign-in?next=${encodeURIComponent(here)}">Sign in</a>`
        : nothing;
  const watched =
    facts === null
      ? ""
      : `${facts.source} · ${countOf(facts.organizations, "organization")}, ${formatCount(facts.late)} late · `;
  return html`<footer class="foot">
    <p>
      flatline ${version} · ${watched}<a href="/metrics">metrics</a> · <a href="/api/v1/checks">API</a> ·
      <a href="/docs">docs</a>
    </p>
    <div>${who}</div>
  </footer>`;
}

/** Renders a page with one message. */
export function renderMessage(title: string, text: Html): Html {
  return html`<div class="head"><h1>${title}</h1></div>
    <p class="lede">${text}</p>`;
}

interface HeadParts {
  readonly shape?: Html;
  readonly acts?: Html;
  /** Default: true. */
  readonly isOfPage?: boolean;
}

/** Renders a headline, one sentence a line, with its mark. `isOfPage`: it is the page's own. */
export function renderHead(
  sentences: readonly (Html | string)[],
  { shape = nothing, acts = nothing, isOfPage = true }: HeadParts = {},
): Html {
  const spans = html`${shape}${sentences.map((sentence) => html`<span>${sentence}</span> `)}`;
  return html`<div class="head">
    ${isOfPage ? html`<h1 id="headline">${spans}</h1>` : html`<h2 class="headline">${spans}</h2>`}
    ${acts.html === "" ? nothing : html`<div class="row">${acts}</div>`}
  </div>`;
}
