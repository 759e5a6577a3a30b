import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Locator, Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { minuteMs } from "../../../src/base/time.ts";
import { renderChart } from "../../../src/web/pages/chart/chart.ts";
import { axeViolations, startBrowser, type TestBrowser } from "../../support/browser.ts";
import { incidentChart } from "../../support/chart-samples.ts";

const data = incidentChart();
const style = readFileSync("src/web/browser/style/chart.css", "utf8");
const page = `<!doctype html><html lang="en"><title>Chart</title><link rel="stylesheet" href="/style.css">
<script type="module" src="/start.js"></script><main><h1>Incident 41</h1>${renderChart(data).html}</main></html>`;
const start = `import { startCharts } from "/chart.js"; startCharts();`;

let browser: TestBrowser;
let server: Server;
let base: string;
let shown: Page;
let cursor: Locator;

beforeAll(async () => {
  const build = await rolldown({ input: "src/web/browser/chart.ts", platform: "browser", tsconfig: false });
  const { output } = await build.generate({ format: "es" });
  await build.close();
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "/chart.js": ["text/javascript", output[0].code],
    "/start.js": ["text/javascript", start],
    "/style.css": [
      "text/css",
      `.chart { inline-size: 100%; padding-inline: 50px 176px; } .over, .plot { overflow: visible; } ${style}`,
    ],
  };
  server = createServer((request, response) => {
    const [type, text] = files[request.url ?? ""] ?? ["text/html", page];
    // As the pages' own: nothing inline runs, and no style stands in markup.
    response.setHeader(
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:",
    );
    response.setHeader("content-type", `${type}; charset=utf-8`);
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  server.close();
});
beforeEach(async () => {
  shown = await browser.open(`${base}/incidents/41?tab=x`);
  cursor = shown.getByRole("slider");
  await cursor.waitFor();
});

const words = (): Promise<string | null> => cursor.getAttribute("aria-valuetext");
const isFocused = (): Promise<boolean> => shown.evaluate(`document.activeElement?.className === "cursor"`);
const paramsOf = (): URLSearchParams => new URL(shown.url()).searchParams;

/** Where an instant of the chart is on the screen. */
async function placeOf(atMs: number): Promise<readonly [x: number, y: number]> {
  const { x, y, width } = (await cursor.boundingBox()) ?? { x: 0, y: 0, width: 0 };
  return [x + ((atMs - data.fromMs) / (data.toMs - data.fromMs)) * width + 1, y + 100];
}

describe("the cursor of a chart", () => {
  it("says the values of the instant under the pointer, and leaves with it", async () => {
    await shown.mouse.move(...(await placeOf(data.nowMs - 20 * minuteMs)));

    const found = await words();

    const count = data.count[data.at.indexOf(data.nowMs - 20 * minuteMs)]?.toLocaleString("en-US") ?? "";
    expect(found).toContain(`23\u00a0Nov 21:47: ${count} in 24 h, 3,300 expected, `);
    expect(found).toMatch(/deaths 21:45 to 21:50$/);
    expect(await shown.locator(".readout").textContent()).toBe(found);
    await shown.mouse.move(5, 5);
    await expect.poll(words).toBe("no instant");
  });

  it("goes to the part that is dragged over, until now where it ends now", async () => {
    await shown.mouse.move(...(await placeOf(data.nowMs - 40 * minuteMs)));
    await shown.mouse.down();
    await shown.mouse.move(...(await placeOf(data.nowMs - 10 * minuteMs)));
    await shown.mouse.up();

    await expect.poll(() => paramsOf().get("to")).toBe(String(data.nowMs - 10 * minuteMs));
    expect(paramsOf().get("from")).toBe(String(data.nowMs - 40 * minuteMs));
    expect(paramsOf().get("tab")).toBe("x");
  });

  it("does with keys what the pointer does: moves, selects, goes, and back", async () => {
    await shown.keyboard.press("Tab");
    while (!(await isFocused())) await shown.keyboard.press("Tab");
    expect(await words()).toContain("23\u00a0Nov 22:07: 39,301 in 24 h");
    await shown.keyboard.press("ArrowLeft");
    expect(await words()).toContain("23\u00a0Nov 22:06:");
    await shown.keyboard.press("Home");
    expect(await words()).toContain("23\u00a0Nov 20:37:");
    await shown.keyboard.press("End");
    await shown.keyboard.press("Shift+PageUp");
    await shown.keyboard.press("Shift+ArrowLeft");
    expect(await words()).toContain("23\u00a0Nov 21:56 to 22:07:");
    await shown.keyboard.press("Escape");
    expect(await words()).toContain("23\u00a0Nov 21:56:");
    await shown.keyboard.press("Shift+End");
    await shown.keyboard.press("Enter");

    await expect.poll(() => paramsOf().get("from")).toBe(String(data.nowMs - 11 * minuteMs));
    expect(paramsOf().has("to")).toBe(false);
    await shown.getByRole("slider").focus();
    await shown.keyboard.press("Escape");
    await expect.poll(() => paramsOf().toString()).toBe("tab=x");
  });

  it("stays at its instant, with the focus, when the chart is replaced", async () => {
    await cursor.focus();
    await shown.keyboard.press("End");
    await shown.keyboard.press("PageUp");
    const before = await words();

    await shown.evaluate(`(() => {
      const charted = document.querySelector(".charted");
      const next = charted.cloneNode(true);
      next.querySelector(".cursor").remove();
      charted.replaceWith(next);
      return new Promise((resolve) => setTimeout(() => resolve(document.dispatchEvent(new Event("htmx:after:swap"))), 0));
    })()`);

    expect(await words()).toBe(before);
    expect(await isFocused()).toBe(true);
  });

  it("breaks no policy, and no rule of accessibility", async () => {
    await cursor.focus();

    expect(await axeViolations(shown)).toEqual([]);
    expect(browser.complaints).toEqual([]);
  });
});
