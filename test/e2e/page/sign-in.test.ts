import { afterAll, beforeAll, expect, it } from "vitest";

import { fillSignIn, flawsAtAllWidths, startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

const token = "let-me-in";

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  browser = await startBrowser();
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly", whenNoEvents: ok }
organizations: [acme]
server: { listen: "127.0.0.1:0", token: "${token}", publicRead: false }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
});
afterAll(async () => {
  await browser.close();
  await folder.close();
});

it("fits every width, and keeps what was typed when it is refused", async () => {
  const page = await browser.open(`${url}/incidents/41`);

  expect(await flawsAtAllWidths(page)).toEqual([]);
  await page.locator("[name=name]").fill("x".repeat(64));
  await page.locator("[name=token]").fill("wrong");
  await page.keyboard.press("Enter");
  await page.locator("[name=token][aria-invalid]:focus").waitFor();
  expect(await page.locator("[name=name]").inputValue()).toBe("x".repeat(64));
  expect(await flawsAtAllWidths(page)).toEqual([]);
  // The browser itself reports the 401 that was wanted.
  browser.forgive(0);
});

it("needs no script, lasts beyond the tab when asked to, and says in the foot of the page who it is", async () => {
  const page = await browser.open(`${url}/silences`, { javaScriptEnabled: false });

  expect(await page.locator("[name=remember]").isChecked()).toBe(true);
  await fillSignIn(page, token, "dana");
  await page.waitForURL(`${url}/silences`);
  expect((await page.context().cookies()).map(({ name, expires }) => [name, expires > 0])).toEqual([
    [`flatline_session_${new URL(url).port}`, true],
  ]);
  expect(await page.locator("footer").innerText()).toContain("dana (token)");
  await page.locator("footer button", { hasText: "Sign out" }).click();
  await page.waitForURL(`${url}/sign-in`);

  await page.locator("[name=remember]").uncheck();
  await fillSignIn(page, token, "dana");
  await page.waitForURL(`${url}/`);
  expect((await page.context().cookies()).map(({ expires }) => expires)).toEqual([-1]);
  expect(browser.complaints).toEqual([]);
});
