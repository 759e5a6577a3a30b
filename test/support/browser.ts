import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";

// Debian's package chromium.
const executablePath = "/usr/bin/chromium";
const { resolve } = createRequire(import.meta.url);
const axeSource = readFileSync(resolve("axe-core/axe.min.js"), "utf8");

/** A browser, and everything that its pages complained of. */
export interface TestBrowser {
  /** A page of its own context; what it says on the console is kept. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>;
  /** Errors of scripts, of the console and of the Content-Security-Policy so far. */
  readonly complaints: readonly string[];
  /** Forgets those after the first `count`: what a test brings about on purpose. */
  forgive(count: number): void;
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a real Chromium without a screen. */
async function startBrowser(): Promise<TestBrowser> {
  // As root there is no sandbox; what is shown is our own.
  const args = ["--no-sandbox", "--disable-gpu"];
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} is missing: .ci/install installs Debian's chromium`);
  const browser: Browser = await chromium.launch({ args, executablePath });
  const complaints: string[] = [];
  const contexts: BrowserContext[] = [];
  return {
    complaints,
    forgive: (count) => void complaints.splice(count),
    open: async (url, options = {}) => {
      // Where no language is set, the system's own name of it is one that Intl refuses.
      const context = await browser.newContext({
        locale: "en-US",
        viewport: { width: 1_360, height: 900 },
        ...options,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.on("pageerror", (error) => complaints.push(`${url}: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(`${url}: ${message.text()}`);
      });
      await page.goto(url);
      return page;
    },
    closePages: async () => {
      for (const context of contexts.splice(0)) await context.close();
    },
    close: () => browser.close(),
  };
}

/** One for all tests of the file; none of its pages may have complained. Pages close with their test: they refresh. */
export function useBrowser(): TestBrowser {
  const browser = {} as TestBrowser;
  beforeAll(async () => void Object.assign(browser, await startBrowser()));
  afterEach(() => browser.closePages());
  afterAll(async () => {
    await browser.close();
    expect(browser.complaints).toEqual([]);
  });
  return browser;
}

/** Fills in the form of the page that is shown, and sends it. */
export async function fillSignIn(page: Page, token: string, name = "dana"): Promise<void> {
  await page.locator("[name=token]").fill(token);
  await page.locator("[name=name]").fill(name);
  await page.locator("button.primary").click();
}

/** What axe-core finds against WCAG 2.2 AA, one line each. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which no Content-Security-Policy holds back.
  await page.evaluate(axeSource);
  const found: unknown = await page.evaluate(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ": " + html.slice(0, 160) + " " + failureSummary)))`,
  );
  return found as string[];
}

const widths = [320, 390, 720, 768, 820, 1_024, 1_100, 1_180, 1_440] as const;

// Evaluated in the page, as text: what scrolls sideways, what is cut off, and which word was broken although it had
// room. Addresses and code may break, hidden text for screen readers is cut on purpose, and a field scrolls.
const geometryFlaws = `(() => {
  const flaws = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) flaws.push("scrolls sideways: " + root.scrollWidth);
  const name = (element) => element.outerHTML.slice(0, 100);
  const unseen = new Map([[null, false]]);
  const isUnseen = (element) => {
    if (!unseen.has(element))
      unseen.set(element, isUnseen(element.parentElement) || getComputedStyle(element).clipPath.startsWith("inset(50%"));
    return unseen.get(element);
  };
  for (const element of document.body.querySelectorAll(":not(input, select)")) {
    const { overflowX, textOverflow } = getComputedStyle(element);
    const isCut = /hidden|clip/.test(overflowX) && element.scrollWidth > element.clientWidth + 1;
    if ((isCut || textOverflow === "ellipsis") && !isUnseen(element)) flaws.push("cut off: " + name(element));
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || element.closest("script, option, svg") !== null || isUnseen(element)) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.left < -0.5 || box.right > innerWidth + 0.5) flaws.push("cut off by the window: " + name(element));
    if (box.height < 24 || element.closest("code, pre, .address") !== null) continue;
    let block = element;
    for (; getComputedStyle(block).display.startsWith("inline"); block = block.parentElement);
    const room = block.clientWidth - parseFloat(getComputedStyle(block).paddingLeft) - parseFloat(getComputedStyle(block).paddingRight);
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = [...range.getClientRects()];
      const length = lines.reduce((sum, { width }) => sum + width, 0);
      if (new Set(lines.map(({ top }) => Math.round(top))).size > 1 && length < room - 40)
        flaws.push("broken: " + word + " in " + name(element));
    }
  }
  return [...new Set(flaws)];
})()`;

/** What is wrong with a page at every promised width, dark and light in turn: geometry, and axe at both ends. */
export async function flawsAtAllWidths(page: Page): Promise<string[]> {
  const flaws: string[] = [];
  for (const [index, width] of widths.entries()) {
    await page.setViewportSize({ width, height: 900 });
    // Colours that still change have no contrast yet.
    await page.emulateMedia({ colorScheme: index % 2 === 0 ? "dark" : "light", reducedMotion: "reduce" });
    const geometry = await page.evaluate<string[]>(geometryFlaws);
    // Most of the time; in between the same elements stand elsewhere.
    const isEnd = index === 0 || index === widths.length - 1;
    const found = isEnd ? [...geometry, ...(await axeViolations(page))] : geometry;
    flaws.push(...found.map((flaw) => `${width} px: ${flaw}`));
  }
  return flaws;
}

/** Returns the words of the first element that a selector finds, as a person reads them. */
export async function textAt(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().innerText()).replaceAll(/[\s\u00a0]+/g, " ").trim();
}

/** Sends a form as a browser without scripts does; what it leads to is not followed. */
export async function sendForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { ...headers, accept: "text/html", "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
    redirect: "manual",
  });
}
